"""What the controller of one topology can see."""

from dataclasses import dataclass
from datetime import datetime

from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND, ClusterTopology
from grove_core.resources.configuration import TopologyAware
from grove_core.resources.topology_use import User, bound_among, users_among
from grove_core.snapshot.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyMoment:
    """One topology, who uses it, and what is configured.

    Attributes:
        name: of the topology.
        topology: None where there is none.
        users: every set that uses it, those that are being deleted included; sorted.
        told: what the operator is told of topologies.
        unknown: kinds that were not collected, and that the answer needs.
        now: aware UTC.
    """

    name: str
    topology: ClusterTopology | None
    users: tuple[User, ...]
    told: TopologyAware
    now: datetime
    unknown: tuple[str, ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether the operator keeps it."""
        return self.name == DEFAULT_TOPOLOGY

    @property
    def placed(self) -> tuple[User, ...]:
        """The users of whom a pod is bound to a node."""
        return tuple(user for user in self.users if user.scheduled)


def moments_of(cluster: Cluster, now: datetime) -> tuple[TopologyMoment, ...]:
    """Every topology of a cluster, and the default one where it is to be made; sorted by name.

    Args:
        cluster: with the topologies, who may use them, and which kinds are known whole.
        now: aware UTC.
    """
    bound = bound_among(clique for owned in cluster.cliques_of.values() for clique in owned)
    users = users_among(((one.ref.namespace, one.ref.name, one.spec.template) for one in cluster.sets), bound)
    told, complete = cluster.configuration.topology, {kind for kind, _ in cluster.complete}
    names = set(cluster.topologies)
    if told.enabled and TOPOLOGY_KIND in complete:
        names.add(DEFAULT_TOPOLOGY)
    missed = {kind for kind, _ in cluster.gaps} & {"PodCliqueSet", "PodClique"}
    return tuple(
        TopologyMoment(
            name=name,
            topology=cluster.topologies.get(name),
            users=users.get(name, ()),
            told=told,
            now=now,
            unknown=tuple(sorted(missed)),
        )
        for name in sorted(names)
    )
