"""Checks the number, indices, deletions and scheduling gates of pods (RS1, RS3, RS4, RS5, RS6, RS10, B10)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from grove_core.kernel.frozen import canonical_json, thaw_json
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Step
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import GATE, POD_GANG, POD_GROUP_KIND
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.simulated_cluster import is_live_pod
from grove_shell.simulator.recording.simulation_history import SimulationActor

_REMOVES_OUR_GATE: Final = canonical_json({"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]}})


class PodCreationCheck(SimulationCheck):
    """RS1, RS3, RS4, RS10: a created pod has a free index, and its PodClique no more pods than it should."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._index_of: dict[tuple[str, str], int] = {}
        self._made_by_old_leader: set[str] = set()  # uids of pods; these do not count

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check a created pod against the live pods of its PodClique."""
        step = attempt.step
        if step.target.kind != "Pod" or not isinstance(step.action, Create):
            return
        pod = self.state.cluster.server.get_pod(step.target)
        if pod is None or attempt.outcome is AttemptOutcome.CONFLICT or attempt.unexpected:
            return
        clique = self.state.cliques.get(pod.owner_uid)
        if clique is None:
            return
        if actor is SimulationActor.SECOND:
            self._made_by_old_leader.add(pod.uid)
            return
        live = [
            other for other in self.state.live_pods_of_clique(clique.uid) if other.uid not in self._made_by_old_leader
        ]
        name = clique.ref.short
        if self._index_of.setdefault((clique.uid, pod.name), pod.index) != pod.index:
            self.state.report_broken_promise(
                "RS3", f"{pod.name} has another index than the pod of that name before", name, pod.ref.short
            )
        pods_at = Counter(other.index for other in live)
        twice = [index for index, count in pods_at.items() if count > 1]
        surging = has_pods_of_two_templates(clique, live)
        if twice and not surging:
            self.state.report_broken_promise(
                "RS4", f"{pods_at[twice[0]]} live pods of {clique.ref.name} have index {twice[0]}", name
            )
        seen = next((found.replicas for found in snapshot.cliques if found.uid == clique.uid), clique.replicas)
        most = max(seen, self._replicas(clique)) + surging
        if len(live) > most:
            message = f"{clique.ref.name} has {len(live)} live pods; at most {most} are wanted"
            self.state.report_broken_promise("RS1", message, name)
        if pod.index >= most:
            self.state.report_broken_promise(
                "RS10", f"a pod of {clique.ref.name} has index {pod.index} of {most}", name
            )

    def _replicas(self, clique: PodClique) -> int:
        stored = self.state.cluster.server.items.get(clique.ref)
        return stored.replicas if isinstance(stored, PodClique) else clique.replicas


class PodDeletionCheck(SimulationCheck):
    """RS5, B10: an operator deletes no pod twice, and leaves enough ready pods."""

    def on_operator_plan(self, actor: SimulationActor, snapshot: Snapshot, plan: Plan) -> None:
        """Check that each PodClique whose pods are deleted keeps enough ready pods, as the operator sees them (B10)."""
        to_delete = {
            step.target.name for step in plan.steps if step.target.kind == "Pod" and isinstance(step.action, Delete)
        }
        if not to_delete:
            return
        seen = with_own_writes(snapshot)
        for clique in seen.cliques:
            pods = [pod for pod in seen.pods_of.get(clique.uid, ()) if is_live_pod(pod) and pod.ready]
            left = [pod for pod in pods if pod.name not in to_delete]
            enough = min(clique.min_available, clique.replicas)
            if len(left) < len(pods) and len(left) < enough and not clique.deleting:
                message = (
                    f"{len(left)} of {len(pods)} ready pods of {clique.ref.name} stay, at least {enough} are needed"
                )
                self.state.report_broken_promise("B10", message, clique.ref.short)
        del actor

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check that a pod that is being deleted is not deleted again (RS5)."""
        step = attempt.step
        if step.target.kind == "Pod" and isinstance(step.action, Delete) and attempt.outcome is AttemptOutcome.DONE:
            pod = next((pod for _, pod in snapshot.pods() if pod.ref == step.target), None)
            if pod is not None and pod.deleting:
                self.state.report_broken_promise("RS5", f"{pod.name} was deleted twice", pod.ref.short)
        del actor


