"""The controller of one ClusterTopology: its plan, and the forecast of its next rounds."""

from dataclasses import replace

from grove_core.areas.topology.topology_lifecycle import desired_topology_changes
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import placeholder_uid
from grove_core.kernel.steps import Make, Step
from grove_core.plan.forecast import Forecast, one_round_forecast, plan_as_forecast_round
from grove_core.plan.plan import Plan
from grove_core.plan.planner import make_plan
from grove_core.resources.cluster_topology import cluster_topology_from_json
from grove_core.resources.object_after_write import object_after_write


def reconcile_topology(snapshot: TopologySnapshot) -> Plan:
    """Return the operator's writes to one topology, and why (TP-040 to TP-054).

    Pure, and never raises. It does not change finalizers of others, nor levels of any topology but the default one.
    """
    return make_plan(AreaResult(*desired_topology_changes(snapshot)), snapshot)  # TP


def forecast_topology(snapshot: TopologySnapshot) -> Forecast:
    """Return the rounds until no write is left (TP-047): at most a creation, then a write of the finalizer."""
    plan = reconcile_topology(snapshot)
    forecast, rounds = one_round_forecast(plan, snapshot.now), [plan_as_forecast_round(plan, 1, snapshot.now)]
    while plan.steps:
        snapshot = _next_snapshot(snapshot, plan.steps)
        if snapshot.topology is None:
            break
        plan = reconcile_topology(snapshot)
        if plan.steps or plan.withheld != rounds[-1].withheld:
            rounds.append(plan_as_forecast_round(plan, len(rounds) + 1, snapshot.now))
    return replace(forecast, rounds=tuple(rounds), complete=True)


def _next_snapshot(snapshot: TopologySnapshot, steps: tuple[Step, ...]) -> TopologySnapshot:
    """Return the snapshot after the steps succeeded."""
    topology = snapshot.topology
    for step in steps:
        if isinstance(step.action, Make):
            created = cluster_topology_from_json(thaw(step.action.manifest))
            topology = replace(created, uid=placeholder_uid(step.target), resource_version="1")
        elif topology is not None and step.target == topology.ref:
            topology = object_after_write(topology, step.action)
    if topology is not None and topology.deleting and not topology.finalizers:
        topology = None
    return replace(snapshot, topology=topology, shadowed=None, attempts=())
