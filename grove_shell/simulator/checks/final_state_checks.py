"""Checks at rest: every set has the objects of its spec, and no others exist (O1, O10, B9)."""

from collections.abc import Iterable

from grove_core.kernel.conditions import ConditionStatus, condition_of
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create
from grove_core.resources.api_names import MNNVL_MANAGED, TOPOLOGY_IN_SYNC
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import MnnvlMode
from grove_core.resources.owned_object import GROUP_KINDS, OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import ROLLING_RECREATE
from grove_core.resources.podgang import PodGang
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.actors.workload_groups_as_gangs import GroupTrees
from grove_shell.simulator.checks.pod_checks import has_pods_of_two_templates
from grove_shell.simulator.checks.required_parts import expected_gang_objects, parts_besides_gangs
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import first_container_image
from grove_shell.simulator.recording.simulation_history import SimulationActor

_MAY_BE_REFUSED = frozenset({"PodClique", "PodGang", *GROUP_KINDS})
_NAMES = 3
_COUNTED = ("PodClique", "PodCliqueScalingGroup", "PodGang", "Service", *GROUP_KINDS)


class RequiredObjectsExistCheck(SimulationCheck):
    """O1: every set has the objects that its spec requires, derived from the documents, not from the core."""

    def check_at_rest(self) -> None:
        """Compare each set with its spec."""
        for root in self.state.cluster.all_sets():
            if root.deleting:
                if not self._has_lost_node():
                    self.state.report_broken_promise(
                        "O10", f"{root.ref.name} is being deleted and never disappears", root.ref.short
                    )
            else:
                self._compare(root)

    def _compare(self, root: PodCliqueSet) -> None:
        there = {
            (ref.kind, ref.name): item
            for ref, item in self.state.cluster.server.items.items()
            if ref.kind in _COUNTED and self.state.root_of.get(item.uid) == root.uid
        }
        ready = self._all_ready(root)
        wanted = {*parts_besides_gangs(root, self.state.groups), *expected_gang_objects(root, self.state.groups, there)}
        settled = ready and not self._is_blocked(root)  # an update that cannot create its spare replica does not go on
        spare = (
            *parts_besides_gangs(root, self.state.groups, spare=True),
            *expected_gang_objects(root, self.state.groups, there, spare=True),
        )
        allowed = wanted if settled else wanted | set(spare)
        missing, extra = sorted(wanted - there.keys()), sorted(there.keys() - allowed)
        missing = [part for part in missing if part[0] not in _MAY_BE_REFUSED or not self._is_blocked(root)]
        if missing:
            self.state.report_broken_promise("O1", f"{_listed(missing)} should exist", *map("/".join, missing))
        if extra:
            self.state.report_broken_promise("O1", f"{_listed(extra)} should not exist", *map("/".join, extra))
        for item in there.values():
            if item.deleting and not self._has_lost_node():
                self.state.report_broken_promise(
                    "O1", f"{item.ref.short} is being deleted and never disappears", item.ref.short
                )
            if isinstance(item, PodClique):
                if not (self._is_blocked(root) and self._has_no_gang(item, root, there.values())):
                    self._check_pods(item)
                if settled and root.spec.update_strategy.type == ROLLING_RECREATE:
                    self._check_images(item, root)

    def _has_no_gang(self, clique: PodClique, root: PodCliqueSet, parts: Iterable[object]) -> bool:
        """Return whether the gang of a PodClique's pods does not exist, or the base gang that it waits for."""
        gangs = {gang.ref.name: gang for gang in parts if isinstance(gang, PodGang)}
        referred = {group.name for gang in gangs.values() for group in gang.groups}
        return (
            clique.ref.name not in referred
            or f"{root.ref.name}-{self.state.replica_index_of_clique(clique)}" not in gangs
        )

    def _is_blocked(self, root: PodCliqueSet) -> bool:
        """Return whether the set's topology does not hold, or a shared domain or claim has a foreign object's name."""
        if not self.topology_condition_holds(root):
            return True
        is_on = self.state.cluster.server.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
        return is_on and any(
            ref.namespace == root.ref.namespace
            and isinstance(item, ComputeDomain | OwnedObject)
            and (isinstance(item, ComputeDomain) or ref.name.endswith("-mnnvl-claim"))
            and item.labels.get(MNNVL_MANAGED) != "true"
            for ref, item in self.state.cluster.server.items.items()
        )

    def topology_condition_holds(self, root: PodCliqueSet) -> bool:
        """Return whether the set's topology holds, as its condition says."""
        condition = condition_of(root.status.conditions, TOPOLOGY_IN_SYNC)
        return condition is None or condition.status is not ConditionStatus.FALSE

    def _all_ready(self, root: PodCliqueSet) -> bool:
        """Whether nothing holds an update up, as a pod does that never comes up and may have replaced a better one."""
        return all(
            pod.ready
            for clique in self.state.cluster.all_cliques()
            if self.state.root_of.get(clique.uid) == root.uid
            for pod in self.state.live_pods_of_clique(clique.uid)
        )

    def _check_pods(self, clique: PodClique) -> None:
        live = self.state.live_pods_of_clique(clique.uid)
        most = clique.replicas + (has_pods_of_two_templates(clique, live) and not all(pod.ready for pod in live))
        has_too_few = len(live) < clique.replicas and not self._waits_for_base_gang(clique)
        if (has_too_few or len(live) > most) and not clique.deleting:
            message = f"{clique.ref.name} has {len(live)} live pods and should have {clique.replicas}"
            self.state.report_broken_promise("O1", message, clique.ref.short)
        for pod in live:
            if pod.has_grove_gate and self._may_be_placed(clique, pod):
                self.state.report_broken_promise(
                    "O1", f"the gate of {pod.name} stays, and nothing requires it", pod.ref.short
                )

    def _waits_for_base_gang(self, clique: PodClique) -> bool:
        """Return whether pods of a scaled gang in groups wait to be created until its base gang is placed (SC-028)."""
        root = self.state.roots.get(self.state.root_of.get(clique.uid, ""))
        if root is None:
            return False
        trees, namespace = GroupTrees(self.state.cluster.server.items.values()), root.ref.namespace
        base = f"{root.ref.name}-{self.state.replica_index_of_clique(clique)}"
        own = trees.root_of_pod_group(namespace, clique.ref.name)
        if own is None or own.name == base:
            return False
        in_base = [
            one
            for one in self.state.cluster.all_cliques()
            if (found := trees.root_of_pod_group(namespace, one.ref.name)) is not None and found.name == base
        ]
        return any(
            sum(pod.scheduled for pod in self.state.live_pods_of_clique(one.uid)) < one.min_available for one in in_base
        )

    def _check_images(self, clique: PodClique, root: PodCliqueSet) -> None:
        """Check that every pod runs the image of the template."""
        template = next(found for found in root.spec.template.cliques if found.name == clique.template_name)
        containers = template.spec.pod_spec.get("containers")
        first = containers[0] if isinstance(containers, tuple) and containers else None
        wanted = str(first.get("image", "")) if isinstance(first, FrozenMap) else ""
        for pod in self.state.live_pods_of_clique(clique.uid):
            image = first_container_image(self.state.cluster, pod)
            if image and image != wanted:
                self.state.report_broken_promise(
                    "O1", f"{pod.name} runs {image} and should run {wanted}", pod.ref.short
                )

    def _may_be_placed(self, clique: PodClique, pod: Pod) -> bool:
        """Return whether the pod's gang may be placed, by names: labels of a PodClique may be removed (WL-094)."""
        root = self.state.roots.get(self.state.root_of.get(clique.uid, ""))
        base = f"{root.ref.name}-{self.state.replica_index_of_clique(clique)}" if root is not None else clique.base_gang
        for name, placed in ((pod.gang, False), ("" if base == pod.gang else base, True)):
            gang = self.state.cluster.find_object("PodGang", f"{pod.namespace}/{name}") if name else None
            if name and not isinstance(gang, PodGang):
                return False
            for group in gang.groups if isinstance(gang, PodGang) else ():
                found = self.state.cluster.find_clique(f"{pod.namespace}/{group.name}")
                pods = self.state.live_pods_of_clique(found.uid) if found is not None else []
                if sum(other.scheduled or not placed for other in pods) < group.min_replicas:
                    return False
        return True

    def _has_lost_node(self) -> bool:
        """Return whether a lost node keeps its pods, and these their owners."""
        return any(not node.up for node in self.state.nodes.values())


