"""Everything that a decision of one daemon depends on, and its clique as it sees it.

Entries are identified by node, never by their place in a list (DC-010).
"""

from collections.abc import Iterable
from datetime import datetime

from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.verdicts import DaemonAction, PeerMap
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import CORE, DOMAIN_CLIQUE_KIND, DOMAIN_KIND, NVIDIA
from grove_core.resources.compute_domain import ComputeDomain, ComputeDomainClique, DaemonEntry, DaemonPod
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from grove_core.resources.naming_rules import compute_domain_clique_name


class DaemonIdentity(Struct, frozen=True, kw_only=True):
    """The node, pod, clique and domain of a daemon; constant while its process runs.

    Attributes:
        clique: empty if the node has no fabric.
        namespace, domain, domain_uid: of the ComputeDomain it was started for.
        pod_namespace: of its pod and of the cliques.
    """

    node: str
    ip: str
    clique: str
    namespace: str
    domain: str
    domain_uid: str
    pod_namespace: str
    pod: str
    pod_uid: str

    @property
    def pod_ref(self) -> Ref:
        """The daemon's pod."""
        return Ref(CORE, "Pod", self.pod_namespace, self.pod)

    def registry_ref(self, *, sharded: bool) -> Ref:
        """The object it registers in: its clique if sharded, else the domain."""
        if sharded:
            name = compute_domain_clique_name(self.domain_uid, self.clique)
            return Ref(NVIDIA, DOMAIN_CLIQUE_KIND, self.pod_namespace, name)
        return Ref(NVIDIA, DOMAIN_KIND, self.namespace, self.domain)


class ObservedDaemonRegistry(Struct, frozen=True):
    """A registry at a version of the store; ``registry`` is None if the object did not exist."""

    version: int
    registry: DaemonRegistry | None


class RegistrationState(Struct, frozen=True, kw_only=True):
    """What a daemon process keeps between decisions; a new process begins with ``RegistrationState()``.

    Attributes:
        observed: the newest state of its registry, from an event or from the response to its own write (DC-010).
        settled_index: the index that a response to its own write showed to be its alone (D42).
        contested_since: since when another node has its settled index.
        other_registry: the other registry as read at ``other_read_at`` (DC-065).
        pods: the domain's pods on this node, as listed at ``pods_listed_at`` to find ``pods_listed_for``, an IP.
        pod_labelled: whether the label of its pod was written.
        must_force: whether its last apply conflicted with another field manager (DC-032).
        removes_by_put: whether its entry remained after an empty apply, so that a PUT has to remove it (DC-056).
        failures: failed requests in a row; ``failure`` describes the last one.
        not_before: backoff: no request before this time; an event shortens it.
        throttled_until: no request before this time, even after an event (DC-035).
    """

    observed: ObservedDaemonRegistry | None = None
    settled_index: int | None = None
    contested_since: datetime | None = None
    other_registry: DaemonRegistry | None = None
    other_read_at: datetime | None = None
    pods: tuple[DaemonPod, ...] = ()
    pods_listed_for: str = ""
    pods_listed_at: datetime | None = None
    pod_labelled: bool = False
    must_force: bool = False
    removes_by_put: bool = False
    failures: int = 0
    failure: str = ""
    not_before: datetime | None = None
    throttled_until: datetime | None = None


class FabricDaemonState(Struct, frozen=True):
    """The index and peer map that the fabric daemon runs with, and whether it reports ready."""

    index: int
    peers: PeerMap
    ready: bool = False


class DaemonInput(Struct, frozen=True, kw_only=True):
    """The input of a daemon's decision.

    Attributes:
        pod: the daemon's own pod; None if it was not observed yet.
        fabric: the running fabric daemon; None if none runs.
        stop_deadline: None until the daemon is asked to stop; then the time until which it may remove its entry.
        now: aware UTC; the only clock.
    """

    identity: DaemonIdentity
    settings: DaemonRegistrationSettings
    state: RegistrationState
    pod: DaemonPod | None = None
    fabric: FabricDaemonState | None = None
    stop_deadline: datetime | None = None
    now: datetime

    @property
    def registry_ref(self) -> Ref:
        """The object the daemon registers in."""
        return self.identity.registry_ref(sharded=self.settings.protocol.sharded)

    @property
    def other_registry_ref(self) -> Ref:
        """The object it would register in with the opposite value of the feature gate."""
        return self.identity.registry_ref(sharded=not self.settings.protocol.sharded)

    @property
    def registry(self) -> DaemonRegistry | None:
        """The registry as last observed; None if it was not observed, or did not exist."""
        return self.state.observed.registry if self.state.observed is not None else None

    @property
    def domain_was_recreated(self) -> bool:
        """Whether the observed ComputeDomain has another uid: the domain was deleted and created again (DC-006)."""
        registry = self.registry
        return isinstance(registry, ComputeDomain) and registry.uid != self.identity.domain_uid

    @property
    def running_index(self) -> int | None:
        """The index the fabric daemon runs with; None if none runs."""
        return self.fabric.index if self.fabric is not None else None

    def decision_for_action(
        self, action: DaemonAction, why: ComputeDomainReason, **facts: Fact
    ) -> Decision[DaemonAction]:
        """Return the decision for an action, with a reason about the daemon's pod."""
        return Decision(action, (why.because(self.identity.pod_ref, **facts),))


