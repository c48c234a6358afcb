"""The operator's cache: every object that a decision reads, by its PodCliqueSet, updated by lists and watch events.

The response to a write of the operator is applied like a watch event, so the cache shows the write at once, and an
older event that arrives later changes nothing (PL-018).
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.topology.topology_snapshot import KINDS_THAT_SHOW_USE
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.meta import Resource
from grove_core.resources.owned_object import CLAIM_KIND, OWNED_KINDS, OwnedObject, owned_object_of
from grove_core.resources.owner_reference import controller_in
from grove_core.resources.pod import Pod, pod_of
from grove_core.resources.podclique import GROUP_KIND, PodClique, podclique_of
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.podgang import podgang_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of
from grove_core.resources.topology_usage import SET_KIND
from grove_shell.cache.cache_view import TEMPLATE_KIND, CacheEntry, CacheView
from grove_shell.cache.event_filter import Incarnation, incarnation_of
from grove_shell.cache.owner_index import OwnerIndex
from grove_shell.cache.root_keys import RootKey
from grove_shell.cache.set_cache import Address, Object, SetCache, address_of
from grove_shell.cache.template_users import TemplateUsers
from grove_shell.cache.topology_cache import TopologyCache

_FEWEST_SHARED: Final = 8_192
_SHARED_EACH: Final = 4  # strings of one object that others may have as well
_PROJECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any], dict[str, str]], Object]]] = MappingProxyType(
    {
        SET_KIND: podcliqueset_of,
        GROUP_KIND: scaling_group_of,
        "PodClique": podclique_of,
        "PodGang": podgang_of,
        "Pod": pod_of,
        DOMAIN_KIND: compute_domain_of,
        **dict.fromkeys((*OWNED_KINDS, TEMPLATE_KIND), owned_object_of),
    }
)


class ClusterCache(CacheView):
    """The cache of one cluster. Mutable; used by one event loop.

    Attributes:
        changed: called with the key of each root that a change concerns.
    """

    def __init__(self, changed: Callable[[RootKey], None] = lambda _key: None) -> None:
        """Start empty."""
        super().__init__(TopologyCache(self._notify))
        self.changed = changed
        self._template_users = TemplateUsers()
        self._owner_index = OwnerIndex()
        self._shared: dict[str, str] = {}
        self._most_shared = _FEWEST_SHARED

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list of a kind as of a version; objects that it lacks are removed unless newer (RS9)."""
        was_lost = self._lost.pop(kind, None) is not None
        if kind in TOPOLOGY_KINDS:
            self.topologies.replace(kind, items, version)
            return
        found = {address_of(kind, raw): raw for raw in items}
        there = {address: incarnation_of(raw) for address, raw in found.items()}
        for address in self._events.deleted_by_list(self._entries[kind], there, version):
            self._count_vanished(address)
            self._remove(address)
        for raw in found.values():
            self.put(kind, raw)
        if was_lost:
            self._completeness_changed(kind)
            for root_key in list(self._set_caches):
                self._notify(root_key)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply an event of a new or changed object; a stale event changes nothing."""
        if kind in TOPOLOGY_KINDS:
            self.topologies.put(kind, raw)
            return
        address, incarnation = address_of(kind, raw), incarnation_of(raw)
        owner = controller_in(raw)
        before, root_key = self._entries[kind].get(address), self.root_key_in(kind, raw, owner)
        if not self._events.accepts(incarnation, before):
            return
        is_misplaced = before is not None and owner.uid in self._root_of_owner and root_key != before.root_key  # OP-003
        if before is not None and (before.uid, before.version) == incarnation and not is_misplaced:
            return
        self._events.note_successor(incarnation, before)
        if root_key is None:
            self._release(address, incarnation)
            return
        self._events.discard(incarnation.uid)
        now = CacheEntry(root_key, *incarnation, owner.uid)
        if before is not None and before._replace(version=incarnation.version) != now:
            self._remove_entry(address, before)
            if before.root_key != root_key:
                self._notify_of(address, before.root_key)
        self._add_entry(address, now)
        self._project(root_key, address, raw)
        if len(self._shared) > self._most_shared:
            self._renew_shared()
        self._notify_of(address, root_key)

    def _add_entry(self, address: Address, entry: CacheEntry) -> None:
        self._entries[address[0]][address] = entry
        self._owner_index.note(entry.controller, address)

    def _project(self, root_key: RootKey, address: Address, raw: Mapping[str, Any]) -> None:
        kind = address[0]
        set_cache = self._set_caches.setdefault(root_key, SetCache())
        try:
            self._insert(set_cache, root_key, address, _PROJECTIONS[kind](raw, self._shared))
            if set_cache.broken.pop(address, None) is not None:
                self._completeness_changed(kind)
        except MalformedObject as fault:
            self._extract(address, self._entries[kind][address])
            set_cache.broken[address] = "; ".join(map(str, fault.problems))
            self._completeness_changed(kind)

    def overwrite(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Replace an object by the version that a restored store shows, also an older one (OP-084)."""
        address = address_of(kind, raw)
        if address in self._entries[kind]:
            self._remove(address)
        self._events.discard(incarnation_of(raw).uid)
        self.put(kind, raw)

    def drop(self, kind: str, raw: Mapping[str, Any], *, confirmed: bool = False) -> None:
        """Apply the deletion of an object.

        Args:
            kind, raw: of the object in its last version.
            confirmed: whether the server returned that the object does not exist; after a watch event it may only have
                lost its label (OP-106).
        """
        if kind in TOPOLOGY_KINDS:
            self.topologies.drop(kind, raw)
            return
        address = address_of(kind, raw)
        if self._events.accepts_deletion(incarnation_of(raw), self._entries[kind].get(address)):
            if not confirmed:
                self._count_vanished(address)
            self._remove(address)

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Forget all of a kind, whose watch has failed: it counts as not collected (GT-024)."""
        self._lost[kind] = why
        if kind in TOPOLOGY_KINDS:
            self.topologies.mark_unlisted(kind)
            return
        for address in list(self._entries[kind]):
            self._count_vanished(address)
            self._remove(address)
        self._completeness_changed(kind)
        for root_key in list(self._set_caches):
            self._notify(root_key)

    def _completeness_changed(self, kind: str) -> None:
        """Requeue all topologies if the completeness of a kind has changed by which their users are found (TP-042)."""
        if kind in KINDS_THAT_SHOW_USE:
            self.topologies.requeue_topologies()

    def _notify(self, root_key: RootKey) -> None:
        """Report a change of a root; objects of no set are of no root."""
        if root_key[1]:
            self.changed(root_key)

    def _notify_of(self, address: Address, root_key: RootKey) -> None:
        """Report a change of an object to its root, and of a template to the sets that name it."""
        self._notify(root_key)
        if address[0] == TEMPLATE_KIND:
            for user in self._template_users.of(address[1:]):
                self._notify(user)

    def _renew_shared(self) -> None:
        """Empty the table of shared strings, which holds those of deleted objects too; it fills again with events."""
        self._shared.clear()
        self._most_shared = max(_FEWEST_SHARED, _SHARED_EACH * sum(map(len, self._entries.values())))

    def _insert(self, set_cache: SetCache, root_key: RootKey, address: Address, item: Object) -> None:
        if isinstance(item, Pod):
            pods = set_cache.pods.setdefault(item.owner_uid, {})
            if _is_bound(pods.get(item.name)) != _is_bound(item):
                self.topologies.note_bound(root_key)
            pods[item.name] = item
        elif isinstance(item, PodCliqueSet):
            set_cache.root = item
            self.topologies.note(root_key, item)
            self._template_users.note(root_key, item)
        else:
            if isinstance(item, PodClique) and _scheduled(set_cache.items.get(address)) != _scheduled(item):
                self.topologies.note_bound(root_key)
            set_cache.items[address] = item
            if isinstance(item, ComputeDomain):
                self._domains.put(*address[1:], item)
            if isinstance(item, OwnedObject) and address[0] == CLAIM_KIND:
                self._claims.put(*address[1:], item)
            if isinstance(item, OwnedObject) and address[0] == TEMPLATE_KIND:
                self._templates.put(*address[1:], item.spec)
            if isinstance(item, ScalingGroup | PodClique) and self._root_of_owner.get(item.uid) != root_key:
                self._root_of_owner[item.uid] = root_key
                self._move(self._owner_index.of(item.uid), root_key)

    def _move(self, addresses: Iterable[Address], root_key: RootKey) -> None:
        """Move objects to the root of their controller, whatever their labels say (OP-075)."""
        for address in addresses:
            kind, entry = address[0], self._entries[address[0]][address]
            if entry.root_key == root_key:
                continue
            item, words = self.find(Ref("", *address)), self._set_caches[entry.root_key].broken.get(address)
            self._remove_entry(address, entry)
            self._add_entry(address, entry._replace(root_key=root_key))
            set_cache = self._set_caches.setdefault(root_key, SetCache())
            if words is not None:
                set_cache.broken[address] = words
                self._completeness_changed(kind)
            elif item is not None:
                self._insert(set_cache, root_key, address, item)
            self._notify_of(address, entry.root_key)
            self._notify_of(address, root_key)

    def _extract(self, address: Address, entry: CacheEntry) -> None:
        set_cache = self._set_caches[entry.root_key]
        kind, _, name = address
        if set_cache.broken.pop(address, None) is not None:
            self._completeness_changed(kind)
        if kind == DOMAIN_KIND:
            self._domains.drop(*address[1:])
        if kind == CLAIM_KIND:
            self._claims.drop(*address[1:])
        if kind == TEMPLATE_KIND:
            self._templates.drop(*address[1:])
        if kind == SET_KIND:
            set_cache.root = None
            self.topologies.note(entry.root_key, None)
            self._template_users.note(entry.root_key, None)
        elif kind == "Pod":
            if _is_bound(set_cache.drop_pod(entry.controller, name)):
                self.topologies.note_bound(entry.root_key)
        elif (gone := set_cache.items.pop(address, None)) is not None:
            self._root_of_owner.pop(entry.uid, None)
            if _scheduled(gone):
                self.topologies.note_bound(entry.root_key)

    def _count_vanished(self, address: Address) -> None:
        """Count a pod that disappeared from the watch; one that was being deleted does not count (OP-106)."""
        if address[0] != "Pod":
            return
        found = self.find(Ref("", *address))
        if not (isinstance(found, Pod) and found.deleting):
            self._vanished_pods[address[1]] += 1

    def _remove(self, address: Address) -> None:
        entry = self._entries[address[0]].pop(address)
        self._remove_entry(address, entry)
        self._notify_of(address, entry.root_key)

    def _release(self, address: Address, incarnation: Incarnation) -> None:
        """Remove an object that belongs to no root any more; no tombstone is kept of one that never did."""
        is_here = address in self._entries[address[0]]
        if is_here:
            self._remove(address)
        if is_here or incarnation.uid in self._events:
            self._events.record(*incarnation)

    def _remove_entry(self, address: Address, entry: CacheEntry) -> None:
        """Remove an object from the cache of its set, and that cache if it is empty then."""
        self._owner_index.forget(entry.controller, address)
        self._extract(address, entry)
        if self._set_caches[entry.root_key].is_empty:
            del self._set_caches[entry.root_key]


def _scheduled(item: Resource | None) -> int:
    """Return the number of bound pods in the status of a PodClique; 0 for other kinds."""
    return (item.status.scheduled or 0) if isinstance(item, PodClique) else 0


def _is_bound(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.node)
