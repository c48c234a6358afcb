"""The impact of ``grove topology impact``: what a change of a topology does to each PodGang of each set."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, unique
from typing import NamedTuple

from grove_core.areas.topology.judge import gang_topology_of, judge_topology
from grove_core.areas.topology.verdicts import TopologyJudgement
from grove_core.areas.workload.expected_replicas import expected_replicas_of
from grove_core.areas.workload.judge import why_too_large
from grove_core.areas.workload.objects.podgangs import placement_of
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.topology_usage import topology_use_of
from grove_core.snapshot.cluster import Cluster
from grove_core.snapshot.snapshot import Snapshot


@unique
class GangChange(Enum):
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
    """PodGangs were not collected, or there are too many."""


class GangImpact(NamedTuple):
    """What happens to one PodGang, and why."""

    name: str
    change: GangChange
    because: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class SetImpact:
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
    gangs: tuple[GangImpact, ...]


def set_impacts_of(cluster: Cluster, changed: ClusterTopology, now: datetime) -> tuple[SetImpact, ...]:
    """Return what a change of a topology does to each set that uses it (TP-123); by namespace and name."""
    after = replace(cluster, topologies={**cluster.topologies, changed.ref.name: changed})
    return tuple(
        _set_impact(after.snapshot_of(root, now), by_default=not topology_use_of(root.spec.template).named)
        for root in after.sets
        if topology_use_of(root.spec.template).topology == changed.ref.name
    )


def _set_impact(snapshot: Snapshot, *, by_default: bool) -> SetImpact:
    judgement = judge_topology(snapshot)
    gangs = tuple(sorted(_gang_impacts(snapshot, judgement), key=lambda gang: gang.name))
    return SetImpact(snapshot.root.ref, by_default, judgement, gangs)


def _gang_impacts(snapshot: Snapshot, judgement: TopologyJudgement) -> Iterator[GangImpact]:
    placing, because = gang_topology_of(snapshot, judgement), why_too_large(snapshot)
    if because is not None:
        yield GangImpact(snapshot.root.ref.name, GangChange.UNKNOWN, (because,))
        return
    existing = {gang.ref.name: gang for gang in snapshot.gangs}
    unknown = bool(snapshot.root.uid) and not existing and "PodGang" not in snapshot.complete
    for replica in expected_replicas_of(snapshot):
        for part in replica.gangs:
            gang = existing.get(part.name)
            if unknown:
                yield GangImpact(part.name, GangChange.UNKNOWN, ())
            elif gang is None:
                yield GangImpact(part.name, GangChange.WAITS if placing.waiting else GangChange.MADE, placing.waiting)
            elif placing.waiting:
                yield GangImpact(part.name, GangChange.STAYS, placing.waiting)
            elif not placing.topology or placement_of(snapshot.root, part, placing) == gang.placement:
                yield GangImpact(part.name, GangChange.SAME, ())
            elif placing.follows is not None:
                yield GangImpact(part.name, GangChange.FOLLOWS, (placing.follows,))
            else:
                yield GangImpact(part.name, GangChange.STAYS, tuple(filter(None, (placing.locked,))))
