"""``grove explain`` beside ``grove plan``: an edit, an averted termination, another replica (CL-125 to CL-127)."""

import json
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

REAL: Final = ("-f", str(ROOT / "examples/real-cluster.yaml"), "--now", "2026-11-21T09:40:15Z")
EDIT: Final = (*REAL, "-f", str(ROOT / "examples/edits/qwen-new-image.yaml"))
POD: Final = "qwen-1-worker-nxfng"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words], "grove") == 0
    return capsys.readouterr().out


def explained(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return printed(capsys, "explain", *words).splitlines()


@pytest.mark.req("CL-125", "CL-126")
class TestOfAnEdit:
    """The edit begins an update, which averts a termination and deletes the pod."""

    def test_the_pod_is_kept_and_deleted_as_in_the_plan(self, capsys: pytest.CaptureFixture[str]) -> None:
        prevented = "it would be terminated at 09:40:29Z (in 14s); the steps "
        plan = printed(capsys, "plan", *EDIT, "llm-serving/qwen")
        assert f"replica 1: {prevented}below prevent that" in plan
        lines = explained(capsys, *EDIT, f"pod/{POD}")
        place = lines.index("  termination: Keep  PodCliqueSet/qwen[1], after the steps of the plan")
        assert lines[place + 1] == f"    {prevented}of the plan prevent that"
        assert f"  restart in stage 1: {POD}" in lines
        assert not [line for line in lines if "stops it" in line or "reconciled again" in line]

    def test_in_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        (answer,) = json.loads(printed(capsys, "explain", *EDIT, "pclq/qwen-1-worker", "-o", "json"))["answers"]
        found: dict[str, Any] = answer
        assert [one["until"] for one in found["averted"]] == ["2026-11-21T09:40:29Z"]
        stages = [(one["stage"], one["fate"]) for one in found["deletedByUpdate"]]
        assert stages == [(1, "Restarted")] * 2 + [(2, "Restarted")] * 2
        rounds = [(one["round"], one["action"]) for one in found["laterSteps"]]
        assert rounds == [(2, "delete"), (2, "delete"), (3, "create"), (3, "create")]
        assert "hints" not in found

    def test_why_it_is_not_terminated(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = explained(capsys, *EDIT, "pcs/qwen", "--why-not", "terminate")
        assert "  PodCliqueSet/qwen[1]: termination Keep, after the steps of the plan" in lines


def test_cl127_a_healthy_replica_beside_one_that_waits(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, *REAL, "podgang/deepseek-0-prefill-0")
    group = "PodCliqueScalingGroup/deepseek-0-prefill"
    assert [line for line in lines if line.startswith("  termination: ")] == [
        f"  termination: Keep  {group}[1]",
        f"  termination: Wait  {group}, only for other replicas of it",
        "  termination: Keep  PodCliqueSet/deepseek[0]",
    ]
