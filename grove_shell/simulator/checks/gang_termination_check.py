"""Checks gang termination: not too early, complete, not twice for one loss (GT3, GT4, GT5, GT6, GT9, GT10)."""

from datetime import timedelta
from typing import Final

from grove_core.kernel.conditions import ConditionStatus, condition_of
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, SetStatus
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.unwritten_breach_changes import writes_breach_end
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.virtual_time import SECOND, go_duration_text

_ROUNDING: Final = SECOND  # condition times are whole seconds
_MILLISECOND: Final = timedelta(milliseconds=1)


class GangTerminationCheck(SimulationCheck):
    """GT3 to GT6, GT9, GT10: compares the deletions of gang termination with the stored conditions."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._breached_since: dict[str, int] = {}  # uid -> since when its stored condition has been True
        self._decided_at: dict[str, int] = {}  # uid -> when its last written status was decided
        self._unwritten_recoveries = set[str]()  # uids whose recovery could not be written (GT-067)
        self._terminated_with: dict[str, set[str]] = {}  # uid of a cause -> uids of the cliques to delete with it

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Update since when stored conditions are True."""
        for change in changes:
            after, before = change.after, change.before
            if not isinstance(after, PodClique | ScalingGroup):
                if isinstance(before, PodClique | ScalingGroup):
                    self._breached_since.pop(before.uid, None)
                continue
            now = condition_of(after.status.conditions, MIN_AVAILABLE_BREACHED)
            if now is not None and now.status is ConditionStatus.TRUE:
                self._breached_since.setdefault(after.uid, self._decided_at.get(after.uid, change.at))
            else:
                self._breached_since.pop(after.uid, None)
            if isinstance(before, PodClique | ScalingGroup):
                self._compare(before, after, change.at)

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check each deletion of a clique whose reason is gang termination."""
        step = attempt.step
        if isinstance(step.action, SetStatus) and attempt.outcome in {AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE}:
            self._decided_at[step.action.guard.uid] = self.state.plan_time_of_snapshot(snapshot)
        if attempt.outcome is not AttemptOutcome.DONE and writes_breach_end(step) and step.action.guard is not None:
            self._unwritten_recoveries.add(step.action.guard.uid)
        if attempt.outcome is not AttemptOutcome.DONE or not isinstance(step.action, Delete):
            return
        clique = next((found for found in snapshot.cliques if found.ref == step.target), None)
        if clique is None:
            return
        for one in step.action.terminates:
            is_whole = one.replica.kind == snapshot.root.ref.kind
            index = clique.replica_index if is_whole else clique.group_replica_index
            self._check_replica(clique, index, one.replica.replica)
            self._check_delay(clique, step.action, snapshot.root)
            self._record_termination(clique, step.action, whole=is_whole)
            self._check_availability(clique, step.action)
        del actor

    def check_at_rest(self) -> None:
        """Check that replicas with an expired delay were terminated, completely (GT6, GT9)."""
        self._check_completeness()
        for uid, since in self._breached_since.items():
            item = self.state.cliques.get(uid) or self.state.groups[uid]
            root = self.state.roots.get(self.state.root_of.get(uid, ""))
            if root is None or root.deleting or item.deleting or root.status.updating or item.status.updating:
                continue
            delay = termination_delay_of_cause(root, item)
            group = self.state.groups.get(item.owner_uid)
            if group is not None and (group.status.updating or group.uid in self._breached_since):
                continue
            if delay is not None and self.state.now - since > delay + self.state.clock_slack + 60 * SECOND:
                lasts = go_duration_text(self.state.now - since)
                message = f"{item.ref.name} has been breached for {lasts}, and still exists"
                self.state.report_broken_promise("GT6", message, item.ref.short)

    def _check_completeness(self) -> None:
        """Check that with the cause of a termination all other cliques of the replica are deleted (GT9)."""
        there = {item.uid: item for item in self.state.cluster.server.items.values()}
        for cause, uids in self._terminated_with.items():
            left = sorted(there[uid].ref.name for uid in uids & there.keys() if not there[uid].deleting)
            if cause not in there and left:
                self.state.report_broken_promise(
                    "GT9", f"a replica was terminated, and {', '.join(left)} of it was not", *left
                )

    def _record_termination(self, clique: PodClique, action: Delete, *, whole: bool) -> None:
        named = [guard.uid for ref, guard in action.rests_on if ref.kind == "PodClique"]
        root = self.state.root_of.get(clique.uid)
        for cause in named if whole else ():
            self._terminated_with.setdefault(
                cause,
                {
                    found.uid
                    for found in self.state.cluster.all_cliques()
                    if self.state.root_of.get(found.uid) == root
                    and self.state.replica_index_of_clique(found) == clique.replica_index
                },
            )

    def _check_replica(self, clique: PodClique, index: int, ended: object) -> None:
        if index != ended:
            message = f"{clique.ref.name} is of replica {index}, and is deleted with replica {ended}"
            self.state.report_broken_promise("GT9", message, clique.ref.short)

    def _check_delay(self, clique: PodClique, action: Delete, root: PodCliqueSet) -> None:
        """Check that the stored breach of the cause lasted for its delay (GT5)."""
        ref, guard = action.rests_on[0] if action.rests_on else (clique.ref, action.guard)
        cause = self.state.cliques.get(guard.uid) or self.state.groups.get(guard.uid)
        delay = termination_delay_of_cause(root, cause) if cause is not None else None
        since = self._breached_since.get(guard.uid)
        if delay is None or since is None:
            why = "gang termination is off" if delay is None else f"{ref.short} is not stored as breached"
            self.state.report_broken_promise(
                "GT5", f"{clique.ref.name} was terminated, and {why}", clique.ref.short, ref.short
            )
            return
        age = self.state.now - since
        if age < delay - _ROUNDING - self.state.clock_slack:
            when = f"{go_duration_text(age)} after {ref.name} was breached, not {go_duration_text(delay)}"
            message = f"{clique.ref.name} was terminated {when}"
            self.state.report_broken_promise("GT5", message, clique.ref.short, ref.short)

    def _check_availability(self, clique: PodClique, action: Delete) -> None:
        """Check that the cause of a termination was available since its creation (GT10, B1)."""
        named = [guard.uid for ref, guard in action.rests_on if ref.kind == "PodClique"] or [action.guard.uid]
        if not any(uid in self.state.available for uid in named):
            message = (
                f"{clique.ref.name} was terminated because of cliques that were never available since their creation"
            )
            self.state.report_broken_promise("GT10", message, clique.ref.short)

    def _compare(self, before: PodClique | ScalingGroup, after: PodClique | ScalingGroup, at: int) -> None:
        if isinstance(before, PodClique) and isinstance(after, PodClique):
            lost = before.status.was_available and not after.status.was_available
            if lost and before.uid == after.uid:
                self.state.report_broken_promise(
                    "GT3", f"{after.ref.name} loses the record that it was available", after.ref.short
                )
        stored = {found.type: found for found in before.status.conditions}
        for condition in after.status.conditions:
            old = stored.get(condition.type)
            if old is None or (old.status is condition.status) == (
                old.last_transition_time == condition.last_transition_time
            ):
                continue
            was_over = condition.type == MIN_AVAILABLE_BREACHED and after.uid in self._unwritten_recoveries
            if was_over:
                self._unwritten_recoveries.discard(after.uid)
            if old.status is not condition.status:
                continue
            if was_over and condition.status is ConditionStatus.TRUE:
                self._breached_since[after.uid] = self._decided_at.get(after.uid, at)
                continue
            message = f"{condition.type} of {after.ref.name} has a new transition time and its old status"
            self.state.report_broken_promise("GT4", message, after.ref.short)


def termination_delay_of_cause(root: PodCliqueSet, cause: PodClique | ScalingGroup) -> int | None:
    """Return the termination delay of a cause in milliseconds: of its scaling group, else of the set."""
    template = root.spec.template
    name = cause.template_name if isinstance(cause, ScalingGroup) else _group_of_clique(root, cause)
    own = next((group.delay for group in template.pod_clique_scaling_groups if group.name == name), None)
    delay = template.delay and (own or template.delay)
    return None if delay is None else delay // _MILLISECOND


def _group_of_clique(root: PodCliqueSet, clique: PodClique) -> str:
    """Return the name in the template of the scaling group of a PodClique; empty for a standalone one."""
    if not clique.is_in_scaling_group:
        return ""
    return clique.owner_name.removeprefix(f"{root.ref.name}-{clique.replica_index}-")
