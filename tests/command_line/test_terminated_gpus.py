"""Totals of terminations: the summary of a JSON plan, and the check of `--max-terminated-gpus`."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

PLAN: Final = ("plan", "-f", str(ROOT / "examples/degraded.yaml"), "--now", "2026-11-20T09:00:00Z")


def summary(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    run_command_line([*PLAN, *words, "-o", "json"], "grove")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["summary"]["terminations"]
    return found


@pytest.mark.req("CL-087")
def test_cl087_the_summary_agrees_with_the_headline(capsys: pytest.CaptureFixture[str]) -> None:
    now = summary(capsys)
    assert (now["replicas"], now["pods"], now["readyPods"], now["gpus"]) == (2, 12, 6, 11)
    assert (now["waiting"], now["firstDeadline"]) == (1, "2026-11-20T10:15:00Z")
    later = summary(capsys, "--until", "24h")
    assert (later["replicas"], later["pods"], later["gpus"]) == (3, 16, 14)


@pytest.mark.req("CL-087")
def test_cl087_a_scaling_group_and_its_replica_wait_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Under `field` a scaling group has a verdict of its own besides those of its replicas."""
    assert run_command_line(["plan", "-f", str(ROOT / "examples/real-cluster.yaml"), "-o", "json"], "grove") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["terminations"]["waiting"] == 2


@pytest.mark.req("CL-088")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("inference/qwen", "--until", "24h", "--max-terminated-gpus", "3"), 0, ""),
        (
            ("inference/qwen", "--until", "24h", "--max-terminated-gpus", "2"),
            3,
            "pods with 3 GPUs are terminated, and 2 may",
        ),
        (("inference/qwen", "--max-terminated-gpus", "0"), 0, ""),
    ],
)
def test_cl088_a_check_of_terminated_gpus(
    words: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*PLAN, *words], "grove") == code
    said = capsys.readouterr().err
    assert said == (f"failed by --max-terminated-gpus: {message}\n" if message else "")


def test_cl088_what_is_unknown_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = yaml.load((ROOT / "examples/degraded.yaml").read_text("utf-8"), yaml.CSafeLoader)["items"]
    rest = [one for one in items if one["kind"] not in {"Pod", "PodClique"}]
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": rest}), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(path), *PLAN[3:], "--max-terminated-gpus", "1000"], "grove") == 3
    assert "failed by --max-terminated-gpus: what is terminated is unknown\n" in capsys.readouterr().err
