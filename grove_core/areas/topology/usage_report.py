"""Which topologies there are, who uses them, and what is held because of it (TP-121, TP-122)."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.topology.lifecycle import deletion_hold_of, wants_of_lifecycle
from grove_core.areas.topology.rules import Refuse, Why
from grove_core.areas.topology.topology_snapshot import TopologySnapshot, topology_snapshots
from grove_core.areas.topology.verdicts import DeletionHold
from grove_core.kernel.reasons import Reason
from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import TOPOLOGY_KIND, ClusterTopology, Levels, did_you_mean, topology_ref
from grove_core.resources.names import listed
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_usage import SET_KIND, TopologyUser, bound_pods_of, topology_use_of
from grove_core.snapshot.cluster import EVERYWHERE, Cluster


@unique
class TopologyState(Enum):
    """What may become of a topology."""

    HELD = "Held"
    """It is used: a deletion would wait."""
    FREE = "Free"
    """Nobody uses it."""
    UNKNOWN = "NotKnown"
    """Who uses it is not known, or whether it is there."""
    LEAVING = "Leaving"
    """It is being deleted."""
    MISSING = "Missing"
    """Some set uses it, and it is not there."""


class SetUsage(NamedTuple):
    """A set that uses a topology.

    Attributes:
        by_default: whether it names none.
        bound: pods that are bound to nodes; None where nobody knows.
    """

    namespace: str
    name: str
    by_default: bool
    bound: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyUsage:
    """One topology.

    Attributes:
        kind: of the object; empty where there is none.
        has_finalizer: whether Grove's is on it.
        is_let_go: whether the operator takes its finalizer away although it may be used (TP-053).
        unknown: kinds that were not collected, and that who uses it shows in.
        unguarded: why no admission judges it; None where one does (TP-127, TP-130).
        locked: whether its levels may not change, for pods are placed by them; None where nobody knows.
        because: why it is as it is.
        lock: why its levels may not change.
    """

    name: str
    kind: str
    levels: Levels
    users: tuple[SetUsage, ...]
    state: TopologyState
    has_finalizer: bool
    locked: bool | None
    because: tuple[Reason, ...]
    lock: tuple[Reason, ...] = ()
    drops_finalizer: bool = False
    unknown: tuple[str, ...] = ()
    not_validated: Reason | None = None

    @property
    def users_are_known(self) -> bool:
        """Whether its users are all of them."""
        return SET_KIND not in self.unknown


def usage_report_of(cluster: Cluster, now: datetime) -> tuple[TopologyUsage, ...]:
    """Every topology of a cluster, those that are missing included; sorted by name."""
    users: dict[str, list[SetUsage]] = {}
    for root in cluster.sets:
        use = topology_use_of(root.spec.template)
        if use.topology:
            users.setdefault(use.topology, []).append(_set_usage(cluster, root, by_default=not use.named))
    moments = {moment.name: moment for moment in topology_snapshots(cluster, now)}
    return tuple(
        _usage_of(moments[name], cluster.topologies[name], tuple(users.get(name, ())))
        if name in cluster.topologies
        else _missing_topology(name, tuple(users[name]), cluster)
        for name in sorted(cluster.topologies.keys() | users.keys())
    )


def count_without_topology(cluster: Cluster) -> int:
    """How many sets use no topology."""
    return sum(not topology_use_of(root.spec.template).topology for root in cluster.sets)


def _set_usage(cluster: Cluster, root: PodCliqueSet, *, by_default: bool) -> SetUsage:
    namespace, name = root.ref.namespace, root.ref.name
    groups = cluster.groups_of.get(root.uid, ())
    cliques = [clique for owner in (root, *groups) for clique in cluster.cliques_of.get(owner.uid, ())]
    known = {("PodClique", namespace), ("PodClique", EVERYWHERE)} & cluster.complete
    counts = (bound_pods_of(clique, cluster.pods_of.get(clique.uid, ())) for clique in cliques)
    bound = sum(counts) if known or not root.uid else None
    return SetUsage(namespace, name, by_default, bound)


def _usage_of(moment: TopologySnapshot, found: ClusterTopology, users: tuple[SetUsage, ...]) -> TopologyUsage:
    desired, findings = wants_of_lifecycle(moment)
    counts = [user.bound for user in users]
    placed = tuple(TopologyUser(user.namespace, user.name) for user in users if user.bound)
    held = tuple(reason for one in desired.held_back for reason in one.because)
    not_validated = _why_not_validated(moment, found)
    in_use = Refuse.LEVELS_IN_USE.because(found.ref, users=listed(user.text for user in placed))
    locking = bool(placed) and not_validated is None
    unsure = not_validated is None and (None in counts or bool(moment.unknown))
    return TopologyUsage(
        name=moment.name,
        kind=found.ref.kind,
        levels=found.levels,
        users=users,
        state=_state_of(moment, found),
        has_finalizer=TOPOLOGY_FINALIZER in found.finalizers,
        locked=True if locking else None if unsure else False,
        because=(*findings[0].because, *held),
        lock=(in_use,) if locking else (not_validated,) if not_validated is not None else (),
        drops_finalizer=moment.drops_finalizer,
        unknown=moment.unknown,
        not_validated=not_validated,
    )


_STATES: Final = MappingProxyType(
    {
        DeletionHold.HELD: TopologyState.HELD,
        DeletionHold.FREE: TopologyState.FREE,
        DeletionHold.UNKNOWN: TopologyState.UNKNOWN,
    }
)


def _state_of(moment: TopologySnapshot, found: ClusterTopology) -> TopologyState:
    if found.deleting:
        return TopologyState.LEAVING
    return _STATES[deletion_hold_of(moment)]


def _why_not_validated(moment: TopologySnapshot, found: ClusterTopology) -> Reason | None:
    """Webhooks are registered for ClusterTopologies, and only with TAS on (TP-092, TP-093)."""
    if found.ref.kind != TOPOLOGY_KIND:
        return Why.BINDING_NOT_GUARDED.because(found.ref, kind=found.ref.kind)
    return None if moment.told.enabled else Why.OFF_IS_NOT_GUARDED.because(found.ref)


def _missing_topology(name: str, users: tuple[SetUsage, ...], cluster: Cluster) -> TopologyUsage:
    """A topology that is used and not there, as far as topologies are known."""
    known = cluster.topologies
    facts = {"topology": name, "known": listed(known), "meant": did_you_mean(name, known)}
    is_known = TOPOLOGY_KIND in {kind for kind, _ in cluster.complete}
    gone = Why.TOPOLOGY_MISSING.because(topology_ref(name), **facts)
    unknown = Why.TOPOLOGY_NOT_COLLECTED.because(topology_ref(name), topology=name)
    return TopologyUsage(
        name=name,
        kind="",
        levels=(),
        users=users,
        state=TopologyState.MISSING if is_known else TopologyState.UNKNOWN,
        has_finalizer=False,
        locked=False,
        because=(gone if is_known else unknown,),
    )
