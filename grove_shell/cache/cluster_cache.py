"""The operator's cache: every object that a decision reads, by its PodCliqueSet, updated by lists and watch events.

The response to a write of the operator is applied like a watch event, so the cache shows the write at once, and an
older event that arrives later changes nothing (PL-018).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.areas.topology.cluster_topology_snapshot import KINDS_THAT_SHOW_USE
from grove_core.resources.api_names import CLAIM_TEMPLATE_KIND, DOMAIN_KIND, GROUP_KIND, SET_KIND
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import compute_domain_from_json
from grove_core.resources.object_metadata import ObjectMetadata, metadata_in
from grove_core.resources.owned_object import OWNED_KINDS, owned_object_from_json
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.podgang import podgang_from_json
from grove_core.resources.scaling_group import scaling_group_from_json
from grove_core.resources.topology_usage import topology_in_template
from grove_shell.cache.cache_view import CacheView
from grove_shell.cache.cached_podcliqueset import Address, CachedPodCliqueSet
from grove_shell.cache.root_keys import NameReferenceIndex, RootKey, root_key_from_labels
from grove_shell.cache.topology_cache import TopologyCache
from grove_shell.client.object_store import CachedObject, Key, ObjectStore, Raw, metadata_of_raw

_FEWEST_SHARED: Final = 8_192
_SHARED_EACH: Final = 4  # strings of one object that others may have as well
Parser: TypeAlias = Callable[[Raw, dict[str, str]], Any]
PARSERS: Final[Mapping[str, Parser]] = MappingProxyType(
    {
        SET_KIND: podcliqueset_from_json,
        GROUP_KIND: scaling_group_from_json,
        "PodClique": podclique_from_json,
        "PodGang": podgang_from_json,
        "Pod": pod_from_json,
        DOMAIN_KIND: compute_domain_from_json,
        **dict.fromkeys((*OWNED_KINDS, CLAIM_TEMPLATE_KIND), owned_object_from_json),
    }
)
_AnEntry = CachedObject[Any] | None


class _Place(NamedTuple):
    """The root that an object belongs to, and the uid of its controller; pods of one controller share it."""

    root_key: RootKey
    controller: str = ""


class ClusterCache(CacheView):
    """The cache of one cluster. Mutable; used by one event loop.

    Attributes:
        changed: called with the key of each root that a change concerns.
    """

    def __init__(
        self, changed: Callable[[RootKey], None] = lambda _key: None, parsers: Mapping[str, Parser] = PARSERS
    ) -> None:
        """Start empty.

        Args:
            parsers: kind -> parser, topologies excepted.
        """
        super().__init__(TopologyCache(self._notify))
        self.changed = changed
        self._parsers = parsers
        self._template_users = NameReferenceIndex[Key]()
        self._places: dict[str, _Place] = {}  # uid of a scaling group or PodClique -> place of the objects it controls
        self._controlled: dict[str, dict[Address, None]] = {}  # uid of a controller -> its objects
        self._shared: dict[str, str] = {}
        self._most_shared = _FEWEST_SHARED
        self.stores = {
            kind: ObjectStore(
                partial(self._parse, kind), partial(self._file, kind), index_of=partial(self._place_of, kind)
            )
            for kind in parsers
        } | self.topologies.stores
        self.stores[CLAIM_TEMPLATE_KIND] = ObjectStore(partial(self._parse, CLAIM_TEMPLATE_KIND), self._on_template)
        self.stores[SET_KIND].subscribers.append(self._note_set)
        self.stores[DOMAIN_KIND].subscribers.append(self._note_domain)
        for kind in (GROUP_KIND, "PodClique"):
            self.stores[kind].subscribers.append(self._note_controller)
        for kind in ("Pod", "PodClique"):
            self.stores[kind].subscribers.append(self._note_bound)
        for kind in KINDS_THAT_SHOW_USE:
            self.stores[kind].subscribers.append(self._note_completeness)

    def replace_all_of_kind(self, kind: str, items: Iterable[Raw], version: str) -> None:
        """Apply a complete list of a kind as of a version; objects that it lacks are removed unless newer (RS9)."""
        was_lost = self._lost.pop(kind, None) is not None
        if kind in TOPOLOGY_KINDS:
            self.topologies.replace_all_of_kind(kind, items, version)
            return
        self._count_vanished(kind, self.stores[kind].replace_all_of_kind(items, version))
        if was_lost:
            self._requeue_all(kind)

    def drop(self, kind: str, raw: Raw, *, confirmed: bool = False) -> None:
        """Apply the deletion of an object.

        Args:
            confirmed: whether the server returned that the object does not exist; after a watch event it may only have
                lost its label (OP-106).
        """
        gone = self.stores[kind].drop(raw)
        if gone is not None and not confirmed:
            self._count_vanished(kind, [(metadata_of_raw(raw).namespace_and_name, gone)])

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Forget all of a kind, whose watch has failed: it counts as not collected (GT-024)."""
        self._lost[kind] = why
        if kind in TOPOLOGY_KINDS:
            self.topologies.mark_kind_unlisted(kind, why)
        elif kind in self.stores:
            self._count_vanished(kind, self.stores[kind].mark_kind_unlisted(why))
            self._requeue_all(kind)

    def root_key_of(self, kind: str, raw: Raw) -> RootKey | None:
        """Return the key of the set that an object belongs to, cached or not; None for no set."""
        place = self._place_of(kind, metadata_in(raw))
        return None if place is None else place.root_key

    def _parse(self, kind: str, raw: Raw) -> Any:  # noqa: ANN401 - of the type of the kind
        if len(self._shared) > self._most_shared:  # strings of deleted objects too; it fills again with events
            self._shared.clear()
            self._most_shared = max(
                _FEWEST_SHARED, _SHARED_EACH * sum(len(one.entries) for one in self.stores.values())
            )
        return self._parsers[kind](raw, self._shared)

    def _place_of(self, kind: str, meta: ObjectMetadata) -> _Place | None:
        controller = meta.controller.uid
        place = self._places.get(controller)
        if place is not None and kind != SET_KIND:
            return place
        root_key = root_key_from_labels(kind, meta)
        return None if root_key is None else _Place(root_key, controller)

    def _file(self, kind: str, key: Key, before: _AnEntry, after: _AnEntry) -> None:
        """Move an object into the cache of its set."""
        moves = before is None or after is None or (before.uid, before.index) != (after.uid, after.index)
        if moves and before is not None:
            self._take_out((kind, *key), before)
            if after is None or after.index.root_key != before.index.root_key:
                self._notify(before.index.root_key)
        if after is None:
            return
        root_key, controller = after.index
        if moves and controller:
            self._controlled.setdefault(controller, {})[kind, *key] = None
        if root_key[1]:
            set_cache = self._set_caches.get(root_key)
            if set_cache is None:
                set_cache = self._set_caches[root_key] = CachedPodCliqueSet(exchange_pod=self._exchange_pod)
            set_cache.put_object((kind, *key), controller, after.item)
        self._notify(root_key)

    def _exchange_pod(self, pod: Pod) -> None:
        self.stores["Pod"].exchange((pod.namespace, pod.name), pod)

    def _take_out(self, address: Address, entry: CachedObject[Any]) -> None:
        root_key, controller = entry.index
        controlled = self._controlled.get(controller)
        if controlled is not None:
            controlled.pop(address, None)
            if not controlled:
                del self._controlled[controller]
        set_cache = self._set_caches.get(root_key)
        if set_cache is not None:
            set_cache.remove_object(address, controller)
            if set_cache.is_empty:
                del self._set_caches[root_key]

    def _note_controller(self, _key: Key, before: _AnEntry, after: _AnEntry) -> None:
        """Move objects to the root of their controller, whatever their labels say (OP-075)."""
        if before is not None and (after is None or after.uid != before.uid or after.item is None):
            self._places.pop(before.uid, None)
        if after is None or after.item is None:
            return
        known = self._places.get(after.uid)
        if known is not None and known.root_key == after.index.root_key:
            return
        place = self._places[after.uid] = _Place(after.index.root_key, after.uid)
        for kind, *key in tuple(self._controlled.get(after.uid, ())):
            self.stores[kind].change_index((key[0], key[1]), place)

    def _note_set(self, key: Key, _before: _AnEntry, after: _AnEntry) -> None:
        """Note the topology and the templates that a set names."""
        root = None if after is None else after.item
        self.topologies.set_topology_used_by(
            key, "" if root is None else topology_in_template(root.spec.template).effective_topology_name
        )
        self._template_users.set_names_used_by(key, frozenset() if root is None else _templates_named_by(root))

    def _note_domain(self, key: Key, before: _AnEntry, after: _AnEntry) -> None:
        """Requeue the sets whose name a ComputeDomain begins with: they may want its name, of any owner (OP-075)."""
        namespace, name = key
        notified = {entry.index.root_key for entry in (before, after) if entry is not None}
        for root_key in ((namespace, name[:place]) for place, letter in enumerate(name) if letter == "-"):
            if root_key in self._set_caches and root_key not in notified:
                self._notify(root_key)

    def _note_bound(self, _key: Key, before: _AnEntry, after: _AnEntry) -> None:
        """Requeue the topology of a set whose number of bound pods changes."""
        was, now = _bound_at(before), _bound_at(after)
        if was != now:
            for root_key in dict.fromkeys(root_key for root_key, count in (was, now) if count):
                self.topologies.note_bound_pods_changed(root_key)

    def _note_completeness(self, _key: Key, before: _AnEntry, after: _AnEntry) -> None:
        """Requeue all topologies where an object becomes readable or unreadable that shows their use (TP-042)."""
        if _is_broken(before) != _is_broken(after):
            self.topologies.requeue_topologies()

    def _on_template(self, key: Key, _before: _AnEntry, _after: _AnEntry) -> None:
        self._template_specs = None
        for root_key in self._template_users.roots_using(key):
            self._notify(root_key)

    def _requeue_all(self, kind: str) -> None:
        """Requeue what depends on whether a kind is complete."""
        if kind in KINDS_THAT_SHOW_USE:
            self.topologies.requeue_topologies()
        for root_key in list(self._set_caches):
            self._notify(root_key)

    def _notify(self, root_key: RootKey) -> None:
        """Report a change of a root; objects of no set are of no root."""
        if root_key[1]:
            self.changed(root_key)

    def _count_vanished(self, kind: str, removed: Iterable[tuple[Key, CachedObject[Any]]]) -> None:
        """Count pods that disappeared from the watch; those that were being deleted do not count (OP-106)."""
        for (namespace, _), entry in removed if kind == "Pod" else ():
            if entry.item is None or not entry.item.deleting:
                self._vanished_pods[namespace] += 1


def _templates_named_by(root: PodCliqueSet) -> frozenset[Key]:
    """Return the templates that a set names, those included that its inline templates hide."""
    template = root.spec.template
    groups = (group.resource_sharing for group in template.pod_clique_scaling_groups)
    cliques = (clique.resource_sharing for clique in template.cliques)
    entries = chain(template.resource_sharing, *groups, *cliques)
    return frozenset((entry.namespace or root.ref.namespace, entry.name) for entry in entries)


def _bound_at(entry: _AnEntry) -> tuple[RootKey, int]:
    """Return the root of a pod or PodClique, and how many bound pods it shows."""
    if entry is None:
        return ("", ""), 0
    item = entry.item
    count = (item.status.scheduled or 0) if isinstance(item, PodClique) else int(item is not None and bool(item.node))
    return entry.index.root_key, count


def _is_broken(entry: _AnEntry) -> bool:
    return entry is not None and entry.item is None
