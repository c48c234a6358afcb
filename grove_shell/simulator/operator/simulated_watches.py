"""Lists and watches of a simulated cluster into the cache of the operator: late, frozen by kind, or of the past."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from random import Random
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.kernel.frozen import EMPTY, mapping_or_empty
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.configuration import Configuration
from grove_core.resources.labels import SET
from grove_core.resources.pod import Pod
from grove_shell.cache.cluster_cache import PARSERS, ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.simulator.cluster.object_change_detector import Object, ObjectChange
from grove_shell.simulator.cluster.simulated_admission import (
    known_topologies_for_simulated_admission,
    topology_manifest,
)
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.scenario.scenario_field_types import KINDS, kind_name_in_faults

_OBJECT: Final = "object in memory"
_PARSERS: Final = MappingProxyType(dict.fromkeys(PARSERS, lambda raw, _shared: raw[_OBJECT]))
_DELETED_AT: Final = "2000-01-01T00:00:00Z"


class SimulatedListsAndWatches:
    """Feeds a cache with the changes of a cluster, one watch delay later.

    Attributes:
        cache: the cache of the operator; another one after each start.
        frozen: kind -> time until which none of its changes arrive.
        shuffle: puts lists in random order; None for the order of arrival.
    """

    def __init__(
        self, cluster: SimulatedCluster, watch: int, changed: Callable[[RootKey], None] = lambda _key: None
    ) -> None:
        """Start with an empty cache; ``changed`` is called with the key of each root that a change concerns."""
        self.cluster = cluster
        self.watch = watch
        self.frozen: dict[str, int] = {}
        self.shuffle: Random | None = None
        self._changed = changed
        self.list_into_empty_cache(Configuration())

    def list_into_empty_cache(self, configuration: Configuration) -> None:
        """List everything into an empty cache, as an operator process does at its start."""
        self.cache = ClusterCache(self._changed, _PARSERS)
        self.cache.configuration = configuration
        self._queues: defaultdict[str, deque[ObjectChange]] = defaultdict(deque)
        self._read = len(self.cluster.changes)
        self._list(self.cluster.server.all_objects(), self.cluster.server.newest_version)

    def relist(self, back: int) -> None:
        """List everything as it was ``back`` milliseconds ago; an older state replaces what is cached (OP-080)."""
        there: dict[str, Object] = {}
        self._read = bisect_right(self.cluster.changes, self.cluster.queue.now - back, key=lambda change: change.at)
        for change in self.cluster.changes[: self._read]:
            if change.after is None:
                there.pop(change.latest_object.uid, None)
            else:
                there[change.latest_object.uid] = change.after
        self._queues.clear()
        self._list(there.values(), "")

    def apply_arrived_changes(self) -> None:
        """Apply the changes that have arrived by now."""
        now = self.cluster.queue.now
        has_changed = self._apply_until(now - self.watch, [kind for kind in KINDS if self.frozen.get(kind, 0) <= now])
        if has_changed and self.shuffle is not None:
            self._permute(self.shuffle)

    def read_kinds(self, kinds: Iterable[str]) -> None:
        """Read all objects of some kinds, as they were at the end of the last time step."""
        self._apply_until(self.cluster.queue.now, kinds)

    def read_uncached_pods(self) -> None:
        """Read the pods that are not cached."""
        knows = self.cache.stores["Pod"].contains
        for pod in self.cluster.all_pods():
            if not knows(_as_json(pod)):
                self.put_object(pod)

    def put_object(self, item: Object) -> None:
        """Apply a state of an object."""
        self.cache.put(item.ref.kind, _as_json(item))

    def drop_deleted_object(self, ref: Ref, uid: str) -> None:
        """Apply a deletion that a response has confirmed."""
        metadata = {"name": ref.name, "namespace": ref.namespace, "uid": uid}
        self.cache.drop(ref.kind, {"metadata": metadata}, confirmed=True)

    def topology_view(self) -> KnownTopologiesForAdmission:
        """Return the topologies and their users by what has arrived by now; admission reads them (SM-011, TP5)."""
        self.apply_arrived_changes()
        return known_topologies_for_simulated_admission(
            item for store in self.cache.stores.values() for item in store.readable_objects.values()
        )

    def _list(self, items: Iterable[Object], version: str) -> None:
        by_kind: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in self.cache.stores}
        for item in items:
            by_kind[item.ref.kind].append(_as_json(item))
        for kind, found in by_kind.items():
            self.cache.replace_all_of_kind(kind, found, version)

    def _apply_until(self, horizon: int, kinds: Iterable[str]) -> bool:
        changes = self.cluster.changes
        for change in changes[self._read :]:
            self._queues[kind_name_in_faults(change.kind)].append(change)
        self._read = len(changes)
        has_changed = False
        for kind in kinds:
            queue = self._queues[kind]
            while queue and queue[0].at <= horizon:
                change, has_changed = queue.popleft(), True
                if change.after is not None:
                    self.put_object(change.after)
                else:
                    self._drop(change.latest_object)
        return has_changed

    def _drop(self, item: Object) -> None:
        raw = _as_json(item)
        raw["metadata"] |= {"resourceVersion": self.cluster.server.newest_version}  # as after every write of its uid
        self.cache.drop(item.ref.kind, raw)

    def _permute(self, order: Random) -> None:
        for store in self.cache.stores.values():
            items = [_as_json(item) for item in store.readable_objects.values()]
            order.shuffle(items)
            store.replace_all_of_kind(items, "")


def _as_json(item: Object) -> dict[str, Any]:
    """Return an object as the cache files it, with its metadata; the parsed object is in it."""
    ref, labels, owner_kind, owner_name = item.ref, getattr(item, "labels", EMPTY), "PodClique", ""
    if isinstance(item, Pod):
        labels = {SET.primary: item.set_name} if item.set_name else EMPTY
    else:
        owner_kind, owner_name = item.owner_kind, item.owner_name
    owner = {"apiVersion": GROVE, "kind": owner_kind, "name": owner_name, "uid": item.owner_uid, "controller": True}
    metadata = {
        "name": ref.name,
        "namespace": ref.namespace,
        "uid": item.uid,
        "resourceVersion": item.resource_version,
        "labels": labels,
        "ownerReferences": [owner] if item.owner_uid else [],
    }
    if isinstance(item, ClusterTopology):
        deleted = {"deletionTimestamp": _DELETED_AT} if item.deleting else {}
        manifest = topology_manifest(item)
        return {**manifest, "metadata": {**metadata, **mapping_or_empty(manifest, "metadata"), **deleted}}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, _OBJECT: item}
