"""Topologies in a run: what the operator and those who admit know of them, and how a topology is written down."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from grove_core.areas.topology.admit import TopologyView
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, topology_ref
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_usage import NO_PODS, TopologyUser, bound_pods_by_set, users_by_topology
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.in_memory.object_store import ObjectStore

RoundSnapshot: TypeAlias = Snapshot | TopologySnapshot
"""What a round of the operator is decided on: a set's, or a topology's."""


def managed_topologies(view: ObjectStore) -> list[Ref]:
    """The topologies that an operator looks after: those there are, and the default one that it is to make; sorted."""
    there = {name: topology.ref for name, topology in view.topologies().items()}
    if view.configuration.topology.enabled:
        there.setdefault(DEFAULT_TOPOLOGY, topology_ref(DEFAULT_TOPOLOGY))
    return [there[name] for name in sorted(there)]


def topology_moment_in(view: ObjectStore, name: str, now: datetime, attempts: tuple[Attempt, ...]) -> TopologySnapshot:
    """What the operator can see of one topology."""
    _, users = _use_in(view, view.pods)
    return TopologySnapshot(
        name=name,
        topology=view.topologies().get(name),
        users=users.get(name, ()),
        settings=view.configuration.topology,
        now=now,
        attempts=attempts,
    )


def topology_context_in(world: ObjectStore) -> TopologyView:
    """What sets and topologies are admitted by: pods count as bound when a PodClique says so."""
    return TopologyView(world.topologies(), *_use_in(world))


def topology_manifest(topology: ClusterTopology) -> dict[str, Any]:
    """A topology as it is written."""
    metadata = {"name": topology.ref.name, "labels": dict(topology.labels), "finalizers": list(topology.finalizers)}
    return {
        "apiVersion": topology.ref.api_version,
        "kind": topology.ref.kind,
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": {"levels": [level._asdict() for level in topology.levels]},
    }


def _use_in(
    world: ObjectStore, pods: Mapping[str, Iterable[Pod]] = NO_PODS
) -> tuple[dict[tuple[str, str], int], dict[str, tuple[TopologyUser, ...]]]:
    """How many pods of each set are bound, and who uses which topology."""
    bound = bound_pods_by_set((item for item in world.items.values() if isinstance(item, PodClique)), pods)
    sets = (item for item in world.items.values() if isinstance(item, PodCliqueSet))
    return bound, users_by_topology(((one.ref.namespace, one.ref.name, one.spec.template) for one in sets), bound)
