"""The cache of a simulated operator: it lags, is frozen by kind, can be relisted, and shows own writes at once."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from random import Random

from grove_core.areas.topology.admit import TopologyAdmissionView
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.labels import set_name_from_labels
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.topology_usage import SET_KIND
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.cache.root_keys import RootKey, is_topology_root_key, topology_root_key
from grove_shell.in_memory.in_memory_objects import InMemoryObjects
from grove_shell.simulator.cluster.object_change_detector import Object, ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.topologies import (
    RoundSnapshot,
    topologies_to_reconcile,
    topology_snapshot_in,
    topology_view_in,
)
from grove_shell.simulator.scenario.scenario_field_types import KINDS, kind_name_in_faults


class Informers:
    """A cache that is fed from the changes of a cluster, one watch delay later, and from responses.

    Attributes:
        view: the cached objects.
        frozen: kind -> time until which none of its changes arrive.
        shuffle: puts lists in random order; None for the order of arrival.
    """

    def __init__(self, cluster: SimulatedCluster, watch: int) -> None:
        self.cluster = cluster
        self.watch = watch
        self.frozen: dict[str, int] = {}
        self.shuffle: Random | None = None
        self.view = InMemoryObjects()
        self.relist(0)

    # what arrives

    def relist(self, back: int) -> None:
        """Drop the cache and list the objects as they were ``back`` milliseconds ago."""
        configuration = self.view.configuration  # a process keeps the configuration of its start
        self.view = InMemoryObjects()
        self.view.configuration = configuration
        self.view.complete = EVERY_KIND | {TOPOLOGY_KIND}
        self._queues: defaultdict[str, deque[ObjectChange]] = defaultdict(deque)
        self._read = 0
        self._deleted: set[str] = set()  # uids
        self._apply_until(self.cluster.queue.now - back, KINDS)

    def catch_up(self) -> bool:
        """Apply the changes that have arrived by now; return whether there were any."""
        now = self.cluster.queue.now
        has_changed = self._apply_until(now - self.watch, [kind for kind in KINDS if self.frozen.get(kind, 0) <= now])
        if has_changed and self.shuffle is not None:
            self._permute(self.shuffle)
        return has_changed

    def read(self, kinds: Iterable[str]) -> None:
        """Read all objects of some kinds, as they were at the end of the last time step."""
        self._apply_until(self.cluster.queue.now, kinds)

    def read_uncached_pods(self) -> None:
        """Read the pods that are not cached."""
        for uid, pods in self.cluster.server.pods.items():
            known = {pod.uid for pod in self.view.pods.get(uid, ())}
            for pod in pods:
                if pod.uid not in known:
                    self.put(pod)

    def put(self, item: Object) -> bool:
        """Apply a state of an object; return False, and change nothing, for one that is not newer than the cached."""
        before = self._cached(item)
        if item.uid in self._deleted:
            return False
        if before is not None and before.uid == item.uid and _writes(before) >= _writes(item):
            return False
        if before is not None and before.uid != item.uid:
            self._deleted.add(before.uid)
        if isinstance(item, Pod):
            self._replace_pod(item, item)
        else:
            self.view.items[item.ref] = item
        if isinstance(item, PodClique):
            self.view.pods.setdefault(item.uid, [])
        return True

    def drop(self, ref: Ref, uid: str) -> bool:
        """Apply a deletion; later states of the object have no effect. Return whether it was cached."""
        self._deleted.add(uid)
        before = self.find(ref)
        return before is not None and before.uid == uid and self._remove(before)

    def _apply_until(self, horizon: int, kinds: Iterable[str]) -> bool:
        changes = self.cluster.changes
        for change in changes[self._read :]:
            self._queues[kind_name_in_faults(change.kind)].append(change)
        self._read = len(changes)
        has_changed = False
        for kind in kinds:
            queue = self._queues[kind]
            while queue and queue[0].at <= horizon:
                has_changed |= self._apply(queue.popleft())
        return has_changed

    def _apply(self, change: ObjectChange) -> bool:
        item = change.object
        if change.after is not None:
            return self.put(item)
        self._deleted.add(item.uid)
        before = self._cached(item)
        return before is not None and before.uid == item.uid and self._remove(before)

    def _cached(self, item: Object) -> Object | None:
        """Return what is cached under the address of an object."""
        if not isinstance(item, Pod):
            return self.view.items.get(item.ref)
        return next((pod for pod in self.view.pods.get(item.owner_uid, ()) if pod.name == item.name), None)

    def _remove(self, item: Object) -> bool:
        if isinstance(item, Pod):
            self._replace_pod(item, None)
        else:
            del self.view.items[item.ref]
        return True

    def _replace_pod(self, pod: Pod, after: Pod | None) -> None:
        pods = self.view.pods.get(pod.owner_uid, [])
        place = next((n for n, other in enumerate(pods) if other.name == pod.name), len(pods))
        self.view.pods[pod.owner_uid] = [*pods[:place], *([after] if after is not None else []), *pods[place + 1 :]]

    def _permute(self, order: Random) -> None:
        items = list(self.view.items.items())
        order.shuffle(items)
        self.view.items = dict(items)
        for uid, pods in self.view.pods.items():
            self.view.pods[uid] = order.sample(pods, len(pods))

    # what a reconcile loop reads

    def root_keys(self) -> list[RootKey]:
        """Return the keys of all topologies and sets, deleted ones with leftovers included."""
        topologies = [topology_root_key(ref.name) for ref in topologies_to_reconcile(self.view)]
        sets = [(ref.namespace, ref.name) for ref in self.view.roots()]
        return list(dict.fromkeys((*topologies, *sets, *map(_set_of, self.view.leftovers()))))

    def holds(self, root_key: RootKey) -> bool:
        """Return whether a root is cached."""
        return root_key in self.root_keys()

    def is_known_absent(self, root_key: RootKey) -> bool:
        """Return whether a set does not exist."""
        return not is_topology_root_key(root_key) and _set_ref(root_key) not in self.view.items

    def leftovers(self, root_key: RootKey) -> list[ScalingGroup | PodClique]:
        """Return the parts of a deleted set that are being deleted."""
        return [part for part in self.view.leftovers() if _set_of(part) == root_key]

    def pods_of(self, _root_key: RootKey, clique: str) -> Mapping[str, str]:
        """Return name -> uid of the pods of a PodClique."""
        return {pod.name: pod.uid for pod in self.view.pods.get(clique, ())}

    def find(self, ref: Ref) -> Object | None:
        """Return an object by its address; None without one."""
        if ref.kind != "Pod":
            return self.view.items.get(ref)
        pods = (pod for pods in self.view.pods.values() for pod in pods)
        return next((pod for pod in pods if pod.name == ref.name and pod.namespace == ref.namespace), None)

    def observation(self, root_key: RootKey, now: datetime, attempts: tuple[Attempt, ...] = ()) -> RoundSnapshot | None:
        """Return the snapshot of a set or a topology; None if it does not exist."""
        if not is_topology_root_key(root_key):
            return self.view.observe(_set_ref(root_key), now, attempts)
        if all(ref.name != root_key[1] for ref in topologies_to_reconcile(self.view)):
            return None
        return topology_snapshot_in(self.view, root_key[1], now, attempts)


class DelayedTopologyCache:
    """Returns the topologies and their users as they were one watch delay ago; admission reads them (SM-011, TP5)."""

    def __init__(self, cluster: SimulatedCluster, watch: int) -> None:
        self.informers = Informers(cluster, watch)

    def __call__(self) -> TopologyAdmissionView:
        """Return what has arrived by now."""
        self.informers.catch_up()
        return topology_view_in(self.informers.view)


def _writes(item: Object) -> int:
    """Return how often an object was written in the run; the API server in memory counts it in the version."""
    _, plus, writes = item.resource_version.rpartition("+")
    return int(writes) if plus else 0


def _set_ref(root_key: RootKey) -> Ref:
    return Ref(GROVE, SET_KIND, *root_key)


def _set_of(part: ScalingGroup | PodClique) -> RootKey:
    name = part.owner_name if isinstance(part, ScalingGroup) else set_name_from_labels(part.labels)
    return (part.ref.namespace, name)
