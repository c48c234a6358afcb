"""`grove policy test`: examples, with what they must show (PO-005, CL-062)."""

import json
from pathlib import Path
from typing import Any

import pytest

from grove_shell.cli.main import run_command_line
from tests.policies.policy_files import one_rule, policy_object, written
from tests.policies.test_ready_policies import ROOT

RULE = one_rule("set.restarted.gpus <= 64", message="too many")
ALLOWED = {"name": "few", "given": {"set": {"restarted": {"gpus": 64}}}}
VIOLATED = {"name": "many", "given": {"set": {"restarted": {"gpus": 65}}}, "violates": ["one"]}
UNDECIDED = {"name": "unknown", "given": {"set": {"unknown": True}}, "undecided": ["one"]}


def page_of(folder: Path, capsys: pytest.CaptureFixture[str], *tests: Any, code: int, **spec: Any) -> list[str]:
    path = written(folder, policy_object(RULE, tests=tests, **spec))
    assert run_command_line(["policy", "test", path], "grove") == code
    return capsys.readouterr().out.splitlines()


@pytest.mark.req("CL-062")
def test_po005_every_example_is_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert page_of(tmp_path, capsys, ALLOWED, VIOLATED, UNDECIDED, code=0)[1:] == [
        "  ok       few: allowed",
        "  ok       many: violates one",
        "  ok       unknown: cannot be evaluated: one",
        "3 examples, 0 failed; 0 rules not shown",
    ]


@pytest.mark.parametrize(
    ("example", "shown"),
    [
        (
            {**VIOLATED, "violates": []},
            ["  FAILED   many: violates one", "           expected: allowed", "           one: too many"],
        ),
        ({**ALLOWED, "violates": ["one"]}, ["  FAILED   few: allowed", "           expected: violates one"]),
    ],
)
def test_po005_an_example_that_is_not_as_expected(
    example: Any, shown: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = ({**ALLOWED, "name": "other"}, {**VIOLATED, "name": "another"})
    page = page_of(tmp_path, capsys, example, *others, code=3)
    assert page[1 : 1 + len(shown)] == shown
    assert page[-1] == "3 examples, 1 failed; 0 rules not shown"


def test_po005_what_cannot_be_evaluated_shows_no_violation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    misspelt = {"name": "misspelt", "given": {"set": {"restarted": {"gpu": 65}}}, "violates": ["one"]}
    page = page_of(tmp_path, capsys, ALLOWED, misspelt, code=3)
    assert page[2:] == [
        "  FAILED   misspelt: cannot be evaluated: one",
        "           expected: violates one",
        '           one: cannot be evaluated: Key not found in map : "gpus"',
        "  MISSING  no example shows rule one violated",
        "2 examples, 1 failed; 1 rule not shown",
    ]


def test_po005_a_rule_that_no_example_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert page_of(tmp_path, capsys, ALLOWED, code=3)[-2:] == [
        "  MISSING  no example shows rule one violated",
        "1 example, 0 failed; 1 rule not shown",
    ]
    assert page_of(tmp_path, capsys, code=3)[-3:] == [
        "  MISSING  no example shows rule one violated",
        "  MISSING  no example shows rule one holding",
        "0 examples, 0 failed; 1 rule not shown",
    ]


def test_po005_an_example_that_the_policy_does_not_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    condition = [{"name": "never", "expression": "false"}]
    page = page_of(tmp_path, capsys, VIOLATED, code=3, matchConditions=condition)
    assert page[1:4] == [
        "  FAILED   many: allowed",
        "           expected: violates one",
        "           the match conditions are not met",
    ]


def test_po005_an_example_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("real-cluster.yaml", "edits/qwen-new-image.yaml"):
        (tmp_path / Path(name).name).write_text((ROOT / "examples" / name).read_text("utf-8"), encoding="utf-8")
    given = {"files": ["real-cluster.yaml"], "now": "2026-11-21T09:40:15Z", "rules": "design"}
    edited = {**given, "files": ["real-cluster.yaml", "qwen-new-image.yaml"]}
    examples = [
        {"name": "no edit", "given": given},
        {"name": "an edit", "given": edited, "violates": ["one"]},
    ]
    rule = one_rule("plan.restarted.gpus < 12")
    path = written(tmp_path, policy_object(rule, tests=examples, forEach="plan"))
    assert run_command_line(["policy", "test", path, "-o", "json"], "grove") == 0
    (shown,) = json.loads(capsys.readouterr().out)["policies"]
    assert [(one["name"], one["violated"]) for one in shown["examples"]] == [("no edit", []), ("an edit", ["one"])]


@pytest.mark.req("PO-001")
def test_cl062_problems_of_the_files_of_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"files": ["nosuch.yaml"], "now": "2026-11-21T09:40:15Z"}
    path = written(tmp_path, policy_object(RULE, tests=[{"name": "x", "given": given}]))
    assert run_command_line(["policy", "test", path], "grove") == 1
    assert "nosuch.yaml: no such file" in capsys.readouterr().err
