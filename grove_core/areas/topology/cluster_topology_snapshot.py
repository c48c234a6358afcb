"""The snapshot of one ClusterTopology: the object, its users and the settings (input of reconcile_topology)."""

from datetime import datetime
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import CLIQUE_KIND, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, topology_ref
from grove_core.resources.configuration import TopologyAwareSettings
from grove_core.resources.topology_usage import (
    TopologyUser,
    bound_pod_counts_by_set,
    sets_by_topology,
    sets_with_bound_pods,
)
from grove_core.snapshot.cluster import EVERYWHERE, IndexedCluster

KINDS_THAT_SHOW_USE: Final = frozenset({SET_KIND, CLIQUE_KIND})
"""Kinds that must be complete before a topology counts as unused."""


class ClusterTopologySnapshot(Struct, frozen=True, kw_only=True):
    """One topology, the sets that use it, and the operator's settings.

    Attributes:
        topology: the object; None if it does not exist.
        users: every set that uses it, including sets that are being deleted; sorted.
        settings: of topology-aware scheduling, from the operator's configuration.
        not_collected: kinds that show users of topologies and are incomplete in the input.
        attempts: recent writes for this topology, with their results.
        shadowed: a ClusterTopologyBinding of the same name that the ClusterTopology takes precedence over (TP-049).
    """

    name: str
    topology: ClusterTopology | None
    users: tuple[TopologyUser, ...]
    settings: TopologyAwareSettings
    now: datetime
    not_collected: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    shadowed: ClusterTopology | None = None

    @property
    def root_ref(self) -> Ref:
        """The address of the topology, whether it exists or not."""
        return self.topology.ref if self.topology is not None else topology_ref(self.name)

    @property
    def root_uid(self) -> str:
        """The uid of the topology; empty if it does not exist."""
        return self.topology.uid if self.topology is not None else ""

    def objects_by_ref(self) -> dict[Ref, ClusterTopology]:
        """Return the objects that a step may change: the topology, and the binding that it shadows."""
        return {one.ref: one for one in (self.topology, self.shadowed) if one is not None}

    @property
    def is_default(self) -> bool:
        """Whether it is the default topology, whose levels the operator manages."""
        return self.name == DEFAULT_TOPOLOGY

    @property
    def drops_finalizer(self) -> bool:
        """Whether its finalizer is removed even if sets use it (TP-053)."""
        return self.is_default and not self.settings.enabled

    @property
    def users_are_known(self) -> bool:
        """Whether `users` is complete (TP-042)."""
        return SET_KIND not in self.not_collected

    @property
    def users_with_bound_pods(self) -> tuple[TopologyUser, ...]:
        """The users that have a pod bound to a node."""
        return sets_with_bound_pods(self.users)


def incomplete_topology_user_kinds(cluster: IndexedCluster) -> tuple[str, ...]:
    """Return the kinds that are incomplete in the input and may hide users of topologies, sorted (TP-042).

    An input without a PodCliqueSet of a cluster counts as incomplete, unless the kind is known to be complete.
    """
    if cluster.is_part:
        return tuple(sorted(KINDS_THAT_SHOW_USE))
    missing = {kind for kind, _ in cluster.gaps} & KINDS_THAT_SHOW_USE
    if not any(one.uid for one in cluster.sets) and (SET_KIND, EVERYWHERE) not in cluster.complete:
        missing |= {SET_KIND}
    return tuple(sorted(missing))


def topology_snapshots(
    cluster: IndexedCluster, now: datetime, attempts: tuple[Attempt, ...] = ()
) -> tuple[ClusterTopologySnapshot, ...]:
    """Return a snapshot of each topology of a cluster, and of the default one if it has to be created; by name."""
    cliques = (clique for owned in cluster.cliques_of.values() for clique in owned)
    bound = bound_pod_counts_by_set(cliques, cluster.pods_of)
    users = sets_by_topology(((one.ref.namespace, one.ref.name, one.spec.template) for one in cluster.sets), bound)
    settings, complete_kinds = cluster.configuration.topology, {kind for kind, _ in cluster.complete}
    names = set(cluster.topologies)
    if settings.has_default_topology and TOPOLOGY_KIND in complete_kinds:
        names.add(DEFAULT_TOPOLOGY)
    not_collected = incomplete_topology_user_kinds(cluster)
    return tuple(
        ClusterTopologySnapshot(
            name=name,
            topology=cluster.topologies.get(name),
            users=users.get(name, ()),
            settings=settings,
            now=now,
            not_collected=not_collected,
            attempts=attempts,
            shadowed=cluster.shadowed_topologies.get(name),
        )
        for name in sorted(names)
    )
