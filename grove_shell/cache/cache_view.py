"""Reading the cache: the snapshot of a PodCliqueSet or a topology at a moment, and single objects."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.areas.topology.topology_snapshot import KINDS_THAT_SHOW_USE, TopologySnapshot
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TOPOLOGY_KIND, TOPOLOGY_KINDS
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.owner_reference import ControllerReference
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.topology_usage import SET_KIND, TopologyUser
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.cache.event_filter import EventFilter, incarnation_of
from grove_shell.cache.named_objects import NamedObjects
from grove_shell.cache.root_keys import RootKey, is_topology_key, key_of_topology, root_key_in
from grove_shell.cache.set_cache import Address, Object, SetCache, address_of
from grove_shell.cache.topology_cache import TopologyCache

Observation: TypeAlias = Snapshot | TopologySnapshot
"""What a plan of one root is made of."""

TEMPLATE_KIND: Final = "ResourceClaimTemplate"


class CacheEntry(NamedTuple):
    """Where an object is cached: the key of its root, its uid and version, and the uid of its controller."""

    root_key: RootKey
    uid: str
    version: int
    controller: str = ""


class CacheView:
    """The readable side of the cache; :class:`ClusterCache` applies events to it.

    Attributes:
        configuration, served: put into every snapshot.
        topologies: the topologies, which belong to no set.
    """

    def __init__(self, topologies: TopologyCache) -> None:
        """Start empty."""
        self.configuration = Configuration()
        self.served = ServedApis()
        self.topologies = topologies
        self._set_caches: dict[RootKey, SetCache] = {}
        self._entries: defaultdict[str, dict[Address, CacheEntry]] = defaultdict(dict)
        self._root_of_owner: dict[str, RootKey] = {}
        self._events = EventFilter()
        self._lost: dict[str, str] = {}
        self._vanished_pods: defaultdict[str, int] = defaultdict(int)
        self._templates: NamedObjects[FrozenMap] = NamedObjects()  # of all owners: any set may name them
        self._domains: NamedObjects[ComputeDomain] = NamedObjects()  # of all owners: a name may be taken
        self._claims: NamedObjects[OwnedObject] = NamedObjects()

    def has_tombstone(self, uid: object) -> bool:
        """Return whether an object of this uid was deleted, by the events so far."""
        return uid in self._events

    def pods_of(self, root_key: RootKey, clique: str) -> Mapping[str, str]:
        """Return name -> uid of the pods that a PodClique controls, readable or not."""
        set_cache = self._set_caches.get(root_key)
        if set_cache is None:
            return {}
        pods = {name: pod.uid for name, pod in set_cache.pods.get(clique, {}).items()}
        for address in set_cache.broken:
            if address[0] == "Pod" and (entry := self._entries["Pod"][address]).controller == clique:
                pods[address[2]] = entry.uid
        return pods

    def knows(self, kind: str, raw: Mapping[str, Any]) -> bool:
        """Return whether an object is cached, in any version."""
        known = self._entries[kind].get(address_of(kind, raw))
        return known is not None and known.uid == incarnation_of(raw).uid

    def namespaces(self) -> list[str]:
        """Return the namespaces that hold an object of a set, sorted."""
        return sorted({namespace for namespace, name in self._set_caches if name})

    def vanished_pods(self, namespace: str) -> int:
        """Return how many pods disappeared from the watch without a deletion timestamp (OP-106)."""
        return self._vanished_pods.get(namespace, 0)

    def leftovers(self, root_key: RootKey) -> list[ScalingGroup | PodClique]:
        """Return the parts of a deleted set that are being deleted; a set that cannot be read is none (WL-001)."""
        set_cache = self._set_caches.get(root_key)
        if set_cache is None or not self.is_gone(root_key):
            return []
        return sorted(set_cache.leaving, key=lambda part: part.ref.sort_key)

    def newest(self, kind: str) -> int:
        """Return the newest version seen of any object of a kind. Linear in these objects."""
        if kind in TOPOLOGY_KINDS:
            return self.topologies.newest(kind)
        return max((entry.version for entry in self._entries[kind].values()), default=0)

    def is_rolled_back(self, ref: Ref, raw: Mapping[str, Any], as_of: int) -> bool:
        """Return whether a list as of a version shows an object in an older version than was known by then."""
        known = self._entries[ref.kind].get((ref.kind, ref.namespace, ref.name))
        return self._events.is_rolled_back(incarnation_of(raw), known, as_of)

    def is_gone(self, root_key: RootKey) -> bool:
        """Return whether a set is known not to exist; one that cannot be read exists."""
        set_cache = self._set_caches.get(root_key)
        if SET_KIND in self._lost or is_topology_key(root_key):
            return False
        return set_cache is None or (
            set_cache.root is None and all(kind != SET_KIND for kind, _, _ in set_cache.broken)
        )

    def find(self, ref: Ref) -> Object | None:
        """Return an object by its address; None without one."""
        if ref.kind in TOPOLOGY_KINDS:
            return self.topologies.find(ref)
        address = (ref.kind, ref.namespace, ref.name)
        entry = self._entries[ref.kind].get(address)
        if entry is None:
            return None
        set_cache = self._set_caches[entry.root_key]
        if ref.kind == "Pod":
            return set_cache.pods.get(entry.controller, {}).get(ref.name)
        return set_cache.root if ref.kind == SET_KIND else set_cache.items.get(address)

    def holds(self, root_key: RootKey) -> bool:
        """Return whether anything of a root is cached."""
        return root_key in self._set_caches or (is_topology_key(root_key) and self._has_topology(root_key[1]))

    def root_keys(self) -> list[RootKey]:
        """Return the keys of all roots: sets, deleted ones with leftovers included, and reconciled topologies."""
        names = {DEFAULT_TOPOLOGY, *self.topologies.by_name} if self.topologies.kept else ()
        topologies = (key_of_topology(name) for name in names if self._has_topology(name))
        return [*(root_key for root_key in self._set_caches if root_key[1]), *topologies]

    def of(self, root_key: RootKey, kind: str) -> list[Ref]:
        """Return the addresses of the objects of a kind that belong to a set."""
        set_cache = self._set_caches.get(root_key)
        return [] if set_cache is None else set_cache.refs(kind)

    def root_key_in(self, kind: str, raw: Mapping[str, Any], owner: ControllerReference) -> RootKey | None:
        """Return the key of the set that an object belongs to, cached or not; None for no set."""
        if kind == TEMPLATE_KIND:  # of no set; any set may name it
            return (str(raw["metadata"].get("namespace") or "default"), "")
        return root_key_in(kind, raw, owner, self._root_of_owner)

    @property
    def lost(self) -> Mapping[str, str]:
        """Kinds whose watch has failed -> why."""
        return MappingProxyType(self._lost)

    def broken(self) -> dict[str, str]:
        """Return kind and name of each object that cannot be read -> what is wrong with it."""
        return {
            f"{kind} {namespace}/{name}": words
            for set_cache in self._set_caches.values()
            for (kind, namespace, name), words in set_cache.broken.items()
        }

    def unread(self) -> Iterator[str]:
        """Return a sentence for each object that cannot be read, topologies included (OP-101)."""
        yield from self.topologies.unread
        yield from (f"{name}: cannot be read: {words}" for name, words in sorted(self.broken().items()))

    def observation(self, root_key: RootKey, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Observation | None:
        """Return the snapshot of a set or a topology; None if it does not exist."""
        if is_topology_key(root_key):
            return self._observe_topology(root_key[1], now, attempts)
        return self.observe(root_key, now, attempts)

    def observe(self, root_key: RootKey, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set; None if it does not exist. Linear in its objects."""
        set_cache = self._set_caches.get(root_key)
        if set_cache is None or set_cache.root is None:
            return None
        unknown = frozenset(self._lost) | {kind for kind, _, _ in set_cache.broken}
        whole = EVERY_KIND | {TOPOLOGY_KIND} if self.topologies.knows_that_of(root_key) else EVERY_KIND
        return replace(
            set_cache.seen(set_cache.root, now, attempts),
            named_domains=self._domains.frozen,
            named_claims=self._claims.frozen,
            configuration=self.configuration,
            served=self.served,
            not_collected=unknown,
            complete=whole - unknown,
            claim_templates=self._templates.frozen,
            topologies=self.topologies.by_name,
        )

    def _has_topology(self, name: str) -> bool:
        """Return whether a topology exists, or is the default one that the operator creates."""
        is_default = name == DEFAULT_TOPOLOGY and self.configuration.topology.enabled
        is_to_be = is_default and self.topologies.knows(name)
        return is_to_be or name in self.topologies.by_name

    def _observe_topology(self, name: str, now: datetime, attempts: tuple[Attempt, ...]) -> TopologySnapshot | None:
        """Linear in all sets, and in the objects of the sets that use the topology."""
        if not self._has_topology(name):
            return None
        broken = {kind for set_cache in self._set_caches.values() for kind, _, _ in set_cache.broken}
        return TopologySnapshot(
            name=name,
            topology=self.topologies.by_name.get(name),
            users=tuple(
                TopologyUser(*root_key, self._set_caches[root_key].bound)
                for root_key in sorted(self.topologies.users(name))
            ),
            settings=self.configuration.topology,
            now=now,
            not_collected=tuple(sorted(KINDS_THAT_SHOW_USE & (self._lost.keys() | broken))),
            attempts=attempts,
            shadowed=self.topologies.shadowed(name),
        )
