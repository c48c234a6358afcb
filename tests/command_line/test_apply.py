"""A file that is not a saved plan is reported before any request to a cluster."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line

DEGRADED: Final = str(Path(__file__).parent.parent.parent / "examples/degraded.yaml")
Json = dict[str, Any]


@pytest.fixture
def reviewed(capsys: pytest.CaptureFixture[str]) -> Json:
    assert run_command_line(["plan", "-f", DEGRADED, "--now", "2026-11-20T09:00:00Z", "-o", "json"], "grove") == 0
    document: Json = json.loads(capsys.readouterr().out)
    return document


def said_of(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    assert run_command_line(["apply", str(path), "--kubeconfig", str(tmp_path / "none")], "grove") == 1
    return capsys.readouterr().err


def test_cl005_every_reason_why_a_plan_cannot_be_carried_out_is_reported(
    reviewed: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *_ = reviewed["plans"]
    broken = {**reviewed, "rules": "of mine", "plans": [first, first]}
    said = said_of(json.dumps(broken), tmp_path, capsys).splitlines()
    assert [line.partition(": ")[2].partition(": ")[0] for line in said] == [
        "rules",
        "plans[1].root",
    ]


@pytest.mark.parametrize("part", ["root", "rules", "rounds", "no round"])
def test_cl005_a_plan_of_another_shape_is_one_report(
    part: str, reviewed: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = reviewed["plans"][0]
    changed = {
        "root": {**reviewed, "plans": [{**plan, "root": {**plan["root"], "uid": 5}}]},
        "rules": {**reviewed, "rules": ["design"]},
        "rounds": {**reviewed, "plans": [{**plan, "rounds": 5}]},
        "no round": {**reviewed, "plans": [{**plan, "rounds": []}]},
    }
    assert "expected a whole plan" in said_of(json.dumps(changed[part]), tmp_path, capsys)


def test_cl005_json_without_an_end_is_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "recursion" in said_of("[" * 200_000, tmp_path, capsys)


def test_cl005_a_sound_plan_gets_as_far_as_the_cluster(
    reviewed: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "try --kubeconfig" in said_of(json.dumps(reviewed), tmp_path, capsys)


@pytest.mark.req("IN-030")
@pytest.mark.parametrize("text", ['{"formatVersion":"\\u0000"}', '{"formatVersion":"1.","rules":"","asOf":"\\u2028"}'])
def test_cl005_what_no_terminal_can_show_is_escaped(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_of(text, tmp_path, capsys)
    assert all(line.isprintable() for line in said.split("\n"))


def test_cl005_a_plan_nested_too_deep_is_one_report(
    reviewed: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [step for plan in reviewed["plans"] for step in plan["rounds"][0]["steps"] if step["object"]]
    steps[0]["object"]["deep"] = "DEEP"
    text = json.dumps(reviewed).replace('"DEEP"', "[" * 700 + "]" * 700)
    assert "an object of more than 256 levels" in said_of(text, tmp_path, capsys)


@pytest.mark.req("PL-003")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"facts": {}}, ", whose facts are "),
        ({"facts": {"since": ["x"], "until": "y"}}, ", whose facts are "),
        (None, "what has no reason (PL-003)"),
    ],
)
def test_cl005_a_step_whose_reason_cannot_be_said_is_reported(
    change: Json | None, words: str, reviewed: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [step for plan in reviewed["plans"] for step in plan["rounds"][0]["steps"]]
    step = next(step for step in steps if step["because"][0]["facts"])
    step["because"] = [] if change is None else [{**step["because"][0], **change}]
    assert words in said_of(json.dumps(reviewed), tmp_path, capsys)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000], ids=["empty", "cut", "deep"])
def test_cl005_what_is_no_json_is_no_plan(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "plan.json: expected a plan that `grove plan --out` wrote, got no JSON" in said_of(text, tmp_path, capsys)
