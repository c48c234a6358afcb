"""Pods on nodes that do not answer, as `plan` and `explain` name them under the rules of the Go operator."""

import json
from typing import Final

import pytest

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

CASE: Final = ROOT / "tests" / "golden" / "gang_termination_field" / "gf018_a_lost_node" / "given.yaml"
OPTIONS: Final = ("--rules", "field", "--now", "2026-11-20T09:00:00Z")
REPORTED: Final = "node gpu-09 has not answered since 2026-11-20T08:59:00Z; until they are gone, these pods count as "


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words, "-f", str(CASE), *OPTIONS], "grove") == 0
    return capsys.readouterr().out


def test_gf015_plan_names_the_node_and_its_pods(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "plan")
    assert "pods of 1 PodClique on nodes that do not answer" in shown.splitlines()[0]
    assert f"LOST NODE  PodClique ml-0-decode: {REPORTED}healthy: ml-0-decode-2t7wd, ml-0-decode-w8ktp" in shown
    (plan,) = json.loads(said(capsys, "plan", "-o", "json"))["plans"]
    assert [why["requirement"] for why in plan["lostNodes"]] == ["GF-015", "GF-016", "GF-017"]


@pytest.mark.parametrize("target", ["pcs/ml", "pclq/ml-0-decode", "pod/ml-0-decode-2t7wd"])
def test_gf015_explain_names_them(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert REPORTED in said(capsys, "explain", target)


@pytest.mark.parametrize(("until", "created"), [("3m59s", []), ("4m", ["Pod", "Pod"])])
def test_gf018_new_pods_come_at_the_eviction(
    until: str, created: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (plan,) = json.loads(said(capsys, "plan", "--until", until, "-o", "json"))["plans"]
    made = [
        (round_["at"], step["target"]["kind"])
        for round_ in plan["rounds"]
        for step in round_["steps"]
        if step["action"] == "create"
    ]
    assert made == [("2026-11-20T09:04:00Z", kind) for kind in created]
