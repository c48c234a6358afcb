"""One ClusterTopology: the plan of its controller, the forecast of its next rounds, and the impact of a change."""

from collections.abc import Iterator
from datetime import datetime
from enum import Enum, unique
from typing import NamedTuple, assert_never

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.areas.topology.judge import judge_topology, topology_of_new_gangs
from grove_core.areas.topology.topology_lifecycle import desired_topology_changes
from grove_core.areas.topology.verdicts import (
    GangsPlacedByTopology,
    GangsWithoutTopology,
    GangTopology,
    TopologyJudgement,
    WithheldGangs,
)
from grove_core.areas.workload.set_too_large import set_too_large_reason
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.frozen import FrozenDict, thaw_json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref, placeholder_uid
from grove_core.kernel.steps import Make, Step
from grove_core.kernel.structs import Struct, replace
from grove_core.plan.forecast import Forecast, one_round_forecast, plan_as_forecast_round
from grove_core.plan.plan import Plan
from grove_core.plan.planner import plan_from_wants
from grove_core.resources.cluster_topology import ClusterTopology, cluster_topology_from_json
from grove_core.resources.object_after_write import object_after_write
from grove_core.resources.podgang import PodGang
from grove_core.resources.topology_usage import topology_in_template
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.expected_replicas import ExpectedGang, expected_set_of
from grove_core.snapshot.snapshot import Snapshot


def reconcile_topology(snapshot: ClusterTopologySnapshot) -> Plan:
    """Return the operator's writes to one topology, and why (TP-040 to TP-054).

    Pure and total: every snapshot gives a plan. It does not change finalizers of others, nor levels of any topology but
    the default one.
    """
    return plan_from_wants(AreaResult(*desired_topology_changes(snapshot)), snapshot)  # TP


def forecast_topology(snapshot: ClusterTopologySnapshot) -> Forecast:
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


def _next_snapshot(snapshot: ClusterTopologySnapshot, steps: tuple[Step, ...]) -> ClusterTopologySnapshot:
    """Return the snapshot after the steps succeeded."""
    topology = snapshot.topology
    for step in steps:
        if isinstance(step.action, Make):
            created = cluster_topology_from_json(thaw_json(step.action.manifest))
            topology = replace(created, uid=placeholder_uid(step.target), resource_version="1")
        elif topology is not None and step.target == topology.ref:
            topology = object_after_write(topology, step.action)
    if topology is not None and topology.deleting and not topology.finalizers:
        topology = None
    return replace(snapshot, topology=topology, shadowed=None, attempts=())


@unique
class GangTopologyChange(Enum):
    """What happens to a PodGang when the levels of its topology change."""

    FOLLOWS = "Follows"
    """It is updated to the new levels: no pod of the set is placed."""
    STAYS = "Stays"
    """It keeps constraints that differ from the topology: pods of the set are placed, or a domain is gone."""
    SAME = "Same"
    """Its constraints do not change."""
    WAITS = "Waits"
    """It does not exist, and its creation is withheld."""
    MADE = "Made"
    """It does not exist yet, and is created by the new levels."""
    UNKNOWN = "Unknown"
    """PodGangs or PodCliques were not collected, or there are too many PodGangs."""


class GangTopologyImpact(NamedTuple):
    """What happens to one PodGang, and why."""

    name: str
    change: GangTopologyChange
    because: tuple[Reason, ...]


class SetTopologyImpact(Struct, frozen=True):
    """What happens to the PodGangs of one set.

    Attributes:
        root: the set.
        by_default: whether it uses the topology without naming it.
        after: the judgement on its topology after the change.
        gangs: sorted by name.
    """

    root: Ref
    by_default: bool
    after: TopologyJudgement
    gangs: tuple[GangTopologyImpact, ...]


def topology_impacts_on_sets(
    cluster: IndexedCluster, changed: ClusterTopology, now: datetime
) -> tuple[SetTopologyImpact, ...]:
    """Return what a change of a topology does to each set that uses it (TP-123); by namespace and name."""
    after = replace(cluster, topologies=FrozenDict({**cluster.topologies, changed.ref.name: changed}))
    return tuple(
        _set_impact(after.snapshot_of(root, now), by_default=not topology_in_template(root.spec.template).named)
        for root in after.sets
        if topology_in_template(root.spec.template).effective_topology_name == changed.ref.name
    )


def _set_impact(snapshot: Snapshot, *, by_default: bool) -> SetTopologyImpact:
    judgement = judge_topology(snapshot)
    gangs = tuple(sorted(_gang_impacts(snapshot, judgement), key=lambda gang: gang.name))
    return SetTopologyImpact(snapshot.root.ref, by_default, judgement, gangs)


def _gang_impacts(snapshot: Snapshot, judgement: TopologyJudgement) -> Iterator[GangTopologyImpact]:
    topology, because = topology_of_new_gangs(snapshot, judgement), set_too_large_reason(snapshot)
    if because is not None:
        yield GangTopologyImpact(snapshot.root.ref.name, GangTopologyChange.UNKNOWN, (because,))
        return
    existing = {gang.ref.name: gang for gang in snapshot.gangs}
    unknown = bool(snapshot.root.uid) and not existing and "PodGang" not in snapshot.complete
    for replica in expected_set_of(snapshot).replicas:
        for part in replica.gangs:
            if unknown:
                yield GangTopologyImpact(part.name, GangTopologyChange.UNKNOWN, ())
            else:
                yield GangTopologyImpact(
                    part.name, *_change_and_reasons(snapshot, part, existing.get(part.name), topology)
                )


def _change_and_reasons(
    snapshot: Snapshot, part: ExpectedGang, gang: PodGang | None, topology: GangTopology
) -> tuple[GangTopologyChange, tuple[Reason, ...]]:
    """Return what happens to one PodGang, which is None if it does not exist."""
    match topology:
        case WithheldGangs(because):
            return (GangTopologyChange.WAITS if gang is None else GangTopologyChange.STAYS), because
        case GangsWithoutTopology():
            return (GangTopologyChange.MADE if gang is None else GangTopologyChange.SAME), ()
        case GangsPlacedByTopology(placing, follows, because):
            if gang is None:
                return GangTopologyChange.MADE, ()
            if placing.constraints_of_gang(snapshot.root, part) == gang.placement:
                return GangTopologyChange.SAME, ()
            if follows and "PodClique" in snapshot.not_collected:
                return GangTopologyChange.UNKNOWN, ()  # pods of it may be placed
            return (GangTopologyChange.FOLLOWS if follows else GangTopologyChange.STAYS), (because,)
        case _:
            assert_never(topology)
