"""Checks writes of operators: no unchanged status, no foreign objects, not too many (RS8, O8, O9)."""

from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, DropFinalizer, Make, SetStatus
from grove_core.resources.api_names import PREFIX
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.recording.simulation_history import SimulationActor

_EACH: Final = 8
_SOME: Final = 200


class OperatorWriteCheck(SimulationCheck):
    """RS8, O8, O9: checks every write of an operator, successful or not."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._planned_on: Snapshot | None = None
        self._targets: dict[Ref, Resource] = {}
        self.writes = 0
        self.changes = 0

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Count changes: each is a reason for some writes."""
        self.changes += len(changes)

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check one write."""
        if snapshot is not self._planned_on:
            self._planned_on, self._targets = snapshot, snapshot.objects_without_pods_by_ref()
        # The scenario determines how often an old leader reconciles: its failed writes do not count (RS11).
        self.writes += actor is SimulationActor.OPERATOR or attempt.outcome is AttemptOutcome.DONE
        step = attempt.step
        if self.writes > _SOME + _EACH * self.changes:
            message = f"{self.writes} writes for {self.changes} changes, the last one to {step.target.short}"
            self.state.report_broken_promise("O9", message, step.target.short)
        action = step.action
        if action.guard is not None and not action.guard.uid:
            self.state.report_broken_promise(
                "O8", f"a write to {step.target.short} has no uid as its precondition", step.target.short
            )
        if attempt.outcome is not AttemptOutcome.DONE:
            return
        if isinstance(action, SetStatus):
            self._status(step.target, action)
        elif isinstance(action, DropFinalizer) and not action.finalizer.startswith(PREFIX):
            message = f"the finalizer {action.finalizer} of {step.target.short} is a foreign one"
            self.state.report_broken_promise("O8", message, step.target.short)
        elif isinstance(action, Make):
            root = self.state.root_of.get(metadata_in(action.manifest).controller.uid, "")
            if root and root != snapshot.root.uid:
                self.state.report_broken_promise(
                    "O8", f"{step.target.short} was created for another set", step.target.short
                )
        found = self._targets.get(step.target)
        owner = self.state.root_of.get(found.uid) if found is not None else None
        leftover = isinstance(action, DropFinalizer) and not self._exists(owner)
        if owner not in {snapshot.root.uid, None} and not leftover:
            self.state.report_broken_promise("O8", f"{step.target.short} belongs to another set", step.target.short)

    def _exists(self, root: str | None) -> bool:
        """Return whether a set still exists; any operator may remove finalizers of what is left of a deleted one."""
        return any(item.uid == root for item in self.state.cluster.all_sets())

    def _status(self, target: Ref, action: SetStatus) -> None:
        """Check that a written status differs from the one that it was decided on (RS8)."""
        before = self._targets.get(target)
        if not isinstance(before, PodClique | PodCliqueSet | ScalingGroup | PodGang) or before.guard != action.guard:
            return
        after = self.state.cluster.server.items.get(target)
        if after is not None and after.uid == before.uid and getattr(after, "status", None) == before.status:
            self.state.report_broken_promise("RS8", f"the status of {target.short} was written unchanged", target.short)
