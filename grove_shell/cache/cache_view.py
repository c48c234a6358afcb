"""Reading the cache: the snapshot of a PodCliqueSet or a topology at a moment, and single objects."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from grove_core.areas.topology.cluster_topology_snapshot import KINDS_THAT_SHOW_USE, ClusterTopologySnapshot
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, CLAIM_TEMPLATE_KIND, DOMAIN_KIND, SET_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.topology_usage import TopologyUser
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.cache.cached_podcliqueset import CachedPodCliqueSet, Object
from grove_shell.cache.root_keys import RootKey, is_topology_cache_key, topology_cache_key
from grove_shell.cache.topology_cache import TopologyCache
from grove_shell.client.object_store import Key, StoresByKind

Observation: TypeAlias = Snapshot | ClusterTopologySnapshot
"""What a plan of one root is made of."""


class CacheView(StoresByKind):
    """The readable side of the cache; :class:`ClusterCache` applies events to it.

    Attributes:
        configuration, served: put into every snapshot.
        topologies: the topologies, which belong to no set.
    """

    def __init__(self, topologies: TopologyCache) -> None:
        """Start empty; the stores are those of the subclass."""
        self.configuration = Configuration()
        self.served = ServedApis()
        self.topologies = topologies
        self._set_caches: dict[RootKey, CachedPodCliqueSet] = {}
        self._lost: dict[str, str] = {}
        self._template_specs: FrozenDict[Key, FrozenMap] | None = None  # None after a change
        self._vanished_pods: defaultdict[str, int] = defaultdict(int)

    def pod_uids_of_clique(self, root_key: RootKey, clique: str) -> Mapping[str, str]:
        """Return name -> uid of the pods that a PodClique controls, readable or not."""
        set_cache = self._set_caches.get(root_key)
        if set_cache is None:
            return {}
        pods = {name: pod.uid for name, pod in set_cache.pods.get(clique, {}).items()}
        for (kind, *key), controller in set_cache.broken.items():
            if kind == "Pod" and controller == clique:
                pods[key[1]] = self.stores[kind].entries[key[0], key[1]].uid
        return pods

    def namespaces_with_set_objects(self) -> list[str]:
        """Return the namespaces that hold an object of a set, sorted."""
        return sorted({namespace for namespace, _ in self._set_caches})

    def vanished_pod_count(self, namespace: str) -> int:
        """Return how many pods disappeared from the watch without a deletion timestamp (OP-106)."""
        return self._vanished_pods.get(namespace, 0)

    def leftovers_of_deleted_set(self, root_key: RootKey) -> list[ScalingGroup | PodClique]:
        """Return the parts of a deleted set that are being deleted; a set that cannot be read is none (WL-001)."""
        set_cache = self._set_caches.get(root_key)
        if set_cache is None or not self.is_set_known_absent(root_key):
            return []
        return sorted(set_cache.groups_and_cliques_being_deleted, key=lambda part: part.ref.sort_key)

    def is_set_known_absent(self, root_key: RootKey) -> bool:
        """Return whether a set is known not to exist; one that cannot be read exists."""
        set_cache = self._set_caches.get(root_key)
        if SET_KIND in self._lost or is_topology_cache_key(root_key):
            return False
        return set_cache is None or (
            set_cache.root is None and all(kind != SET_KIND for kind, _, _ in set_cache.broken)
        )

    def find_object(self, ref: Ref) -> Object | None:
        """Return an object by its address; None without one."""
        found: Object | None = self.stores[ref.kind].get_readable_object((ref.namespace or "default", ref.name))
        return found

    def has_anything_of_root(self, root_key: RootKey) -> bool:
        """Return whether anything of a root is cached."""
        return root_key in self._set_caches or (is_topology_cache_key(root_key) and self._has_topology(root_key[1]))

    def root_keys(self) -> list[RootKey]:
        """Return the keys of all roots: sets, deleted ones with leftovers included, and reconciled topologies."""
        names = dict.fromkeys((DEFAULT_TOPOLOGY, *self.topologies.by_name)) if self.topologies.kept else ()
        topologies = (topology_cache_key(name) for name in names if self._has_topology(name))
        return [*self._set_caches, *topologies]

    def refs_of_kind_in_set(self, root_key: RootKey, kind: str) -> list[Ref]:
        """Return the addresses of the objects of a kind that belong to a set."""
        set_cache = self._set_caches.get(root_key)
        return [] if set_cache is None else set_cache.refs_of_kind(kind)

    @property
    def failed_watch_reasons(self) -> Mapping[str, str]:
        """Kinds whose watch has failed -> why."""
        return MappingProxyType(self._lost)

    def unreadable_objects_of_sets(self) -> dict[str, str]:
        """Return kind and name of each object of a set that cannot be read -> what is wrong with it."""
        return {
            f"{kind} {'/'.join(key)}": words
            for kind, store in self.stores.items()
            if kind not in self.topologies.stores
            for key, words in store.unreadable.items()
        }

    def unreadable_object_messages(self) -> Iterator[str]:
        """Yield a sentence for each object that cannot be read, topologies included (OP-004)."""
        yield from self.topologies.unreadable_topology_messages
        yield from (
            f"{name}: cannot be read: {words}" for name, words in sorted(self.unreadable_objects_of_sets().items())
        )

    def snapshot_of_root(
        self, root_key: RootKey, now: datetime, attempts: tuple[Attempt, ...] = ()
    ) -> Observation | None:
        """Return the snapshot of a set or a topology; None if it does not exist."""
        if is_topology_cache_key(root_key):
            return self._observe_topology(root_key[1], now, attempts)
        return self.snapshot_of_set(root_key, now, attempts)

    def snapshot_of_set(self, root_key: RootKey, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set; None if it does not exist. Linear in its objects."""
        set_cache = self._set_caches.get(root_key)
        if set_cache is None or set_cache.root is None:
            return None
        unknown = frozenset(self._lost) | {kind for kind, _, _ in set_cache.broken}
        whole = (
            EVERY_KIND | {TOPOLOGY_KIND} if self.topologies.knows_if_topology_of_set_exists(root_key) else EVERY_KIND
        )
        return replace(
            set_cache.snapshot_at(set_cache.root, now, attempts),
            named_domains=self.stores[DOMAIN_KIND].readable_objects,
            named_claims=self.stores[CLAIM_KIND].readable_objects,
            configuration=self.configuration,
            served=self.served,
            not_collected=unknown,
            complete=whole - unknown,
            claim_templates=self._claim_templates(),
            topologies=self.topologies.by_name,
        )

    def _claim_templates(self) -> FrozenDict[Key, FrozenMap]:
        """Return the specs of all ResourceClaimTemplates; the same object until one changes."""
        if self._template_specs is None:
            items = self.stores[CLAIM_TEMPLATE_KIND].readable_objects
            self._template_specs = FrozenDict({key: template.spec for key, template in items.items()})
        return self._template_specs

    def _has_topology(self, name: str) -> bool:
        """Return whether a topology exists, or is the default one that the operator creates."""
        is_default = name == DEFAULT_TOPOLOGY and self.configuration.topology.has_default_topology
        is_to_be = is_default and self.topologies.knows_if_topology_exists(name)
        return is_to_be or name in self.topologies.by_name

    def _observe_topology(
        self, name: str, now: datetime, attempts: tuple[Attempt, ...]
    ) -> ClusterTopologySnapshot | None:
        """Linear in all sets, and in the objects of the sets that use the topology."""
        if not self._has_topology(name):
            return None
        broken = {kind for set_cache in self._set_caches.values() for kind, _, _ in set_cache.broken}
        return ClusterTopologySnapshot(
            name=name,
            topology=self.topologies.by_name.get(name),
            users=tuple(
                TopologyUser(*root_key, self._set_caches[root_key].bound_pod_count)
                for root_key in self.topologies.keys_of_sets_using_topology(name)
            ),
            settings=self.configuration.topology,
            now=now,
            not_collected=tuple(sorted(KINDS_THAT_SHOW_USE & (self._lost.keys() | broken))),
            attempts=attempts,
            shadowed=self.topologies.shadowed_binding_of_name(name),
        )
