"""Topologies, and snapshots of one topology."""

from typing import Any, Final

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.resources.api_names import MANAGED_BY, OPERATOR, TOPOLOGY_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology
from grove_core.resources.configuration import TopologyAwareSettings
from grove_core.resources.topology_usage import TopologyUser
from tests.property.topology.sets_with_constraints import LEVELS, topology
from tests.property.workload.sets import NOW

OTHERS: Final = ("example.com/a", "example.com/b")
USERS: Final = {
    "none": (),
    "waiting": (TopologyUser("ml", "waits"),),
    "placed": (TopologyUser("ml", "llm", 2), TopologyUser("ml", "waits")),
}
STALE: Final = (("zone", "z"),)


def topology_snapshot(
    found: ClusterTopology | None,
    users: str = "none",
    *,
    name: str = DEFAULT_TOPOLOGY,
    on: bool = True,
    not_collected: tuple[str, ...] = (),
) -> ClusterTopologySnapshot:
    settings = TopologyAwareSettings(on, LEVELS if on else ())
    return ClusterTopologySnapshot(
        name=name, topology=found, users=USERS[users], settings=settings, now=NOW, not_collected=not_collected
    )


def a_topology(
    name: str, *, held: bool, fits: bool = True, leaving: bool = False, kind: str = TOPOLOGY_KIND
) -> ClusterTopology:
    finalizers = [OTHERS[0], *([TOPOLOGY_FINALIZER] if held else []), OTHERS[1]]
    meta: dict[str, Any] = {"finalizers": finalizers, "labels": {MANAGED_BY: OPERATOR}}
    meta |= {"deletionTimestamp": "2026-11-20T09:00:00Z"} if leaving else {}
    return topology(name, *(() if fits else STALE), kind=kind, **meta)
