"""The JSON Schema of the plan format: real plans keep to it, and it says no to what is none."""

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from docs.generator.plan_format import SCHEMA_NAME, schema
from grove_core.document.plan_document import ACTIONS, FORMAT_VERSION
from grove_core.kernel.steps import StepStage
from grove_shell.cli.main import run_command_line
from tests.docs.site import ROOT
from tests.golden.test_golden import CASES, arguments, name_of, read

NOW: Final = ("--now", "2026-11-20T09:00:00Z")
REAL: Final = ("-f", "examples/real-cluster.yaml", "--now", "2026-11-21T09:40:15Z")
FULL: Final = "tests/snapshots/s9a-termination-without-capacity.yaml"
PLANS: Final = {
    "degraded": ("-f", "examples/degraded.yaml", *NOW, "--until", "6h", "--decisions"),
    "field": (*REAL, "--rules", "field", "--until", "2m", "--decisions"),
    "round and round": ("-f", FULL, "--now", "2026-11-21T10:00:00Z", "--rules", "field", "--until", "24h"),
    "edit": (*REAL, "-f", "examples/edits/qwen-new-image.yaml", "--decisions"),
    "manifest": ("-f", "examples/manifests/disaggregated.yaml", *NOW, "--rounds", "2"),
    "domains": ("-f", "examples/mnnvl/llama.yaml", "--config", "examples/mnnvl/operator.yaml", *NOW),
    "topologies": ("-f", "examples/topology/clouds/chat.yaml", "--config", "examples/topology/operator.yaml", *NOW),
}
GOLDEN: Final = CASES[::6]
VALIDATOR: Final = Draft202012Validator(schema())


def plan_of(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert run_command_line([*words, "-o", "json"], "grove") == 0
    return json.loads(capsys.readouterr().out)


def test_the_schema_is_one_and_of_the_present_format() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema()["properties"]["formatVersion"]["const"] == FORMAT_VERSION
    assert f"plan-{FORMAT_VERSION}.schema.json" == SCHEMA_NAME


def test_the_schema_has_the_words_of_the_code() -> None:
    parts = schema()["$defs"]
    assert list(parts["Summary"]["properties"]) == [*ACTIONS, "withheld", "terminations"]
    assert parts["Stage"]["enum"] == [stage.name for stage in StepStage]


@pytest.mark.parametrize("words", PLANS.values(), ids=PLANS)
def test_cl011_a_real_plan_keeps_to_it(
    words: Sequence[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    VALIDATOR.validate(plan_of(["plan", *words], capsys))


@pytest.mark.parametrize("folder", GOLDEN, ids=name_of)
def test_cl011_golden_plans_keep_to_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    VALIDATOR.validate(plan_of([*arguments(read(folder / "case.yaml")), "--decisions"], capsys))


def test_there_is_a_plan_that_goes_round_in_circles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert any("again" in plan for plan in plan_of(["plan", *PLANS["round and round"]], capsys)["plans"])


def broken(good: Any) -> Iterator[Any]:
    """The plan with one thing wrong with it, each time another one."""
    for where, what in (("uid", None), ("unheard", True), ("guard", "none"), ("because", []), ("asOf", "yesterday")):
        bad = copy.deepcopy(good)
        plan = bad["plans"][0]
        round_ = plan["rounds"][0]
        places = {"uid": plan["root"], "unheard": round_, "guard": round_["steps"][0], "because": round_["steps"][0]}
        places.get(where, bad)[where] = what
        yield bad


def test_what_is_no_plan_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    good = plan_of(["plan", *PLANS["degraded"]], capsys)
    assert VALIDATOR.is_valid(good)
    assert [bad for bad in broken(good) if VALIDATOR.is_valid(bad)] == []
