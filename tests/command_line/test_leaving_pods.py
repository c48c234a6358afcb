"""Pods that are being deleted, as `plan`, `explain` and `tree` count them (GT-113, GT-114)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

CASE: Final = ROOT / "tests" / "golden" / "gang_termination" / "gt113_a_drain" / "given.yaml"
NOW: Final = ("--now", "2026-11-20T09:00:00Z")
LEAVING: Final = (
    "LEAVING    PodClique ml-0-decode: pods being deleted: 1, gone by 2026-11-20T09:00:20Z; without them it is breached"
    ", unless others are in their place\n               1 ready, at least 2 needed\n"
)
THEN: Final = "THEN       13:00:20Z (in 4h0m20s), if none of its pods is placed until then"


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run_command_line([*words, *NOW], "grove") == code
    return capsys.readouterr().out


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[Callable[[list[Any]], object]], str]:
    """The input with a change of its objects, as a file."""

    def write(change: Callable[[list[Any]], object]) -> str:
        items = [one for one in yaml.safe_load_all(CASE.read_text(encoding="utf-8")) if one]
        items = [item for one in items for item in one.get("items", [one])]
        change(items)
        path = tmp_path / "given.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
        return str(path)

    return write


def of_deleted_pod(items: list[Any]) -> Any:
    (pod,) = (one for one in items if one["kind"] == "Pod" and "deletionTimestamp" in one["metadata"])
    return pod


def test_gt113_the_first_line_and_the_set_say_that_pods_leave(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "plan", "-f", str(CASE))
    assert "; 1 PodClique breached once pods being deleted are gone" in shown.splitlines()[0]
    assert LEAVING in shown


def test_gt114_the_termination_that_follows_fails_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert THEN in said(capsys, "plan", "-f", str(CASE), "--until", "5h", "--fail-on", "terminate", code=3)


@pytest.mark.parametrize("taint", ["node.kubernetes.io/unreachable", ""])
def test_gt114_a_pod_of_a_node_that_does_not_answer_stays(
    taint: str, capsys: pytest.CaptureFixture[str], changed: Callable[..., str]
) -> None:
    def add_node(items: list[Any]) -> None:
        node = of_deleted_pod(items)["spec"]["nodeName"]
        status = {"conditions": [{"type": "Ready", "status": "True"}]}
        taints = [{"key": taint, "effect": "NoExecute"}] if taint else []
        metadata, spec = {"name": node}, {"taints": taints}
        items.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status})

    shown = said(capsys, "plan", "-f", changed(add_node), "--until", "5h")
    assert (LEAVING in shown) == (THEN in shown) == (not taint)


def test_gt114_a_pod_that_is_long_overdue_may_leave_at_any_time(
    capsys: pytest.CaptureFixture[str], changed: Callable[..., str]
) -> None:
    def overdue(items: list[Any]) -> None:
        of_deleted_pod(items)["metadata"]["deletionTimestamp"] = "2026-11-20T08:58:59Z"

    shown = said(capsys, "plan", "-f", changed(overdue), "--until", "5h")
    assert "pods being deleted: 1, gone at any time; without them it is breached" in shown
    assert "THEN" not in shown


def test_gt113_explain_and_tree_count_the_same_pods_as_ready(capsys: pytest.CaptureFixture[str]) -> None:
    explained = said(capsys, "explain", "-f", str(CASE), "pclq/ml-0-decode")
    assert "  ml-0-decode: 1 of 2 pods ready, at least 2 needed; 1 pod being deleted\n" in explained
    assert "ml-0-decode-vb9s7: ready, terminating, on gpu-04" in explained
    assert "1 of 2 ready, 2 needed" in said(capsys, "tree", "-f", str(CASE))