class DeletedSetLeftoversCheck(SimulationCheck):
    """O10, B9: a set disappears after all of its objects.

    The operator may not see in time what an old leader creates. Pods of an old leader may therefore outlive the set;
    like all objects they must be gone at rest.
    """

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._made_by_old_leader: set[str] = set()  # uids of pods

    def on_operator_write(self, actor: SimulationActor, _snapshot: Snapshot, attempt: Attempt) -> None:
        """Note the pods that an old leader creates."""
        step = attempt.step
        if actor is SimulationActor.SECOND and step.target.kind == "Pod" and isinstance(step.action, Create):
            pod = self.state.cluster.server.get_pod(step.target)
            if pod is not None and attempt.outcome is AttemptOutcome.DONE:
                self._made_by_old_leader.add(pod.uid)

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check that a deleted set has no pods left (B9)."""
        for change in changes:
            if change.kind == "PodCliqueSet" and change.after is None:
                pods = [
                    pod.ref.short
                    for pod in self._pods_of(change.latest_object.uid)
                    if pod.uid not in self._made_by_old_leader
                ]
                if pods:
                    name = change.latest_object.ref.name
                    self.state.report_broken_promise(
                        "B9", f"{name} is deleted, and {len(pods)} of its pods still exist", *pods[:5]
                    )

    def check_at_rest(self) -> None:
        """Check that no object of a deleted set is left (O10)."""
        server = self.state.cluster.server
        there = {item.uid for item in server.items.values() if isinstance(item, PodCliqueSet)}
        for ref, item in server.items.items():
            root = self.state.root_of.get(item.uid, "")
            if root and root not in there:
                self.state.report_broken_promise("O10", f"{ref.short} is left of a deleted set", ref.short)
        for uid in self.state.roots.keys() - there:
            for pod in self._pods_of(uid):
                self.state.report_broken_promise("O10", f"{pod.name} is left of a deleted set", pod.ref.short)

    def _pods_of(self, root: str) -> list[Pod]:
        return [
            pod
            for uid, pods in self.state.cluster.server.pods.items()
            if self.state.root_of.get(uid) == root
            for pod in pods
        ]


def _listed(parts: list[tuple[str, str]]) -> str:
    shown = ", ".join(f"{kind} {name}" for kind, name in parts[:_NAMES])
    return shown + (f" and {len(parts) - _NAMES} more" if len(parts) > _NAMES else "")