class GateRemovalCheck(SimulationCheck):
    """RS6: only Grove's gate is removed, and not before the gang may be placed."""

    def on_operator_plan(self, actor: SimulationActor, snapshot: Snapshot, plan: Plan) -> None:
        """Check each gate that a plan removes, and each pod that it creates without a gate."""
        self._check_created(snapshot, plan)
        opened = [step for step in plan.steps if step.target.kind == "Pod" and isinstance(step.action, Apply)]
        if not opened:
            return
        seen = with_own_writes(snapshot)
        pods = {pod.name: (clique, pod) for clique, pod in seen.pods()}
        gangs = {gang.ref.name: gang for gang in seen.gangs}
        by_clique: defaultdict[str, list[Pod]] = defaultdict(list)
        for clique, pod in pods.values():
            by_clique[clique.ref.name].append(pod)
        for step in opened:
            assert isinstance(step.action, Apply)  # noqa: S101 - filtered above
            if canonical_json(step.action.fields) != _REMOVES_OUR_GATE:
                message = f"more than Grove's gate is removed from {step.target.name}"
                self.state.report_broken_promise("RS6", message, step.target.short)
            clique, pod = pods[step.target.name]
            self._check_removal(pod, gangs, by_clique, base_gang_of_pod(pod, seen))
        del actor

    def _check_created(self, snapshot: Snapshot, plan: Plan) -> None:
        """Check that the gang of a pod without a gate refers to the pod, and waits for no other gang."""
        seen = with_own_writes(snapshot)
        gangs = {gang.ref.name: gang for gang in seen.gangs}
        referred = {name: {pod for group in gang.groups for pod in group.pods} for name, gang in gangs.items()}
        placed = Counter(clique.ref.name for clique, pod in seen.pods() if pod.scheduled and not pod.deleting)
        for step in plan.steps:
            if step.target.kind == "Pod" and isinstance(step.action, Create):
                made = pod_from_json(thaw_json(step.action.manifest), {})
                if made.has_grove_gate:
                    continue
                waits = any(
                    base is None or any(placed[group.name] < group.min_replicas for group in base.groups)
                    for base in map(gangs.get, base_gang_of_pod(made, snapshot))
                )
                if made.pod_group:
                    self._check_created_in_groups(made, step, seen, placed)
                elif made.name not in referred.get(made.gang, ()) or waits:
                    self.state.report_broken_promise(
                        "RS6", f"{made.name} is created without a gate and has to wait", step.target.short
                    )

    def _check_created_in_groups(self, made: Pod, step: Step, seen: Snapshot, placed: Mapping[str, int]) -> None:
        """Check that the PodGroup of a pod exists, and that its base gang is placed (SC-028)."""
        exists = any(one.ref.kind == POD_GROUP_KIND and one.ref.name == made.pod_group for one in seen.others)
        waits = any(
            placed[clique.ref.name] < clique.min_available
            for base in base_gang_of_pod(made, seen)
            for clique in seen.cliques
            if clique.labels.get(POD_GANG) == base
        )
        if not exists or waits:
            message = f"{made.name} is created and has to wait for {'its base gang' if exists else 'its PodGroup'}"
            self.state.report_broken_promise("RS6", message, step.target.short)

    def _check_removal(
        self, pod: Pod, gangs: dict[str, PodGang], by_clique: dict[str, list[Pod]], bases: Iterable[str]
    ) -> None:
        gang = gangs.get(pod.gang)
        if gang is None:
            self.state.report_broken_promise(
                "RS6", f"the gate of {pod.name} opens, and its gang {pod.gang} does not exist", pod.ref.short
            )
            return
        for group in gang.groups:
            there = [other for other in by_clique.get(group.name, ()) if other.gang == gang.ref.name]
            if len(there) < group.min_replicas:
                message = (
                    f"the gate of {pod.name} opens, and {group.name} has {len(there)} of {group.min_replicas} pods"
                )
                self.state.report_broken_promise("RS6", message, pod.ref.short)
        for group in (group for base in bases if base in gangs for group in gangs[base].groups):
            placed = sum(other.scheduled for other in by_clique.get(group.name, ()))
            if placed < group.min_replicas:
                found = f"{placed} of {group.min_replicas} pods of {group.name} are placed"
                message = f"the gate of {pod.name} opens, and {found}"
                self.state.report_broken_promise("RS6", message, pod.ref.short)


def base_gang_of_pod(pod: Pod, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the gang that the gang of a pod waits for, if any; by its name, because the operator writes the labels."""
    root = snapshot.root.ref.name
    base = f"{root}-{pod.gang.removeprefix(f'{root}-').partition('-')[0]}"
    return () if base == pod.gang else (base,)


def has_pods_of_two_templates(clique: PodClique, live: list[Pod]) -> bool:
    """Return whether pods of two templates exist: then there may be one pod more than replicas."""
    return clique.status.updating or len({pod.template_hash for pod in live} | {clique.template_hash}) > 1