class NvlinkCliqueDaemons(Struct, frozen=True):
    """The entries of one clique in a daemon's registry and in the other registry.

    Attributes:
        own: the entry of the daemon's node in its registry, of any pod and any clique.
        others: entries of other nodes; a node in both registries has two, the one of the daemon's registry last.
        own_in_other: the entry of the daemon's node in the other registry.
    """

    own: DaemonEntry | None
    others: tuple[DaemonEntry, ...]
    own_in_other: DaemonEntry | None = None

    @property
    def indices_of_other_nodes(self) -> frozenset[int]:
        """Indices of other nodes."""
        return frozenset(entry.index for entry in self.others if entry.index is not None)

    def other_node_with_index(self, index: int) -> str:
        """The first other node with this index; empty if there is none."""
        return next((entry.node for entry in self.others if entry.index == index), "")

    def other_nodes_with_index(self, index: int) -> tuple[str, ...]:
        """All other nodes with this index, sorted."""
        return tuple(sorted({entry.node for entry in self.others if entry.index == index}))

    def duplicate_index(self) -> int | None:
        """The smallest index that two nodes of the clique have; None if all indices differ."""
        holders: dict[int, str] = {}
        duplicates = set[int]()
        for entry in self._all():
            if entry.index is not None and holders.setdefault(entry.index, entry.node) != entry.node:
                duplicates.add(entry.index)
        return min(duplicates, default=None)

    def peer_map(self, limit: int) -> PeerMap:
        """The peer map of all entries whose index is from 0 to below the limit (DC-066)."""
        found = {entry.index: entry.ip for entry in self._all() if entry.index is not None and 0 <= entry.index < limit}
        return PeerMap(tuple(sorted(found.items())))

    def _all(self) -> tuple[DaemonEntry, ...]:
        return self.others if self.own is None else (*self.others, self.own)


def nvlink_clique_daemons_of(
    identity: DaemonIdentity, registry: DaemonRegistry | None, other: DaemonRegistry | None = None
) -> NvlinkCliqueDaemons:
    """Return a daemon's clique in its registry, joined with the entries of the other registry (DC-065)."""
    here = daemon_entries_of_nvlink_clique(identity.clique, registry)
    there = daemon_entries_of_nvlink_clique(identity.clique, other)
    others = [entry for entry in (*there, *here) if entry.node != identity.node]
    own = daemon_entry_of_node(identity.node, registry.daemon_entries) if registry is not None else None
    return NvlinkCliqueDaemons(own, tuple(others), daemon_entry_of_node(identity.node, there))


def daemon_entries_of_nvlink_clique(clique: str, registry: DaemonRegistry | None) -> tuple[DaemonEntry, ...]:
    """Return the entries of one clique; a ComputeDomainClique has no others."""
    if registry is None:
        return ()
    if isinstance(registry, ComputeDomainClique):
        return registry.daemon_entries
    return tuple(entry for entry in registry.daemon_entries if entry.clique == clique)


def daemon_entry_of_node(node: str, entries: Iterable[DaemonEntry]) -> DaemonEntry | None:
    """Return the entry of a node; None if it has none."""
    return next((entry for entry in entries if entry.node == node), None)


def choose_daemon_index(view: NvlinkCliqueDaemons, limit: int, *proposals: int | None) -> int | None:
    """Return the first valid free proposal, else the smallest free index (DC-020 to DC-022).

    Args:
        proposals: indices to prefer, the best first; None is skipped.

    Returns:
        None if all indices are taken.
    """
    used = view.indices_of_other_nodes
    for index in proposals:
        if index is not None and 0 <= index < limit and index not in used:
            return index
    return next((index for index in range(limit) if index not in used), None)
