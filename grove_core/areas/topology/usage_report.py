"""The report of ``grove topology list``: topologies, their users, and what holds or locks them (TP-121)."""

from datetime import datetime
from enum import Enum, unique
from typing import NamedTuple

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot, topology_snapshots
from grove_core.areas.topology.rules import TopologyDenial, TopologyReason
from grove_core.areas.topology.topology_lifecycle import desired_topology_changes, topology_deletion_hold
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import SET_KIND, TOPOLOGY_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import ClusterTopology, Levels, topology_ref
from grove_core.resources.naming_rules import did_you_mean, name_list_text
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_usage import TopologyUser, bound_pod_count_of_clique, topology_in_template
from grove_core.snapshot.cluster import EVERYWHERE, IndexedCluster


@unique
class TopologyDeletionState(Enum):
    """Whether a topology can be deleted now, and if not why."""

    HELD = "Held"
    """Sets use it: a deletion waits for them."""
    FREE = "Free"
    """No set uses it."""
    UNKNOWN = "NotKnown"
    """The input does not show all users, or not whether it exists."""
    LEAVING = "Leaving"
    """It is being deleted."""
    MISSING = "Missing"
    """A set uses it, and it does not exist."""


class SetUsingTopology(NamedTuple):
    """A set that uses a topology.

    Attributes:
        by_default: whether it uses the default topology without naming it.
        bound: number of its pods that are bound to nodes; None if unknown.
    """

    namespace: str
    name: str
    by_default: bool
    bound: int | None


class TopologyUsage(Struct, frozen=True, kw_only=True):
    """One topology with its users.

    Attributes:
        kind: of the object; empty if it does not exist.
        state: whether it can be deleted now.
        locked: whether admission refuses other levels because pods are placed by these; None if unknown.
        lock: the reasons why its levels are locked, or why no webhook protects them.
        drops_finalizer: whether the operator removes the finalizer even if sets use it (TP-053).
        not_collected: kinds that show users of topologies and are incomplete in the input.
        not_validated: why no webhook validates it; None if one does (TP-127, TP-130).
    """

    name: str
    kind: str
    levels: Levels
    users: tuple[SetUsingTopology, ...]
    state: TopologyDeletionState
    has_finalizer: bool
    locked: bool | None
    because: tuple[Reason, ...]
    lock: tuple[Reason, ...] = ()
    drops_finalizer: bool = False
    not_collected: tuple[str, ...] = ()
    not_validated: Reason | None = None

    @property
    def users_are_known(self) -> bool:
        """Whether `users` is complete."""
        return SET_KIND not in self.not_collected


def topology_usage_report(cluster: IndexedCluster, now: datetime) -> tuple[TopologyUsage, ...]:
    """Return every topology of a cluster, including missing ones that sets use; sorted by name."""
    users: dict[str, list[SetUsingTopology]] = {}
    for root in cluster.sets:
        use = topology_in_template(root.spec.template)
        if use.effective_topology_name:
            users.setdefault(use.effective_topology_name, []).append(
                _set_usage(cluster, root, by_default=not use.named)
            )
    snapshots = {snapshot.name: snapshot for snapshot in topology_snapshots(cluster, now)}
    return tuple(
        _usage_of(snapshots[name], cluster.topologies[name], tuple(users.get(name, ())))
        if name in cluster.topologies
        else _missing_topology(name, tuple(users[name]), cluster)
        for name in sorted(cluster.topologies.keys() | users.keys())
    )


def count_sets_without_topology(cluster: IndexedCluster) -> int:
    """Return the number of sets that use no topology."""
    return sum(not topology_in_template(root.spec.template).effective_topology_name for root in cluster.sets)


def _set_usage(cluster: IndexedCluster, root: PodCliqueSet, *, by_default: bool) -> SetUsingTopology:
    namespace, name = root.ref.namespace, root.ref.name
    groups = cluster.groups_of.get(root.uid, ())
    cliques = [clique for owner in (root, *groups) for clique in cluster.cliques_of.get(owner.uid, ())]
    known = {("PodClique", namespace), ("PodClique", EVERYWHERE)} & cluster.complete
    counts = (bound_pod_count_of_clique(clique, cluster.pods_of.get(clique.uid, ())) for clique in cliques)
    bound = sum(counts) if known or not root.uid else None
    return SetUsingTopology(namespace, name, by_default, bound)


def _usage_of(
    snapshot: ClusterTopologySnapshot, found: ClusterTopology, users: tuple[SetUsingTopology, ...]
) -> TopologyUsage:
    desired, findings = desired_topology_changes(snapshot)
    counts = [user.bound for user in users]
    placed = tuple(TopologyUser(user.namespace, user.name) for user in users if user.bound)
    withheld = tuple(reason for one in desired.withheld for reason in one.because)
    not_validated = _why_not_validated(snapshot, found)
    in_use = TopologyDenial.LEVELS_IN_USE.because(
        found.ref, users=name_list_text(user.namespace_and_name for user in placed)
    )
    locking = bool(placed) and not_validated is None
    is_unknown = not_validated is None and (None in counts or bool(snapshot.not_collected))
    return TopologyUsage(
        name=snapshot.name,
        kind=found.ref.kind,
        levels=found.levels,
        users=users,
        state=TopologyDeletionState.LEAVING
        if found.deleting
        else TopologyDeletionState[topology_deletion_hold(snapshot).name],
        has_finalizer=TOPOLOGY_FINALIZER in found.finalizers,
        locked=True if locking else None if is_unknown else False,
        because=(*findings[0].because, *withheld),
        lock=(in_use,) if locking else (not_validated,) if not_validated is not None else (),
        drops_finalizer=snapshot.drops_finalizer,
        not_collected=snapshot.not_collected,
        not_validated=not_validated,
    )


def _why_not_validated(snapshot: ClusterTopologySnapshot, found: ClusterTopology) -> Reason | None:
    """Return why no webhook validates a topology: only ClusterTopologies are, and only with TAS on (WH-010)."""
    if found.ref.kind != TOPOLOGY_KIND:
        return TopologyReason.BINDING_NOT_GUARDED.because(found.ref, kind=found.ref.kind)
    return None if snapshot.settings.enabled else TopologyReason.OFF_IS_NOT_GUARDED.because(found.ref)


def _missing_topology(name: str, users: tuple[SetUsingTopology, ...], cluster: IndexedCluster) -> TopologyUsage:
    known = cluster.topologies
    facts = {"topology": name, "known": name_list_text(known), "meant": did_you_mean(name, known)}
    is_known = TOPOLOGY_KIND in {kind for kind, _ in cluster.complete}
    gone = TopologyReason.TOPOLOGY_MISSING.because(topology_ref(name), **facts)
    unknown = TopologyReason.TOPOLOGY_NOT_COLLECTED.because(topology_ref(name), topology=name)
    return TopologyUsage(
        name=name,
        kind="",
        levels=(),
        users=users,
        state=TopologyDeletionState.MISSING if is_known else TopologyDeletionState.UNKNOWN,
        has_finalizer=False,
        locked=False,
        because=(gone if is_known else unknown,),
    )
