"""A plan of a cluster that is asked: pods without their label are there, and what is illegal is not carried out."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.areas.gang_termination.rulesets import RuleSet
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Delete
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.keys import MANAGED_BY, SET
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.apply import ApplyOptions, apply
from grove_shell.cli.main import run
from grove_shell.client.kinds import KINDS
from tests.operator.listing import ListingServer

Json = dict[str, Any]
DEGRADED: Final = Path(__file__).parent.parent.parent / "examples/degraded.yaml"
NOW: Final = "2026-11-20T09:00:00Z"
PODS: Final = "/api/v1/namespaces/inference/pods?"


@pytest.fixture
def server() -> Iterator[ListingServer]:
    with ListingServer(yaml.load(DEGRADED.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]) as running:
        yield running


def planned(server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Json:
    asked = ["plan", "--live", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--now", NOW, "-o", "json"]
    assert run([*asked, *options], "grove") == 0
    found: Json = json.loads(capsys.readouterr().out)
    return found


def lose_labels(server: ListingServer, *keys: str) -> None:
    for item in server.items:
        if item["kind"] == "Pod":
            item["metadata"]["labels"] = {
                key: text for key, text in item["metadata"]["labels"].items() if key not in keys
            }


@pytest.mark.parametrize("keys", [(MANAGED_BY,), (MANAGED_BY, *SET)], ids=["managed-by", "both"])
@pytest.mark.parametrize("options", [(), ("-A",), ("--until", "12h")], ids=" ".join)
def test_op053_pods_without_their_label_are_there(
    keys: tuple[str, ...],
    options: tuple[str, ...],
    server: ListingServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = planned(server, tmp_path, capsys, *options)
    lose_labels(server, *keys)
    stranger = {"kind": "Pod", "metadata": {"name": "s", "namespace": "inference", "uid": "s"}, "spec": {}}
    server.items.append(stranger)
    assert planned(server, tmp_path, capsys, *options) == before


def test_op053_nothing_is_asked_twice_where_all_pods_are_ready(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.items = [item for item in server.items if item["metadata"]["name"].startswith("gemma")]
    planned(server, tmp_path, capsys)
    assert [one for one in server.asked if one.startswith(PODS)] == [PODS + KINDS["Pod"].selector]


def saved(server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> ApplyOptions:
    """A plan that was reviewed, and ends gangs."""
    path = tmp_path / "plan.json"
    found = planned(server, tmp_path, capsys, "--out", str(path))
    steps = [step for plan in found["plans"] for step in plan["rounds"][0]["steps"]]
    assert any(step["action"] == "delete" for step in steps)
    return ApplyOptions(path=str(path), kubeconfig=str(tmp_path / "kubeconfig"))


@pytest.mark.req("OP-052")
def test_op053_a_gang_that_serves_without_labels_is_not_ended(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Since the review all its pods became ready, and lost their labels."""
    options = saved(server, tmp_path, capsys)
    for item in server.items:
        if item["kind"] == "Pod":
            item["status"] |= {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    lose_labels(server, MANAGED_BY)
    assert apply(options) == 4
    assert "was Delete" in capsys.readouterr().err
    assert server.writes == []


def test_op054_what_breaks_a_law_is_told_and_not_begun(
    server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A planner that aims its deletions at what is not there any more."""
    aimed: list[str] = []

    def decide(snapshot: Snapshot, rules: RuleSet) -> Plan:
        plan = reconcile(snapshot, rules)
        aimed.extend(step.target.short for step in plan.steps if isinstance(step.action, Delete))
        steps = (
            replace(step, action=replace(step.action, guard=Guard("of last year", "1")))
            if isinstance(step.action, Delete)
            else step
            for step in plan.steps
        )
        return replace(plan, steps=tuple(steps))

    options = saved(server, tmp_path, capsys)
    assert apply(options, decide) == 1
    said = capsys.readouterr().err
    assert "a plan made now breaks laws of planning" in said
    assert aimed
    assert [name for name in aimed if f"{name}: expected" not in said] == []
    assert server.writes == []
