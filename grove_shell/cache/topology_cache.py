"""The cached topologies, and the sets that use them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final

from grove_core.kernel.frozen import FrozenDict
from grove_core.resources.cluster_topology import (
    DEFAULT_TOPOLOGY,
    TOPOLOGY_KINDS,
    ClusterTopology,
    cluster_topology_from_json,
    effective_topologies,
    shadowed_topology_bindings,
    topology_ref,
    unreadable_topology_names,
)
from grove_shell.cache.root_keys import NameReferenceIndex, RootKey, topology_cache_key
from grove_shell.client.object_store import CachedObject, Key, ObjectStore, Raw, StoresByKind

_NONE: Final[frozenset[str]] = frozenset()


class TopologyCache(StoresByKind):
    """All topologies of a cluster. Mutable; used by one event loop.

    Attributes:
        kept: whether this operator reconciles topologies; else they are only watched (TP-045).
        by_name: name -> topology; of two kinds with one name the one that counts.
    """

    def __init__(self, changed: Callable[[RootKey], None] = lambda _key: None) -> None:
        """Start empty; ``changed`` is called with the key of each root that a change concerns."""
        self.kept = True
        self.by_name = FrozenDict[str, ClusterTopology]()
        self.stores = {kind: ObjectStore(partial(_topology_of_kind, kind), self._on_change) for kind in TOPOLOGY_KINDS}
        self._changed = changed
        self._users = NameReferenceIndex[str]()

    @property
    def unreadable_topology_messages(self) -> Iterator[str]:
        """One sentence for each that cannot be read."""
        for kind, store in sorted(self.stores.items()):
            for (_, name), words in sorted(store.unreadable.items()):
                yield f"{kind}/{name}: cannot be read: {words}"

    @property
    def readable_topologies(self) -> Iterable[ClusterTopology]:
        """The readable topologies and bindings."""
        return chain.from_iterable(store.readable_objects.values() for store in self.stores.values())

    @property
    def are_both_kinds_listed(self) -> bool:
        """Whether both kinds were listed."""
        return all(store.is_listed for store in self.stores.values())

    @property
    def unreadable_topology_names(self) -> frozenset[str]:
        """The names whose topology that counts cannot be read."""
        refs = [topology_ref(name, kind) for kind, store in self.stores.items() for _, name in store.unreadable]
        return unreadable_topology_names(refs, self.readable_topologies) if refs else _NONE

    def knows_if_topology_exists(self, name: str) -> bool:
        """Return whether the cache shows reliably if a topology of this name exists."""
        unreadable = chain.from_iterable(store.unreadable for store in self.stores.values())
        return self.are_both_kinds_listed and all(other != name for _, other in unreadable)

    def knows_if_topology_of_set_exists(self, root_key: RootKey) -> bool:
        """Return the same for the topology that a set uses."""
        return self.are_both_kinds_listed and all(
            map(self.knows_if_topology_exists, self._users.names_used_by(root_key))
        )

    def shadowed_binding_of_name(self, name: str) -> ClusterTopology | None:
        """Return the ClusterTopologyBinding of a name that a ClusterTopology has too; None without one."""
        return shadowed_topology_bindings(self.readable_topologies).get(name)

    def keys_of_sets_using_topology(self, name: str) -> list[RootKey]:
        """Return the keys of the sets that use a topology, by name or by default, sorted."""
        return self._users.roots_using(name)

    def replace_all_of_kind(self, kind: str, items: Iterable[Raw], version: str) -> None:
        """Apply a complete list of a kind; the first one requeues all that wait for it."""
        was_listed = self.stores[kind].is_listed
        super().replace_all_of_kind(kind, items, version)
        if not was_listed:
            there = (name for _, name in self.stores[kind].entries)
            for name in sorted({DEFAULT_TOPOLOGY, *self._users.all_used_names, *there}):
                self._requeue_users(name)

    def requeue_topologies(self) -> None:
        """Requeue all topologies: what is known of their users has changed."""
        for name in dict.fromkeys((DEFAULT_TOPOLOGY, *self.by_name)):
            self._requeue_topology(name)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Forget all of a kind: its watch has failed."""
        super().mark_kind_unlisted(kind, why)
        self._requeue_topology(DEFAULT_TOPOLOGY)
        for name in sorted(self._users.all_used_names):
            self._requeue_users(name)

    def set_topology_used_by(self, root_key: RootKey, topology: str) -> None:
        """Set the topology that a set uses, empty for none, and requeue those that it starts or stops to use."""
        now, before = frozenset({topology}) if topology else _NONE, self._users.names_used_by(root_key)
        if now != before:
            self._users.set_names_used_by(root_key, now)
            for name in (*before, *now):
                self._requeue_topology(name)

    def note_bound_pods_changed(self, root_key: RootKey) -> None:
        """Requeue the topology of a set whose number of bound pods has changed."""
        for name in self._users.names_used_by(root_key):
            self._requeue_topology(name)

    def _on_change(
        self, key: Key, _before: CachedObject[ClusterTopology] | None, _after: CachedObject[ClusterTopology] | None
    ) -> None:
        self.by_name = effective_topologies(self.readable_topologies)
        self._requeue_users(key[1])

    def _requeue_users(self, name: str) -> None:
        """Requeue a topology and the sets that use it."""
        self._requeue_topology(name)
        for root_key in self.keys_of_sets_using_topology(name):
            self._changed(root_key)

    def _requeue_topology(self, name: str) -> None:
        if self.kept:
            self._changed(topology_cache_key(name))


def _topology_of_kind(kind: str, raw: Raw) -> ClusterTopology:
    return cluster_topology_from_json({**raw, "kind": kind})
