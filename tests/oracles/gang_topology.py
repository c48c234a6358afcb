"""Checks placements of gangs, the condition TopologyInSync, and where pods are bound (TP3, TP5, TP8, B6)."""

from collections.abc import Set as AbstractSet

from grove_core.kernel.conditions import ConditionStatus, condition_of
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete
from grove_core.resources.api_names import COMPOSITE_KIND, COMPOSITES, POD_GROUP_KIND
from grove_core.resources.configuration import Configuration
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang, podgang_from_json
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.actors.workload_groups_as_gangs import GroupedGang, GroupTrees
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import is_live_pod
from grove_shell.simulator.recording.simulation_history import SimulationActor
from tests.oracles.topology_facts import (
    expected_placement,
    required_labels_of,
    required_only,
    topology_keys,
    topology_used_by,
)


class GangTopologyCheck(SimulationCheck):
    """TP3, TP5, TP8, B6: placements follow the topology, the condition is right, pods are bound close enough."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._configuration = Configuration()  # of the running operator

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, *, goes_on: bool) -> None:
        """Keep the configuration of the operator process that started."""
        self._configuration = configuration
        del actor, goes_on

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check that new bindings meet the placement of their gang (B6), unless the gang changed at the same time."""
        if not self.state.gang_aware:
            return
        changed_gangs = {change.latest_object.ref for change in changes if change.kind == "PodGang"}
        bound: dict[tuple[str, str], set[str]] = {}
        for change in changes:
            after = change.after
            if isinstance(after, Pod) and after.node and not (isinstance(change.before, Pod) and change.before.node):
                bound.setdefault((after.namespace, after.gang), set()).add(after.owner_uid)
        for namespace, name in sorted(bound):
            gang = self.state.cluster.find_object("PodGang", f"{namespace}/{name}")
            if isinstance(gang, PodGang) and gang.ref not in changed_gangs:
                self._check_node_labels(gang, bound[namespace, name])

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check the placement of a created gang (TP8), and that it does not change once a pod is placed (TP3)."""
        step = attempt.step
        if step.target.kind != "PodGang" or attempt.outcome is not AttemptOutcome.DONE:
            return
        root = snapshot.root
        if isinstance(step.action, Create):
            made = podgang_from_json(thaw_json(step.action.manifest))
            keys, problem = topology_keys(root, snapshot.topologies, snapshot.configuration)
            if problem:
                self.state.report_broken_promise("TP8", f"{made.ref.name} is created, and {problem}", made.ref.short)
            wanted = expected_placement(
                root, made, topology_used_by(root) if snapshot.configuration.topology.enabled else "", keys
            )
            if made.placement != wanted:
                message = (
                    f"{made.ref.name} is created, and its placement differs from topology {wanted.topology or 'none'}"
                )
                self.state.report_broken_promise("TP8", message, made.ref.short)
        elif isinstance(step.action, Apply):
            before = next((gang for gang in snapshot.gangs if gang.ref == step.target), None)
            after = self.state.cluster.server.items.get(step.target)
            placed = any(pod.node for _, pod in snapshot.pods())
            if placed and isinstance(after, PodGang) and before is not None and before.placement != after.placement:
                message = f"{after.ref.name} is placed, and gets another topology or constraint"
                self.state.report_broken_promise("TP3", message, after.ref.short)
        elif isinstance(step.action, Delete) and not root.deleting:
            replica = step.target.name.removeprefix(f"{root.ref.name}-")
            is_grouped = Ref(COMPOSITES, COMPOSITE_KIND, root.ref.namespace, step.target.name) in (
                self.state.cluster.server.items
            )
            if replica.isdigit() and int(replica) < root.spec.replicas and not is_grouped:
                self.state.report_broken_promise(
                    "TP3", f"{step.target.name} is deleted, and its set needs it", step.target.short
                )
        del actor

    def check_at_rest(self) -> None:
        """Check that exactly the sets whose topology does not hold have a condition that says so (TP5)."""
        for root in self.state.cluster.all_sets():
            if root.deleting:
                continue
            problem = self._problem_of(root) if self._configuration.topology.enabled else ""
            condition = condition_of(root.status.conditions, "TopologyInSync")
            is_false = condition is not None and condition.status is ConditionStatus.FALSE
            if problem and not is_false:
                self.state.report_broken_promise(
                    "TP5", f"{root.ref.name} has no condition, and {problem}", root.ref.short
                )
            if condition is not None and not problem:
                self.state.report_broken_promise(
                    "TP5", f"{root.ref.name} has a condition about its topology, which holds", root.ref.short
                )

    def _problem_of(self, root: PodCliqueSet) -> str:
        """Return what is wrong with the topology of a set; empty where nothing is."""
        server = self.state.cluster.server
        keys, problem = topology_keys(root, server.topologies_by_name(), self._configuration)
        if problem:
            return problem
        gangs = [gang for gang in server.items.values() if isinstance(gang, PodGang) and gang.owner_uid == root.uid]
        for gang in gangs if topology_used_by(root) else ():
            if gang.placement != expected_placement(root, gang, topology_used_by(root), keys) and not gang.deleting:
                message = f"the placement of {gang.ref.name} differs from topology {topology_used_by(root)}"
                if not self._is_placed(root):
                    self.state.report_broken_promise("TP5", f"{message}, and nothing is placed", gang.ref.short)
                return message
        for grouped in self._gangs_in_groups(root) if topology_used_by(root) else ():
            gang = grouped.gang
            if gang.placement != required_only(expected_placement(root, gang, topology_used_by(root), keys)):
                message = f"the groups of {gang.ref.name} differ from topology {topology_used_by(root)}"
                if not self._is_placed(root):
                    self.state.report_broken_promise("TP5", f"{message}, and nothing is placed", grouped.root.short)
                return message
        return ""

    def _gangs_in_groups(self, root: PodCliqueSet) -> list[GroupedGang]:
        """Return the gangs of a set that groups place, named as their root groups."""
        items = self.state.cluster.server.items.values()
        trees, found = GroupTrees(items), dict[Ref, GroupedGang]()
        for item in items:
            if item.ref.kind == POD_GROUP_KIND and item.owner_uid == root.uid and not item.deleting:
                grouped = trees.gang_of_pod_group(item.ref.namespace, item.ref.name, "")
                if grouped is not None and grouped.root not in found:
                    named = trees.gang_of_pod_group(item.ref.namespace, item.ref.name, grouped.root.name)
                    found |= {grouped.root: named} if named is not None else {}
        return list(found.values())

    def _is_placed(self, root: PodCliqueSet) -> bool:
        cliques = [one for one in self.state.cluster.all_cliques() if self.state.root_of.get(one.uid) == root.uid]
        return any(
            one.status.scheduled or any(pod.node for pod in self.state.pods_of_clique(one.uid)) for one in cliques
        )

    def _check_node_labels(self, gang: PodGang, bound: AbstractSet[str]) -> None:
        """Check that pods which must share a node label do, where one of them is in one of these cliques."""
        names = {clique.uid: clique.ref.name for clique in self.state.cluster.all_cliques()}
        pods = [
            (names.get(pod.owner_uid, ""), pod)
            for pod in self.state.cluster.all_pods()
            if pod.namespace == gang.ref.namespace and pod.gang == gang.ref.name and is_live_pod(pod)
        ]
        bound_names = {names.get(uid, "") for uid in bound}
        for key, cliques in required_labels_of(gang):
            if cliques is not None and bound_names.isdisjoint(cliques):
                continue
            nodes = [self.state.nodes.get(pod.node) for name, pod in pods if cliques is None or name in cliques]
            values = {node.labels.get(key) for node in nodes if node is not None}
            if len(values) > 1 or None in values:
                shown = ", ".join(sorted(map(str, values)))
                self.state.report_broken_promise(
                    "B6", f"pods of {gang.ref.name} must share {key}, and have {shown}", gang.ref.short
                )
