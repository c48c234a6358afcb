"""Informers: a copy of the cluster that lags, is frozen by kind, and can be relisted."""

from collections import defaultdict, deque
from random import Random

from grove_core.areas.topology.admit import TopologyView
from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.in_memory.object_store import ObjectStore
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.topologies import topology_view_in
from grove_shell.simulator.scenario.field_types import KINDS, kind_of


class Informers:
    """A cache that is fed from the changes of a cluster, one watch delay later.

    Attributes:
        view: the cached objects.
        frozen: kind -> time until which none of its changes arrive.
        shuffle: puts lists in random order; None for the order of arrival.
        version: grows with every change that arrives.
    """

    def __init__(self, cluster: SimulatedCluster, watch: int) -> None:
        self.cluster = cluster
        self.watch = watch
        self.frozen: dict[str, int] = {}
        self.shuffle: Random | None = None
        self.version = 0
        self.view = ObjectStore()
        self.relist(0)

    def relist(self, back: int) -> None:
        """Drop the cache and list the objects as they were ``back`` milliseconds ago."""
        self.version += 1
        configuration = self.view.configuration  # a round in progress keeps its configuration
        self.view = ObjectStore()
        self.view.configuration = configuration
        self.view.complete = EVERY_KIND | {TOPOLOGY_KIND}
        self._queues: defaultdict[str, deque[Change]] = defaultdict(deque)
        self._read = 0
        self._horizon: dict[str, int] = dict.fromkeys(KINDS, -1)
        self._take(self.cluster.queue.now - back, thaw=True)

    def catch_up(self) -> None:
        """Apply the changes that have arrived by now."""
        self._take(self.cluster.queue.now - self.watch, thaw=False)
        if self.shuffle is not None:
            self._permute(self.shuffle)

    def has_caught_up(self, kind: str, at: int) -> bool:
        """Return whether all writes to a kind at a past time have arrived."""
        return at < self.cluster.queue.now and at <= self._horizon[kind_of(kind)]

    @property
    def next_arrival(self) -> int | None:
        """When the next change arrives; None if all have arrived."""
        moments = [
            max(queue[0].at + self.watch, self.frozen.get(kind, 0)) for kind, queue in self._queues.items() if queue
        ]
        if self._read < len(self.cluster.changes):
            moments.append(self.cluster.changes[self._read].at + self.watch)
        return min(moments, default=None)

    def _take(self, horizon: int, *, thaw: bool) -> None:
        changes, now = self.cluster.changes, self.cluster.queue.now
        for change in changes[self._read :]:
            self._queues[kind_of(change.kind)].append(change)
        self._read = len(changes)
        for kind in KINDS:
            if not thaw and self.frozen.get(kind, 0) > now:
                continue
            self._horizon[kind] = max(self._horizon[kind], horizon)
            queue = self._queues[kind]
            while queue and queue[0].at <= horizon:
                self._apply(queue.popleft())

    def _apply(self, change: Change) -> None:
        self.version += 1
        item = change.object
        if isinstance(item, Pod):
            pods = [pod for pod in self.view.pods.get(item.owner_uid, ()) if pod.uid != item.uid]
            if change.after is not None:
                place = next(
                    (n for n, pod in enumerate(self.view.pods.get(item.owner_uid, ())) if pod.uid == item.uid),
                    len(pods),
                )
                pods.insert(place, item)
            self.view.pods[item.owner_uid] = pods
        elif change.after is None:
            self.view.items.pop(item.ref, None)
        else:
            self.view.items[item.ref] = item
            if isinstance(item, PodClique):
                self.view.pods.setdefault(item.uid, [])

    def _permute(self, order: Random) -> None:
        self.version += 1
        items = list(self.view.items.items())
        order.shuffle(items)
        self.view.items = dict(items)
        for uid, pods in self.view.pods.items():
            self.view.pods[uid] = order.sample(pods, len(pods))


class DelayedTopologies:
    """Returns the topologies and their users as they were one watch delay ago; admission reads them (SM-011, TP5)."""

    def __init__(self, cluster: SimulatedCluster, watch: int) -> None:
        self.informers = Informers(cluster, watch)

    def __call__(self) -> TopologyView:
        """Return what has arrived by now."""
        self.informers.catch_up()
        return topology_view_in(self.informers.view)
