"""Nodes that fall silent, come back or are taken away, and what becomes of their pods."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from grove_core.resources.pod import Pod
from grove_shell.simulator.actors.kubelet import Kubelet, healthy
from grove_shell.simulator.actors.scheduler import Scheduler
from grove_shell.simulator.cluster.nodes import Node, nodes_of
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live
from grove_shell.simulator.recording.history import Actor, EntryKind, History, NoEffect
from grove_shell.simulator.scenario.user_events import NodePool
from grove_shell.simulator.virtual_time import MINUTE, SECOND

GRACE: Final = 40 * SECOND
"""How long a node may be silent before its pods count as not ready."""
TOLERATION: Final = 5 * MINUTE
"""How long pods stay on a node that is not ready before they are marked as being deleted."""


class NodeController:
    """Everything that happens to nodes."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: dict[str, Node],
        scheduler: Scheduler,
        kubelet: Kubelet,
        history: History,
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.scheduler = scheduler
        self.kubelet = kubelet
        self.history = history

    def add(self, pool: NodePool) -> None:
        """New nodes join."""
        new = [node for node in nodes_of(pool) if node.name not in self.nodes]
        if not new:
            raise NoEffect(f"node {pool.name if pool.count is None else f'{pool.name}-0'} is there already")
        self._tell(f"{len(new)} nodes {pool.name} are added" if len(new) > 1 else f"node {new[0].name} is added")
        self.nodes.update((node.name, node) for node in new)
        self.scheduler.nudge()

    def lose(self, name: str) -> None:
        """The kubelet of a node falls silent: its pods are not ready after 40 s, and deleted 5 min later."""
        node = self._node(name)
        if not node.up:
            raise NoEffect(f"node {name} is lost already")
        self._tell(f"node {name} is lost")
        node.up, node.lost_at = False, self.cluster.queue.now
        lost_at = node.lost_at
        self.cluster.queue.schedule_after(GRACE, self._if_still_lost(name, lost_at, self._distrust))
        self.cluster.queue.schedule_after(GRACE + TOLERATION, self._if_still_lost(name, lost_at, self._evict))

    def restore(self, name: str) -> None:
        """The kubelet answers again; what it was told to stop in the meantime it stops now."""
        node = self._node(name)
        if node.up:
            raise NoEffect(f"node {name} is not lost")
        self._tell(f"node {name} is back")
        node.up, node.unready, node.lost_at = True, False, None
        for pod in self._pods_on(name):
            if is_live(pod) and pod.phase == "Running" and not pod.ready and pod.trouble == "NodeLost":
                self.cluster.put_pod(healthy(pod))
            else:
                self.kubelet.consider(pod)
        self.scheduler.nudge()

    def remove(self, name: str) -> None:
        """The node is taken away; after 40 s its pods are, too."""
        del self.nodes[self._node(name).name]
        self._tell(f"node {name} is removed")
        self.cluster.queue.schedule_after(GRACE, lambda: self._collect(name))

    def cordon(self, name: str, *, closed: bool) -> None:
        """Nothing new is placed on a node any more, or is again."""
        node = self._node(name)
        word = "cordoned" if closed else "open"
        if node.cordoned == closed:
            raise NoEffect(f"node {name} is {word} already")
        self._tell(f"node {name} is {word}" if closed else f"node {name} is open again")
        node.cordoned = closed
        if not closed:
            self.scheduler.nudge()

    def _node(self, name: str) -> Node:
        node = self.nodes.get(name)
        if node is None:
            raise NoEffect(f"there is no node {name}")
        return node

    def _tell(self, words: str) -> None:
        self.history.record(self.cluster.queue.now, Actor.NODES, EntryKind.NODE, detail=words)

    def _if_still_lost(self, name: str, lost_at: int, act: Callable[[Node], None]) -> Callable[[], None]:
        def check() -> None:
            node = self.nodes.get(name)
            if node is not None and node.lost_at == lost_at:
                act(node)

        return check

    def _distrust(self, node: Node) -> None:
        node.unready = True
        for pod in self._pods_on(node.name):
            if pod.ready:
                self.cluster.put_pod(replace(pod, ready=False, trouble="NodeLost"))
                self._note(EntryKind.UNREADY, pod, f"node {node.name} is lost")

    def _evict(self, node: Node) -> None:
        for pod in self._pods_on(node.name):
            if is_live(pod):
                self._note(EntryKind.DELETED, pod, f"node {node.name} has been lost for {GRACE // SECOND + 300} s")
                self.cluster.delete(pod.ref)

    def _collect(self, name: str) -> None:
        for pod in self._pods_on(name) if name not in self.nodes else ():
            self._note(EntryKind.GONE, pod, f"node {name} is gone")
            self.cluster.delete(pod.ref)
            self.cluster.end_pod(pod)

    def _pods_on(self, name: str) -> list[Pod]:
        return sorted((pod for pod in self.cluster.pods() if pod.node == name), key=lambda pod: pod.name)

    def _note(self, what: EntryKind, pod: Pod, detail: str) -> None:
        clique = self.cluster.server.name_of(pod.owner_uid)
        self.history.record(self.cluster.queue.now, Actor.NODES, what, pod.ref, clique=clique, detail=detail)
