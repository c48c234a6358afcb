"""The cached topologies, and the sets that use them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import (
    DEFAULT_TOPOLOGY,
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_of,
    effective_topologies,
    shadowed_bindings,
    topology_ref,
)
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.topology_usage import topology_use_of
from grove_shell.cache.event_filter import EventFilter, Incarnation, incarnation_of
from grove_shell.cache.root_keys import RootKey, key_of_topology
from grove_shell.cache.topology_users import TopologyUsers


class TopologyCache:
    """All topologies of a cluster. Mutable; used by one event loop.

    Attributes:
        kept: whether this operator reconciles topologies; else they are only watched (TP-045).
        by_name: name -> topology; of two kinds with one name the one that counts.
    """

    def __init__(self, changed: Callable[[RootKey], None]) -> None:
        """Start empty; ``changed`` is called with the key of each root that a change concerns."""
        self.kept = True
        self.by_name: Mapping[str, ClusterTopology] = FrozenDict()
        self._changed = changed
        self._known: dict[Ref, Incarnation] = {}  # of each that exists, readable or not
        self._found: dict[Ref, ClusterTopology] = {}
        self._unread: dict[Ref, str] = {}
        self._listed: set[str] = set()
        self._events = EventFilter()
        self._users = TopologyUsers()

    @property
    def unread(self) -> Iterator[str]:
        """One sentence for each that cannot be read."""
        return (f"{ref.short}: cannot be read: {words}" for ref, words in sorted(self._unread.items(), key=str))

    def knows(self, name: str) -> bool:
        """Return whether the cache shows reliably if a topology of this name exists."""
        return self._listed.issuperset(TOPOLOGY_KINDS) and all(ref.name != name for ref in self._unread)

    def knows_that_of(self, root_key: RootKey) -> bool:
        """Return the same for the topology that a set uses."""
        return self.knows(self._users.used_by(root_key))

    def shadowed(self, name: str) -> ClusterTopology | None:
        """Return the ClusterTopologyBinding of a name that a ClusterTopology has too; None without one."""
        return shadowed_bindings(self._found.values()).get(name)

    def find(self, ref: Ref) -> ClusterTopology | None:
        """Return a topology by its address; None without one."""
        return self._found.get(ref)

    def newest(self, kind: str) -> int:
        """Return the newest version seen of any topology of a kind; 0 without one."""
        return max((incarnation.version for ref, incarnation in self._known.items() if ref.kind == kind), default=0)

    def users(self, name: str) -> frozenset[RootKey]:
        """Return the keys of the sets that use a topology, by name or by default."""
        return self._users.of(name)

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list of a kind as of a version; newer objects stay (RS9)."""
        found = {topology_ref(str(raw["metadata"]["name"]), kind): raw for raw in items}
        there = {ref: incarnation_of(raw) for ref, raw in found.items()}
        known = {ref: incarnation for ref, incarnation in self._known.items() if ref.kind == kind}
        for ref in self._events.deleted_by_list(known, there, version):
            self._forget(ref)
        for raw in found.values():
            self.put(kind, raw)
        if kind not in self._listed:
            self._listed.add(kind)
            for name in {DEFAULT_TOPOLOGY, *self._users.topologies, *(ref.name for ref in there)}:
                self._requeue_users(name)

    def requeue_topologies(self) -> None:
        """Requeue all topologies: what is known of their users has changed."""
        for name in {DEFAULT_TOPOLOGY, *self.by_name}:
            self._requeue_topology(name)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply an event of a new or changed topology."""
        ref, incarnation = topology_ref(str(raw["metadata"]["name"]), kind), incarnation_of(raw)
        before = self._known.get(ref)
        if incarnation == before or not self._events.accepts(incarnation, before):
            return
        self._events.note_successor(incarnation, before)
        self._events.discard(incarnation.uid)
        self._known[ref] = incarnation
        try:
            self._found[ref] = cluster_topology_of({**raw, "kind": kind})
            self._unread.pop(ref, None)
        except MalformedObject as fault:
            self._found.pop(ref, None)
            self._unread[ref] = "; ".join(map(str, fault.problems))
        self._requeue_all(ref.name)

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply an event of a deletion."""
        ref = topology_ref(str(raw["metadata"]["name"]), kind)
        if self._events.accepts_deletion(incarnation_of(raw), self._known.get(ref)):
            self._forget(ref)

    def mark_unlisted(self, kind: str) -> None:
        """Forget all of a kind: its watch has failed."""
        self._listed.discard(kind)
        for ref in [ref for ref in self._known if ref.kind == kind]:
            self._forget(ref)
        self._requeue_topology(DEFAULT_TOPOLOGY)
        for name in self._users.topologies:
            self._requeue_users(name)

    def note(self, root_key: RootKey, root: PodCliqueSet | None) -> None:
        """Take in a new, changed or deleted set, and requeue the topologies that it starts or stops to use."""
        now, before = (
            topology_use_of(root.spec.template).topology if root is not None else "",
            self._users.used_by(root_key),
        )
        if now == before:
            return
        self._users.note(root_key, now)
        for name in filter(None, (before, now)):
            self._requeue_topology(name)

    def note_bound(self, root_key: RootKey) -> None:
        """Requeue the topology of a set whose number of bound pods has changed."""
        if name := self._users.used_by(root_key):
            self._requeue_topology(name)

    def _forget(self, ref: Ref) -> None:
        del self._known[ref]
        self._found.pop(ref, None)
        self._unread.pop(ref, None)
        self._requeue_all(ref.name)

    def _requeue_all(self, name: str) -> None:
        """Requeue whatever a changed topology concerns."""
        self.by_name = FrozenDict(effective_topologies(self._found.values()))
        self._requeue_users(name)

    def _requeue_users(self, name: str) -> None:
        """Requeue a topology and the sets that use it."""
        self._requeue_topology(name)
        for root_key in sorted(self._users.of(name)):
            self._changed(root_key)

    def _requeue_topology(self, name: str) -> None:
        if self.kept:
            self._changed(key_of_topology(name))
