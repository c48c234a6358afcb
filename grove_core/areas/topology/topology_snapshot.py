"""What the controller of one topology can see."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND, ClusterTopology, topology_ref
from grove_core.resources.configuration import TopologyAware
from grove_core.resources.topology_usage import (
    CLIQUE_KIND,
    SET_KIND,
    TopologyUser,
    bound_pods_by_set,
    users_by_topology,
    users_with_bound_pods,
)
from grove_core.snapshot.cluster import EVERYWHERE, Cluster

KINDS_THAT_SHOW_USE: Final = frozenset({SET_KIND, CLIQUE_KIND})
"""What has to be known of whole to say who uses a topology."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologySnapshot:
    """One topology, who uses it, and what is configured.

    Attributes:
        name: of the topology.
        topology: None where there is none.
        users: every set that uses it, those that are being deleted included; sorted.
        told: what the operator is told of topologies.
        unknown: kinds that were not collected, and that the answer needs.
        attempts: what was tried for this topology lately.
        shadowed: a ClusterTopologyBinding of the same name, where a ClusterTopology counts (TP-004).
        now: aware UTC.
    """

    name: str
    topology: ClusterTopology | None
    users: tuple[TopologyUser, ...]
    told: TopologyAware
    now: datetime
    unknown: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    shadowed: ClusterTopology | None = None

    @property
    def root_ref(self) -> Ref:
        """Of the topology, be it there or not."""
        return self.topology.ref if self.topology is not None else topology_ref(self.name)

    @property
    def root_uid(self) -> str:
        """Of the topology; empty where there is none."""
        return self.topology.uid if self.topology is not None else ""

    def known(self) -> dict[Ref, ClusterTopology]:
        """The topology itself, and what it shadows: no step aims at anything else."""
        return {one.ref: one for one in (self.topology, self.shadowed) if one is not None}

    @property
    def is_default(self) -> bool:
        """Whether the operator keeps it."""
        return self.name == DEFAULT_TOPOLOGY

    @property
    def drops_finalizer(self) -> bool:
        """Whether it goes without the finalizer although it may be used (TP-053)."""
        return self.is_default and not self.told.enabled

    @property
    def users_are_known(self) -> bool:
        """Whether its users are all of them (TP-042)."""
        return SET_KIND not in self.unknown

    @property
    def placed(self) -> tuple[TopologyUser, ...]:
        """The users of whom a pod is bound to a node."""
        return users_with_bound_pods(self.users)


def kinds_missing_for_use(cluster: Cluster) -> tuple[str, ...]:
    """Kinds that have to be known to say who uses a topology, and are not; sorted (TP-042).

    A cluster that shows no PodCliqueSet is one without any only where it is known to show all of them; one that nobody
    has applied yet shows nothing.
    """
    if cluster.is_part:
        return tuple(sorted(KINDS_THAT_SHOW_USE))
    missed = {kind for kind, _ in cluster.gaps} & KINDS_THAT_SHOW_USE
    if not any(one.uid for one in cluster.sets) and (SET_KIND, EVERYWHERE) not in cluster.complete:
        missed |= {SET_KIND}
    return tuple(sorted(missed))


def topology_snapshots(
    cluster: Cluster, now: datetime, attempts: tuple[Attempt, ...] = ()
) -> tuple[TopologySnapshot, ...]:
    """Every topology of a cluster, and the default one where it is to be made; sorted by name.

    Args:
        cluster: with the topologies, who may use them, and which kinds are known whole.
        now: aware UTC.
        attempts: what was tried lately, for whichever topology.
    """
    cliques = (clique for owned in cluster.cliques_of.values() for clique in owned)
    bound = bound_pods_by_set(cliques, cluster.pods_of)
    users = users_by_topology(((one.ref.namespace, one.ref.name, one.spec.template) for one in cluster.sets), bound)
    told, complete = cluster.configuration.topology, {kind for kind, _ in cluster.complete}
    names = set(cluster.topologies)
    if told.enabled and TOPOLOGY_KIND in complete:
        names.add(DEFAULT_TOPOLOGY)
    unknown = kinds_missing_for_use(cluster)
    return tuple(
        TopologySnapshot(
            name=name,
            topology=cluster.topologies.get(name),
            users=users.get(name, ()),
            told=told,
            now=now,
            unknown=unknown,
            attempts=attempts,
            shadowed=cluster.shadowed_topologies.get(name),
        )
        for name in sorted(names)
    )
