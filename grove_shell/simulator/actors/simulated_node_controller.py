"""The node controller: nodes that are added, lost, restored, removed or cordoned, and their pods."""

from collections.abc import Callable
from typing import Final

from grove_core.kernel.structs import replace
from grove_core.resources.pod import Pod
from grove_shell.simulator.actors.simulated_kubelets import SimulatedKubelets, with_ready_containers
from grove_shell.simulator.actors.simulated_scheduler import SimulatedScheduler
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode, nodes_of_pool
from grove_shell.simulator.recording.simulation_history import (
    NoteHistoryEntry,
    NoteKind,
    PodChangeKind,
    PodHistoryEntry,
    ScenarioEventWithoutEffect,
    SimulationActor,
    SimulationHistory,
)
from grove_shell.simulator.scenario.scenario_events import ScenarioNodePool
from grove_shell.simulator.virtual_time import MINUTE, SECOND

GRACE: Final = 40 * SECOND
"""How long a kubelet may not respond before its pods count as not ready."""
TOLERATION: Final = 5 * MINUTE
"""How long pods stay on a node that is not ready before they are deleted."""


class SimulatedNodeController:
    """Applies the events of nodes."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: dict[str, SimulatedNode],
        scheduler: SimulatedScheduler,
        kubelet: SimulatedKubelets,
        history: SimulationHistory,
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.scheduler = scheduler
        self.kubelet = kubelet
        self.history = history

    def add_nodes(self, pool: ScenarioNodePool) -> None:
        """Add the nodes of a pool. Raises ScenarioEventWithoutEffect where all exist already."""
        new = [node for node in nodes_of_pool(pool) if node.name not in self.nodes]
        if not new:
            raise ScenarioEventWithoutEffect(
                f"node {pool.name if pool.count is None else f'{pool.name}-0'} exists already"
            )
        self._record(f"{len(new)} nodes {pool.name} are added" if len(new) > 1 else f"node {new[0].name} is added")
        self.nodes.update((node.name, node) for node in new)
        self.scheduler.schedule_pass()

    def lose_node(self, name: str) -> None:
        """Stop the kubelet of a node: its pods become not ready after 40 s, and are deleted 5 min later (SM-030).

        Raises:
            ScenarioEventWithoutEffect: There is no such node, or it is lost already.
        """
        node = self._node(name)
        if not node.up:
            raise ScenarioEventWithoutEffect(f"node {name} is lost already")
        self._record(f"node {name} is lost")
        node.up, node.lost_at = False, self.cluster.queue.now
        lost_at = node.lost_at
        self.cluster.queue.schedule_after(GRACE, self._if_still_lost(name, lost_at, self._mark_unready))
        self.cluster.queue.schedule_after(GRACE + TOLERATION, self._if_still_lost(name, lost_at, self._evict))

    def restore_node(self, name: str) -> None:
        """Start the kubelet of a node again: it stops the pods that were deleted meanwhile (SM-030).

        Raises:
            ScenarioEventWithoutEffect: There is no such node, or it is not lost.
        """
        node = self._node(name)
        if node.up:
            raise ScenarioEventWithoutEffect(f"node {name} is not lost")
        self._record(f"node {name} is back")
        node.up, node.unready, node.lost_at = True, False, None
        for pod in self._pods_on(name):
            if is_live_pod(pod) and pod.phase == "Running" and not pod.ready and _is_unready_for_node(pod):
                self.cluster.put_pod(with_ready_containers(pod))
            else:
                self.kubelet.begin_next_operation(pod)
        self.scheduler.schedule_pass()

    def remove_node(self, name: str) -> None:
        """Remove a node; its pods disappear after 40 s."""
        del self.nodes[self._node(name).name]
        self._record(f"node {name} is removed")
        self.cluster.queue.schedule_after(GRACE, lambda: self._delete_pods(name))

    def cordon_node(self, name: str) -> None:
        """Close a node for new pods. Raises ScenarioEventWithoutEffect if there is none, or it is closed already."""
        node = self._node(name)
        if node.cordoned:
            raise ScenarioEventWithoutEffect(f"node {name} is cordoned already")
        self._record(f"node {name} is cordoned")
        node.cordoned = True

    def uncordon_node(self, name: str) -> None:
        """Open a node for new pods. Raises ScenarioEventWithoutEffect if there is none, or it is open already."""
        node = self._node(name)
        if not node.cordoned:
            raise ScenarioEventWithoutEffect(f"node {name} is open already")
        self._record(f"node {name} is open again")
        node.cordoned = False
        self.scheduler.schedule_pass()

    def _node(self, name: str) -> SimulatedNode:
        node = self.nodes.get(name)
        if node is None:
            raise ScenarioEventWithoutEffect(f"there is no node {name}")
        return node

    def _record(self, text: str) -> None:
        self.history.record(SimulationActor.NODES, NoteHistoryEntry(NoteKind.NODE, text))

    def _if_still_lost(self, name: str, lost_at: int, act: Callable[[SimulatedNode], None]) -> Callable[[], None]:
        def check() -> None:
            node = self.nodes.get(name)
            if node is not None and node.lost_at == lost_at:
                act(node)

        return check

    def _mark_unready(self, node: SimulatedNode) -> None:
        node.unready = True
        for pod in self._pods_on(node.name):
            if pod.ready:
                self.cluster.put_pod(replace(pod, ready=False, trouble="NodeLost"))
                self._record_pod(PodChangeKind.UNREADY, pod, f"node {node.name} is lost")

    def _evict(self, node: SimulatedNode) -> None:
        for pod in self._pods_on(node.name):
            if is_live_pod(pod):
                why = f"node {node.name} has been lost for {GRACE // SECOND + 300} s"
                self._record_pod(PodChangeKind.EVICTED, pod, why)
                self.cluster.delete_object(pod.ref)

    def _delete_pods(self, name: str) -> None:
        for pod in self._pods_on(name) if name not in self.nodes else ():
            self._record_pod(PodChangeKind.GONE, pod, f"node {name} is gone")
            self.cluster.delete_object(pod.ref)
            self.cluster.end_pod_containers(pod)

    def _pods_on(self, name: str) -> list[Pod]:
        return sorted((pod for pod in self.cluster.all_pods() if pod.node == name), key=lambda pod: pod.name)

    def _record_pod(self, what: PodChangeKind, pod: Pod, why: str) -> None:
        clique = self.cluster.server.name_of_uid(pod.owner_uid)
        self.history.record(SimulationActor.NODES, PodHistoryEntry(what, pod.ref, clique, why=why))


def _is_unready_for_node(pod: Pod) -> bool:
    """Return whether a pod is not ready because its node was lost, in the run or in the dump that it starts from."""
    return pod.trouble == "NodeLost" or (pod.node_signs is not None and pod.node_signs.written_for_node)
