"""Withheld writes to a topology: the Event, and ``/readyz``."""

import asyncio
import io
import json
from typing import Final

import aiohttp
import pytest

from grove_core.kernel.structs import replace
from grove_core.reconcile_topology import reconcile_topology
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.cache.root_keys import topology_cache_key
from grove_shell.operator.event_recorder import kubernetes_events_of_plan
from grove_shell.operator.health_server import HealthServer
from grove_shell.operator.json_log import OperatorJsonLog, WithheldTopologyWrites
from grove_shell.operator.metrics import OperatorMetrics
from tests.property.topology.snapshots_of_topologies import a_topology, topology_snapshot

NOTE: Final = "ClusterTopology/grove-topology: its levels are not changed while pods are placed by them: ml/llm"


def look(users: str, *, fits: bool) -> PlannedReconcileRound:
    seen = topology_snapshot(a_topology("grove-topology", held=users != "none", fits=fits), users)
    plan = reconcile_topology(seen)
    return PlannedReconcileRound(
        root_key=topology_cache_key("grove-topology"),
        plan_name="a plan",
        observation=seen,
        plan=plan,
        planning_seconds=0.01,
    )


@pytest.mark.req("TP-052")
def test_tp047_an_event_about_the_topology_says_what_is_held_back() -> None:
    held = look("placed", fits=False)
    (reported,) = kubernetes_events_of_plan(held.plan)
    assert (reported.about, reported.reason, reported.action) == (held.plan.root, "DefaultInUse", "Keep")
    assert reported.note == NOTE
    assert not list(kubernetes_events_of_plan(look("placed", fits=True).plan))


def test_tp047_readiness_is_reported_while_it_stands() -> None:
    there = {topology_cache_key("grove-topology")}
    standing = WithheldTopologyWrites(there.__contains__)
    serving = HealthServer(
        host="127.0.0.1", port=0, missing=list, metrics=bytes, notes=lambda: standing.readiness_notes
    )

    async def asked() -> list[str]:
        texts = []
        async with serving as port, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            for seen in (look("placed", fits=False), look("waiting", fits=False)):
                standing.on_round_planned(seen)
                async with session.get("/readyz") as answer:
                    assert answer.status == 200
                    texts.append(await answer.text())
        return texts

    assert asyncio.run(asked()) == [f"ok\n{NOTE}\n", "ok\n"]
    standing.on_round_planned(look("placed", fits=False))
    assert list(standing.readiness_notes) == [NOTE]
    there.clear()
    assert not list(standing.readiness_notes), "it is gone"


def test_what_is_held_back_for_two_reasons_is_said_once() -> None:
    out, first = io.StringIO(), look("placed", fits=False)
    (held,) = first.plan.withheld
    other = replace(held, because=held.because[1:])
    both = replace(first, plan=replace(first.plan, withheld=(held, other)))
    journal = OperatorJsonLog(out)
    for each in (both, both, first, both):
        journal.on_round_planned(each)
    said = [json.loads(line)["because"][0]["rule"] for line in out.getvalue().splitlines()]
    assert said == ["DefaultInUse", "DefaultRestored", "DefaultRestored"], "two, and later the one that came again"


@pytest.mark.req("OP-041")
def test_tp047_a_line_of_the_log_names_the_topology_and_a_metric_its_controller() -> None:
    out, telemetry, held = io.StringIO(), OperatorMetrics(), look("placed", fits=False)
    journal = OperatorJsonLog(out)
    for follower in (journal, telemetry):
        follower.on_round_planned(held)
        follower.on_round_failed(held.root_key, "no way")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["msg"], line["topology"]) for line in lines] == [
        ("withheld", "grove-topology"),
        ("round failed", "grove-topology"),
    ]
    counted = 'controller_runtime_reconcile_total{controller="clustertopology",result="success"} 1.0'
    assert counted in telemetry.as_prometheus_text().decode()
    assert "grove_breached{" not in telemetry.as_prometheus_text().decode()
