"""Preemption: pods of a lower priority that a gang in groups takes the place of, as under kube-scheduler (SM-102)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from grove_core.kernel.frozen import EMPTY, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import COMPOSITE_KIND
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_shell.simulator.actors.gang_packing import Assignment, RequestsOf, release_reserved_node_room
from grove_shell.simulator.actors.workload_groups_as_gangs import GroupTrees
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode
from grove_shell.simulator.recording.simulation_history import (
    PodChangeKind,
    PodHistoryEntry,
    SimulationActor,
    SimulationHistory,
)


class PodsPreemptedTogether(NamedTuple):
    """Pods on nodes of which preemption takes all or none.

    Attributes:
        of: the group that is preempted as a whole, or the pod.
        pods: each with its node.
    """

    of: Ref
    priority: int
    pods: Assignment

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Sort key: what is spared first; kube-scheduler's, with the name in place of the start time."""
        kinds = ("Pod", "PodGroup", COMPOSITE_KIND)
        return -self.priority, -kinds.index(self.of.kind), -len(self.pods), self.of.name


def pods_to_preempt(
    candidates: Iterable[PodsPreemptedTogether], requests_of: RequestsOf, fits: Callable[[], bool]
) -> list[Pod]:
    """Return the pods to preempt so that a gang fits; none where it does not fit even without all candidates.

    All candidates are taken away, and then spared again one by one as long as the gang still fits.

    Args:
        candidates: of a lower priority than the gang.
        fits: whether the gang fits into the room that the nodes have then.
    """
    ranked = sorted(candidates, key=lambda one: one.rank)
    taken: list[PodsPreemptedTogether] = []
    for one in ranked:
        release_reserved_node_room(one.pods, requests_of)
    is_possible = fits()
    for one in ranked:
        _reserve(one.pods, requests_of)
        if is_possible and not fits():
            release_reserved_node_room(one.pods, requests_of)
            taken.append(one)
    for one in taken:
        _reserve(one.pods, requests_of)
    return [pod for one in taken for pod, _ in one.pods]


def _reserve(pods: Assignment, requests_of: RequestsOf) -> None:
    for pod, node in pods:
        node.add_requests(requests_of(pod).amounts)


@dataclass(frozen=True, slots=True)
class _AwaitedRoom:
    """The pods that were preempted for a gang, until they are gone."""

    priority: int
    pods: frozenset[str]


class GangPreemption:
    """The preemptions of a scheduler."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: Mapping[str, SimulatedNode],
        priorities: Mapping[str, int],
        history: SimulationHistory,
    ) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._priorities = priorities
        self._history = history
        self._awaited: dict[tuple[str, str], _AwaitedRoom] = {}  # by namespace and name of the gang

    def priority_of(self, pod: Pod) -> int:
        """Return the value of the priority class of a pod; 0 where the scenario does not state it."""
        if not self._priorities:
            return 0
        spec = object_under_key(self._cluster.server.manifests.get(pod.ref, EMPTY), "spec")
        return self._priorities.get(str(spec.get("priorityClassName", "")), 0)

    def forget_gangs_without_wait(self, waiting: Iterable[tuple[str, str]]) -> None:
        """Forget the preemptions for gangs that no longer wait, and those whose pods are gone."""
        if self._awaited:
            there, gangs = {pod.uid for pod in self._cluster.all_pods()}, set(waiting)
            self._awaited = {
                gang: room for gang, room in self._awaited.items() if gang in gangs and not room.pods.isdisjoint(there)
            }

    def room_is_awaited(self, priority: int) -> bool:
        """Return whether a gang waits for the end of pods that it preempts, so that this priority gets no room."""
        return any(room.priority >= priority for room in self._awaited.values())

    def preempt_for_gang(
        self,
        gang: tuple[str, str],
        priority: int,
        trees: GroupTrees,
        requests_of: RequestsOf,
        fits: Callable[[], bool],
        cliques: Mapping[str, PodClique],
    ) -> None:
        """Delete the pods that have to go so that a gang fits.

        Args:
            gang: namespace and name.
            priority: of the gang; only pods with a lower one are deleted.
            trees: the groups of all gangs, some of which are preempted as a whole.
            requests_of: returns what a pod requests.
            fits: whether the gang fits into the room that the nodes have then.
            cliques: by uid.
        """
        together: dict[Ref, Assignment] = {}
        for pod in self._cluster.all_pods():
            if pod.node in self._nodes and is_live_pod(pod) and self.priority_of(pod) < priority:
                whole = trees.preempted_as_a_whole(pod.namespace, pod.pod_group) if pod.pod_group else None
                together.setdefault(whole or pod.ref, []).append((pod, self._nodes[pod.node]))
        candidates = [PodsPreemptedTogether(of, self.priority_of(pods[0][0]), pods) for of, pods in together.items()]
        victims = pods_to_preempt(candidates, requests_of, fits)
        if victims:
            self._awaited[gang] = _AwaitedRoom(priority, frozenset(pod.uid for pod in victims))
        for pod in sorted(victims, key=lambda one: one.ref.sort_key):
            owner = cliques[pod.owner_uid].ref.name if pod.owner_uid in cliques else ""
            entry = PodHistoryEntry(PodChangeKind.PREEMPTED, pod.ref, owner, pod.node, f"for gang {gang[1]}")
            self._history.record(SimulationActor.SCHEDULER, entry)
            self._cluster.put_pod(replace(pod, preempted=True))
            self._cluster.delete_object(pod.ref)
