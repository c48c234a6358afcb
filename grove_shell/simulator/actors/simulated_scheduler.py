"""The scheduler: places what a gang needs all at once or not at all, then pod by pod; deterministic."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import COMPOSITE_KIND, POD_GROUP_KIND, SCHEDULER
from grove_core.resources.naming_rules import pod_count_text
from grove_core.resources.pod import UNSCHEDULABLE, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import NO_PACK, NO_PLACEMENT, PodGang
from grove_shell.simulator.actors.gang_packing import (
    Assignment,
    PodPackingBlock,
    assign_nodes_to_pods,
    fitting_node_with_fewest_pods,
    fullest_node,
    nested_pod_blocks_of_gang,
    node_labels_required_by_placement,
    release_reserved_node_room,
)
from grove_shell.simulator.actors.gang_preemption import GangPreemption
from grove_shell.simulator.actors.workload_groups_as_gangs import GroupedGang, GroupTrees
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod
from grove_shell.simulator.cluster.simulated_nodes import (
    UNLIMITED,
    PodResourceRequests,
    SimulatedNode,
    pod_resource_requests,
    recompute_node_resource_requests,
    requests_for_gpus,
)
from grove_shell.simulator.recording.simulation_history import (
    PodChangeKind,
    PodHistoryEntry,
    SimulationActor,
    SimulationHistory,
    UnplacedGangHistoryEntry,
)
from grove_shell.simulator.scenario.scenario import ScenarioSchedulerSpec

_GANGS: Final = frozenset({"PodGang", COMPOSITE_KIND, POD_GROUP_KIND})


class SimulatedScheduler:
    """Runs a pass some time after pods or room for them appear.

    Attributes:
        pending: uid -> pod that waits for a node.
    """

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: dict[str, SimulatedNode],
        spec: ScenarioSchedulerSpec,
        history: SimulationHistory,
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.spec = spec
        self.history = history
        self.pending: dict[str, Pod] = {}
        self._requests: dict[tuple[str, str], PodResourceRequests] = {}
        self._dumped = {
            (pod.set_name, pod.template_hash): pod.manifest for pod in cluster.all_pods() if pod.manifest is not None
        }
        self._reported: dict[tuple[str, str], str] = {}
        self._grouped: dict[tuple[str, str], GroupedGang | None] = {}  # gangs that groups of the Workload API place
        self._preemption = GangPreemption(cluster, nodes, spec.priorities, history)
        self._scheduled = False

    def on_changes(self, changes: Iterable[ObjectChange]) -> None:
        """Update the pending pods, and schedule a pass if something may be placed now."""
        may_place = False
        for change in changes:
            if change.kind == "Pod":
                may_place |= self._update_pending(change)
            elif change.kind in _GANGS:
                may_place = True
        if may_place:
            self.schedule_pass()

    def schedule_pass(self) -> None:
        """Schedule a pass after the scheduler's delay, if pods are pending."""
        if self.pending and not self._scheduled:
            self._scheduled = True
            self.cluster.queue.schedule_after(self.spec.delay, self._run_pass)

    def resource_requests_of_pod(self, pod: Pod) -> PodResourceRequests:
        """Return what a pod requests; of a pod of a dump what the dump has of its template, else its GPUs."""
        key = (pod.owner_uid, pod.template_hash)
        found = self._requests.get(key)
        if found is None:
            manifest = self.cluster.server.manifests.get(pod.ref) or self._dumped.get((pod.set_name, pod.template_hash))
            spec = manifest.get("spec") if manifest is not None else None
            if not isinstance(spec, FrozenMap):
                return requests_for_gpus(pod.gpus)
            found = self._requests[key] = pod_resource_requests(spec)
        return found

    def _update_pending(self, change: ObjectChange) -> bool:
        before, pod = change.before, change.after
        if not isinstance(pod, Pod) or pod.node or not is_live_pod(pod) or pod.gated or pod.has_grove_gate:
            gone = self.pending.pop(change.latest_object.uid, None)
            freed = isinstance(before, Pod) and bool(before.node) and (not isinstance(pod, Pod) or not is_live_pod(pod))
            return freed or (gone is not None and not isinstance(pod, Pod))
        new = pod.uid not in self.pending
        self.pending[pod.uid] = pod
        return new

    def _run_pass(self) -> None:
        """Try to place all pending pods."""
        self._scheduled = False
        recompute_node_resource_requests(
            self.nodes.values(),
            ((pod, self.resource_requests_of_pod(pod)) for pod in self.cluster.all_pods() if pod.node),
        )
        cliques = {item.uid: item for item in self.cluster.server.items.values() if isinstance(item, PodClique)}
        gangs: defaultdict[tuple[str, str], list[Pod]] = defaultdict(list)
        for uid, pod in tuple(self.pending.items()):
            stored = self.cluster.server.get_pod(pod.ref)
            if stored is None or stored.uid != uid or stored.owner_uid not in cliques:
                del self.pending[uid]  # it was deleted at this time
            else:
                gangs[stored.namespace, stored.gang].append(stored)
        trees: GroupTrees | None = None
        self._reported = {gang: why for gang, why in self._reported.items() if gang in gangs}
        self._preemption.forget_gangs_without_wait(gangs)
        priorities = {key: self._preemption.priority_of(waiting[0]) for key, waiting in gangs.items()}
        for (namespace, name), waiting in sorted(gangs.items(), key=lambda item: (-priorities[item[0]], item[0])):
            pods = sorted(waiting, key=lambda pod: (cliques[pod.owner_uid].ref.name, pod.index, pod.name))
            gang = self.cluster.server.items.get(Ref(SCHEDULER, "PodGang", namespace, name))
            if self._preemption.room_is_awaited(priorities[namespace, name]):
                self._mark_all_unschedulable(pods)  # the room of preempted pods is for the gang that waits for it
                continue
            if pod_group := next((pod.pod_group for pod in pods if pod.pod_group), ""):
                trees = trees or GroupTrees(self.cluster.server.items.values())
                found = trees.gang_of_pod_group(namespace, pod_group, name)
                gang = found.gang if found is not None else None
                self._grouped[namespace, name] = found
            if pod_group and gang is None:
                pods = self._mark_all_unschedulable(pods)  # a pod waits for its groups
            elif isinstance(gang, PodGang) and self.spec.gang_aware and not gang.deleting:
                pods = self._place_gang(gang, pods, cliques)
            else:
                gang = None
            left = [pod for pod in pods if not self._place(pod, gang, cliques)]
            for pod in left:
                self._mark_unschedulable(pod)
            if left and (namespace, name) not in self._reported:
                self._report_unplaced(
                    name, left, f"{len(left)} of its pods fit nowhere{self._missing_resources(left[0])}"
                )

    def _place_gang(self, gang: PodGang, pods: list[Pod], cliques: Mapping[str, PodClique]) -> list[Pod]:
        """Place what the gang needs all at once, or nothing; return the pods that may still be placed one by one."""
        waiting: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in pods:
            waiting[cliques[pod.owner_uid].ref.name].append(pod)
        needed: list[Pod] = []
        live = self._live_pods(gang, cliques)
        for group in gang.groups:
            placed = sum(pod.scheduled for pod in live[group.name])
            missing = max(group.min_replicas - placed, 0)
            needed += waiting[group.name][:missing]
            if missing > len(waiting[group.name]):
                self._report_unplaced(
                    gang.ref.name,
                    pods,
                    f"it needs {pod_count_text(missing)} of {group.name}, waiting: {len(waiting[group.name])}",
                )
                return self._mark_all_unschedulable(pods)
        needed.sort(key=lambda pod: sorted(self.resource_requests_of_pod(pod).amounts.items()), reverse=True)
        found = self._assign(gang, needed, cliques)
        if found is None:
            self._report_unplaced(gang.ref.name, pods, self._shortage(gang, needed))
            self._preempt(gang, needed, cliques)
            return self._mark_all_unschedulable(pods)
        for pod, node in sorted(found, key=lambda pair: pair[0].name):
            self._bind(pod, node, cliques)
        chosen = {pod.uid for pod in needed}
        return [pod for pod in pods if pod.uid not in chosen]

    def _preempt(self, gang: PodGang, needed: list[Pod], cliques: Mapping[str, PodClique]) -> None:
        """Make room for a gang in groups by pods of a lower priority, where that is enough."""
        key = (gang.ref.namespace, gang.ref.name)
        if not self._grouped.get(key) or not self.spec.priorities:
            return

        def fits() -> bool:
            found = self._assign(gang, needed, cliques)
            release_reserved_node_room(found or [], self.resource_requests_of_pod)
            return found is not None

        trees = GroupTrees(self.cluster.server.items.values())
        priority = self._preemption.priority_of(needed[0])
        self._preemption.preempt_for_gang(key, priority, trees, self.resource_requests_of_pod, fits, cliques)

    def _assign(self, gang: PodGang | None, pods: Iterable[Pod], cliques: Mapping[str, PodClique]) -> Assignment | None:
        """Return nodes for pods, close to the placed pods of their gang where it requires this; None without."""
        block = PodPackingBlock(NO_PACK, tuple(pods))
        grouped = self._grouped.get((gang.ref.namespace, gang.ref.name)) if gang is not None else None
        if gang is not None and (grouped or gang.placement._replace(topology="") != NO_PLACEMENT):
            waiting: defaultdict[str, list[Pod]] = defaultdict(list)
            for pod in block.pods:
                waiting[cliques[pod.owner_uid].ref.name].append(pod)
            live = self._live_pods(gang, cliques)
            nodes = {
                name: [self.nodes[pod.node] for pod in found if pod.node in self.nodes] for name, found in live.items()
            }
            block = (
                grouped.groups.as_pod_block(waiting, nodes)
                if grouped
                else nested_pod_blocks_of_gang(gang.placement, waiting, nodes)
            )
        best = fitting_node_with_fewest_pods if grouped else fullest_node
        return assign_nodes_to_pods(block, tuple(self.nodes.values()), self.resource_requests_of_pod, best)

    def _live_pods(self, gang: PodGang, cliques: Mapping[str, PodClique]) -> defaultdict[str, list[Pod]]:
        """Return the live pods of a gang, by PodClique."""
        found: defaultdict[str, list[Pod]] = defaultdict(list)
        for uid, clique in cliques.items():
            for pod in self.cluster.server.pods.get(uid, ()):
                if pod.namespace == gang.ref.namespace and pod.gang == gang.ref.name and is_live_pod(pod):
                    found[clique.ref.name].append(pod)
        return found

    def _shortage(self, gang: PodGang, needed: list[Pod]) -> str:
        """Return why a gang cannot be placed: too little room, or none close enough together."""
        taken: Assignment = []
        nodes, why = tuple(self.nodes.values()), ""
        for pod in needed:
            found = assign_nodes_to_pods(
                PodPackingBlock(NO_PACK, (pod,)), nodes, self.resource_requests_of_pod, fullest_node
            )
            if found is None:
                why = f"there are some for {len(taken)}{self._missing_resources(pod)}"
                break
            taken += found
        release_reserved_node_room(taken, self.resource_requests_of_pod)
        keys = ", ".join(sorted(node_labels_required_by_placement(gang.placement)))
        at_once = "a node for 1 pod" if len(needed) == 1 else f"nodes for {len(needed)} pods at once"
        return f"it needs {at_once}, {why or f'and there are none so near by {keys}'}"

    def _mark_all_unschedulable(self, pods: Iterable[Pod]) -> list[Pod]:
        for pod in pods:
            self._mark_unschedulable(pod)
        return []

    def _place(self, pod: Pod, gang: PodGang | None, cliques: Mapping[str, PodClique]) -> bool:
        """Place a single pod; return whether it was placed."""
        found = self._assign(gang, (pod,), cliques)
        for placed, node in found or ():
            self._bind(placed, node, cliques)
        return found is not None

    def _missing_resources(self, pod: Pod) -> str:
        """Return text about requested resources that no node has at all; empty where all exist on some node."""
        if not self.nodes:
            return "; the scenario has no nodes"
        asked = (
            resource
            for resource, amount in self.resource_requests_of_pod(pod).amounts.items()
            if amount and resource not in UNLIMITED
        )
        lacking = sorted(name for name in asked if not any(name in node.capacity for node in self.nodes.values()))
        return f"; no node has {', '.join(lacking)}" if lacking else ""

    def _bind(self, pod: Pod, node: SimulatedNode, cliques: Mapping[str, PodClique]) -> None:
        del self.pending[pod.uid]
        self._reported.pop((pod.namespace, pod.gang), None)
        self.cluster.put_pod(replace(pod, node=node.name, scheduled=True, trouble=""))
        clique = cliques[pod.owner_uid].ref.name
        self.history.record(
            SimulationActor.SCHEDULER, PodHistoryEntry(PodChangeKind.PLACED, pod.ref, clique, node.name)
        )

    def _mark_unschedulable(self, pod: Pod) -> None:
        if pod.trouble != UNSCHEDULABLE:
            self.pending[pod.uid] = replace(pod, trouble=UNSCHEDULABLE)
            self.cluster.put_pod(replace(pod, trouble=UNSCHEDULABLE))

    def _report_unplaced(self, gang: str, pods: list[Pod], why: str) -> None:
        key = (pods[0].namespace, gang)
        if self._reported.get(key) != why:
            self._reported[key] = why
            grouped = self._grouped.get(key)
            ref = grouped.root if grouped else Ref(SCHEDULER, "PodGang", pods[0].namespace, gang)
            self.history.record(SimulationActor.SCHEDULER, UnplacedGangHistoryEntry(ref, len(pods), why))
