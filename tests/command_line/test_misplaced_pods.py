"""Pods outside the domain of a required topology constraint, as `plan` and `explain` name them."""

import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

CASE: Final = ROOT / "tests" / "golden" / "topology" / "tp131_pods_in_two_racks" / "given.yaml"
NOW: Final = ("--now", "2026-11-20T09:00:00Z")
REPORTED: Final = "its pods have to share one value of topology.k8s.aws/network-node-layer-2: 2 pods in nn-1; "


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words, *NOW], "grove") == 0
    return capsys.readouterr().out


def test_tp131_plan_names_them_and_does_not_call_it_well(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "plan", "-f", str(CASE))
    assert "pods of 1 gang outside their required topology domain" in shown.splitlines()[0]
    assert f"MISPLACED  PodClique train-0-worker: {REPORTED}train-0-worker-x9bdl in nn-2" in shown
    (plan,) = (
        one for one in json.loads(said(capsys, "plan", "-f", str(CASE), "-o", "json"))["plans"] if "misplaced" in one
    )
    assert [why["requirement"] for why in plan["misplaced"]] == ["TP-131"]


@pytest.mark.parametrize("target", ["pcs/train", "pclq/train-0-worker", "pod/train-0-worker-x9bdl", "podgang/train-0"])
def test_tp131_explain_names_them(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert REPORTED in said(capsys, "explain", target, "-f", str(CASE))


def test_tp131_one_unknown_node_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = yaml.load(CASE.read_text("utf-8"), yaml.CSafeLoader)["items"]
    nodes = [one for one in items if one["kind"] == "Node"]
    rest = [one for one in items if one is not nodes[0]]
    (tmp_path / "fewer.yaml").write_text(yaml.safe_dump_all(rest), encoding="utf-8")
    shown = said(capsys, "plan", "-f", str(tmp_path / "fewer.yaml"))
    assert "  not every Node of their pods is in the input (kubectl get nodes -o json)" in shown.splitlines()


def test_tp131_without_nodes_nothing_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [one for one in yaml.load(CASE.read_text("utf-8"), yaml.CSafeLoader)["items"] if one["kind"] != "Node"]
    (tmp_path / "nodeless.yaml").write_text(yaml.safe_dump_all(items), encoding="utf-8")
    shown = said(capsys, "plan", "-f", str(tmp_path / "nodeless.yaml"))
    assert "note: it is unknown whether the required topology constraints of ml/train are kept:" in shown.splitlines()
    assert "MISPLACED" not in shown
    assert "is not known:" not in said(capsys, "plan", "-f", str(CASE))
