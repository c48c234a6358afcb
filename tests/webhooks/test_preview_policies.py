"""Policies in the preview of updates: what refuses, what warns, and what cannot be evaluated (WH-048)."""

from pathlib import Path

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.policies.policy_files import one_rule, policy_object
from tests.webhooks.preview_server import PreviewServer
from tests.webhooks.previewing import EDITED, OBJECTS, answered, request, stored, warnings, with_image
from tests.webhooks.reviews import Json

TOO_MANY = policy_object(
    one_rule("set.restarted.gpus <= 3", messageExpression='"pods with %d GPUs restart".format([set.restarted.gpus])'),
    name="few",
)


def response_to(*policies: Json, edited: Json | None = None) -> Json:
    asked = request(with_image(*EDITED) if edited is None else edited)
    return answered(asked, PreviewServer(OBJECTS), policies=list(policies))


def test_wh048_a_rule_that_denies_refuses_the_update() -> None:
    refused = response_to(TOO_MANY)
    assert not refused["allowed"]
    assert refused["status"]["message"].startswith("policy few/one: pods with ")
    assert refused["status"]["message"].endswith(" GPUs restart")
    assert any("restarts" in one for one in refused["warnings"])


def test_wh048_a_rule_that_holds_says_nothing() -> None:
    held = policy_object(one_rule("set.restarted.gpus <= 3000"))
    assert not [one for one in warnings(response_to(held)) if "policy" in one]


def test_wh048_a_rule_that_warns_is_a_warning() -> None:
    warns = policy_object(one_rule("false", message="think of it", action="Warn"), name="thoughtful")
    assert "policy thoughtful/one: think of it" in warnings(response_to(warns))


def test_wh048_a_rule_that_cannot_be_evaluated_refuses_nothing() -> None:
    asks = policy_object(one_rule("set.annotations.owner == 'a'"), name="owned")
    (said,) = [one for one in warnings(response_to(asks)) if "policy" in one]
    assert said.startswith("policy owned/one: cannot be evaluated: ")


def test_wh048_the_plan_is_the_update_of_this_set_alone() -> None:
    counts = policy_object(one_rule("plan.sets.size() == 1 && plan.sets[0].name == 'qwen'"), forEach="plan")
    assert not [one for one in warnings(response_to(counts)) if "policy" in one]


def test_wh048_the_spec_is_that_of_the_edit() -> None:
    edited = stored()
    edited["spec"]["template"]["terminationDelay"] = "20m"
    least = policy_object(one_rule('duration(set.spec.template.terminationDelay) == duration("20m")'))
    assert not [one for one in warnings(response_to(least, edited=edited)) if "policy" in one]


def test_wh048_all_problems_of_policies_stop_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [policy_object(one_rule("set.restartd.gpus < 1"), name="a"), policy_object(one_rule("1 +"), name="b")]
    kind = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "WebhookConfiguration"}
    file = tmp_path / "webhooks.yaml"
    file.write_text(yaml.safe_dump({**kind, "preview": {"policies": wrong}}), encoding="utf-8")
    assert run_command_line(["webhooks", "--only", "preview", "--config", str(file)], "grove") == 1
    problems = capsys.readouterr().err
    assert (
        'PlanPolicy a, spec.rules[0].expression 1:5: set has no field "restartd"; did you mean restarted?' in problems
    )
    assert "PlanPolicy b, spec.rules[0].expression" in problems
