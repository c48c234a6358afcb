"""Topologies in a run: what the operator and admission see of them, and their manifests."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from grove_core.areas.topology.admit import TopologyAdmissionView
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, topology_ref
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_usage import NO_PODS, TopologyUsingSet, bound_pods_by_set, sets_by_topology
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.in_memory.in_memory_objects import InMemoryObjects

RoundSnapshot: TypeAlias = Snapshot | TopologySnapshot
"""The snapshot that one round of the operator decides on: of a set, or of a topology."""


def topologies_to_reconcile(view: InMemoryObjects) -> list[Ref]:
    """Return the topologies that an operator reconciles: all stored ones and, if enabled, the default one; by name."""
    there = {name: topology.ref for name, topology in view.topologies().items()}
    if view.configuration.topology.enabled:
        there.setdefault(DEFAULT_TOPOLOGY, topology_ref(DEFAULT_TOPOLOGY))
    return [there[name] for name in sorted(there)]


def topology_snapshot_in(
    view: InMemoryObjects, name: str, now: datetime, attempts: tuple[Attempt, ...]
) -> TopologySnapshot:
    """Return the snapshot of one topology."""
    _, users = _use_in(view, view.pods)
    return TopologySnapshot(
        name=name,
        topology=view.topologies().get(name),
        users=users.get(name, ()),
        settings=view.configuration.topology,
        now=now,
        attempts=attempts,
    )


def topology_view_in(store: InMemoryObjects) -> TopologyAdmissionView:
    """Return what admission sees of topologies; whether pods are bound is read from the status of their PodClique."""
    return TopologyAdmissionView(store.topologies(), *_use_in(store))


def topology_manifest(topology: ClusterTopology) -> dict[str, Any]:
    """Return the manifest of a topology."""
    metadata = {"name": topology.ref.name, "labels": dict(topology.labels), "finalizers": list(topology.finalizers)}
    return {
        "apiVersion": topology.ref.api_version,
        "kind": topology.ref.kind,
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": {"levels": [level._asdict() for level in topology.levels]},
    }


def _use_in(
    store: InMemoryObjects, pods: Mapping[str, Iterable[Pod]] = NO_PODS
) -> tuple[dict[tuple[str, str], int], dict[str, tuple[TopologyUsingSet, ...]]]:
    """Return the number of bound pods of each set, and the users of each topology."""
    bound = bound_pods_by_set((item for item in store.items.values() if isinstance(item, PodClique)), pods)
    sets = (item for item in store.items.values() if isinstance(item, PodCliqueSet))
    return bound, sets_by_topology(((one.ref.namespace, one.ref.name, one.spec.template) for one in sets), bound)
