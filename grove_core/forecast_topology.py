"""What will happen to one ClusterTopology, write after write, if nobody else acts."""

from dataclasses import replace

from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import invented_uid
from grove_core.kernel.steps import Make, Step
from grove_core.plan.forecast import Forecast, forecast_of, round_of
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.after_write import after_write
from grove_core.resources.cluster_topology import cluster_topology_of


def forecast_topology(moment: TopologySnapshot) -> Forecast:
    """The rounds until rest (TP-048); a topology is written to at most twice in a row: made, then held."""
    plan = reconcile_topology(moment)
    told, rounds = forecast_of(plan, moment.now), [round_of(plan, 1, moment.now)]
    while plan.steps:
        moment = _next_snapshot(moment, plan.steps)
        if moment.topology is None:
            break
        plan = reconcile_topology(moment)
        if plan.steps or plan.withheld != rounds[-1].withheld:
            rounds.append(round_of(plan, len(rounds) + 1, moment.now))
    return replace(told, rounds=tuple(rounds), complete=True)


def _next_snapshot(moment: TopologySnapshot, steps: tuple[Step, ...]) -> TopologySnapshot:
    """The next look, if the server took them."""
    topology = moment.topology
    for step in steps:
        if isinstance(step.action, Make):
            made = cluster_topology_of(thaw(step.action.manifest))
            topology = replace(made, uid=invented_uid(step.target), resource_version="1")
        elif topology is not None and step.target == topology.ref:
            topology = after_write(topology, step.action)
    if topology is not None and topology.deleting and not topology.finalizers:
        topology = None
    return replace(moment, topology=topology, shadowed=None, attempts=())
