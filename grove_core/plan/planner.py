"""Makes one plan of the wants of all areas: a step for each object, in stages, and the steps that are withheld."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import assert_never

from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    Make,
    SetStatus,
    Step,
    StepStage,
    deletes_or_reports_termination,
    gangs_terminated_by,
    must_follow_status_write,
    must_precede_creations,
    termination_causes,
)
from grove_core.kernel.wants import (
    FieldsToApply,
    FinalizerToDrop,
    ObjectToCreate,
    ObjectToDelete,
    ObjectToEnsure,
    StatusToWrite,
    StepObstacle,
    Want,
    Withheld,
)
from grove_core.plan.deletion_impact import with_deletion_impacts
from grove_core.plan.plan import Plan, RootWithLastAttempts
from grove_core.plan.rules import WithheldStepReason
from grove_core.plan.statuses_after_failed_deletions import status_step_without_termination
from grove_core.snapshot.unwritten_breach_changes import step_changes_breach_status


def plan_from_wants(result: AreaResult, view: RootWithLastAttempts, *, rules: str = "") -> Plan:
    """Return the plan that makes the snapshot match the wants. Linear but for sorting."""
    desired = result.wants
    steps = sorted(with_deletion_impacts(map(_step_for, desired.wants), view), key=lambda step: step.sort_key)
    waiting = sorted(map(_step_for, result.deferred), key=lambda step: step.sort_key, reverse=True)
    causes = {ref for step in steps if isinstance(step.action, Delete) for ref in termination_causes(step.action)}
    weaker = _weaker_steps(desired.wants, causes)
    obstacles = _Obstacles(view.attempts, steps, waiting)
    taken: list[Step] = []
    withheld = [*desired.withheld, *_not_confirmed(waiting, desired.wants, view)]
    for step in _still_needed(steps, causes, view):
        found = obstacles.against(step)
        if found is None:
            taken.append(step)
        else:
            taken += obstacles.alternative_to(step, weaker.get(step.target))
            obstacle, because = found
            withheld.append(Withheld(step.target, (because, *step.because), gangs_terminated_by(step), obstacle))
    return Plan(
        root=view.root_ref,
        root_uid=view.root_uid,
        rules=rules,
        steps=tuple(sorted(taken, key=lambda step: step.sort_key)) if weaker else tuple(taken),
        withheld=tuple(sorted(withheld, key=lambda held: held.target.sort_key)),
        wake_at=min((at for at in (result.wake_at, result.requeue_at) if at is not None), default=None),
        requeue_at=result.requeue_at,
        findings=tuple(sorted(result.findings, key=lambda finding: finding.sort_key)),
    )


def _still_needed(steps: Iterable[Step], causes: AbstractSet[Ref], view: RootWithLastAttempts) -> Iterator[Step]:
    """The steps without creations that were accepted before (PL-018), and without changes of a cause (PL-015)."""
    done = (one.step for one in view.attempts if one.outcome is AttemptOutcome.DONE)
    created = {step.target for step in done if isinstance(step.action, Make)}
    for step in steps:
        if isinstance(step.action, Make) and step.target in created:
            continue
        if isinstance(step.action, Apply) and step.target in causes:
            continue
        yield step


class _Obstacles:
    """The obstacles to the steps of one plan; a step that is withheld is an obstacle to later steps of its gang.

    Attributes:
        refused: the attempts that are not repeated now, by write.
        refused_causes: cause of a termination -> its own deletion, which was refused (PL-027).
        left: cause of a termination -> a deletion for it that is withheld, or waits for a fresh read (PL-014, PL-028).
        unwritten: the refused status that has to be written before parts are created (PL-021).
    """

    def __init__(self, attempts: Iterable[Attempt], steps: Iterable[Step], waiting: Iterable[Step]) -> None:
        self.refused = {one.step.write_key: one for one in attempts if one.is_withheld}
        last = (step for step in steps if step.stage is StepStage.CAUSE and step.write_key in self.refused)
        self.refused_causes = (
            {ref: step for step in last for ref in termination_causes(step.action)} if self.refused else {}
        )
        self.left = {ref: step for step in waiting for ref in termination_causes(step.action)}
        self.unwritten: Step | None = None

    def against(self, step: Step) -> tuple[StepObstacle, Reason] | None:
        """Return why a step is withheld; None where it is taken. Must be called for the steps in their order."""
        refusal = self._refusal_of(step)
        if refusal is not None and must_precede_creations(step):
            self.unwritten = step
        found = self._find(step, refusal)
        if found is not None:
            for ref in termination_causes(step.action):
                self.left.setdefault(ref, step)
        return found

    def alternative_to(self, step: Step, weaker: Step | None) -> tuple[Step, ...]:
        """Return what is done in place of a withheld step: at most one step, without its report of a termination.

        That is the step itself where it reports a termination (PL-028), else ``weaker``, the step for the weaker want
        of the same target (PL-013).
        """
        own = step if isinstance(step.action, SetStatus) and step.action.report else None
        for one in filter(None, (own, weaker)):
            found = status_step_without_termination(one) if deletes_or_reports_termination(one) else one
            if found is not None and self._refusal_of(found) is None:
                return (found,)
        return ()

    def _find(self, step: Step, refusal: Attempt | None) -> tuple[StepObstacle, Reason] | None:
        if refusal is not None:
            detail = refusal.detail or "no detail given"
            return StepObstacle.REFUSED, WithheldStepReason.REFUSED_BEFORE.because(step.target, detail=detail)
        left = _of_same_termination(self.left, step) if step.stage >= StepStage.CAUSE else None
        if left is not None and step.stage is StepStage.STATUS:
            return StepObstacle.RULE, WithheldStepReason.TERMINATION_INCOMPLETE.because(
                step.target, part=left.target.short
            )
        cause = _of_same_termination(self.refused_causes, step)
        if cause is not None:
            return StepObstacle.RULE, WithheldStepReason.CAUSE_REMAINS.because(step.target, cause=cause.target.short)
        if left is not None:
            return StepObstacle.RULE, WithheldStepReason.COMPANION_REMAINS.because(
                step.target, companion=left.target.short
            )
        if self.unwritten is not None and must_follow_status_write(step):
            return StepObstacle.RULE, WithheldStepReason.STATUS_NOT_WRITTEN.because(
                step.target, subject=self.unwritten.target.short
            )
        return None

    def _refusal_of(self, step: Step) -> Attempt | None:
        """The refusal of the same write; a step for another breach state or another cause is another write (PL-012)."""
        refusal = self.refused.get(step.write_key) if self.refused else None
        if refusal is None or step_changes_breach_status(step, refusal.step) or _rests_on_more(step, refusal.step):
            return None
        return refusal


def _of_same_termination(steps: Mapping[Ref, Step], step: Step) -> Step | None:
    """The first step that shares a cause with this one, from steps by cause (PL-014, PL-027, PL-028)."""
    if not steps:
        return None
    found = (steps[cause] for cause in termination_causes(step.action) if cause in steps)
    return min(found, key=lambda other: other.sort_key, default=None)


def _rests_on_more(step: Step, before: Step) -> bool:
    """Whether a companion's deletion has a cause that the earlier attempt did not have."""
    is_companion = isinstance(step.action, Delete) and step.stage is not StepStage.CAUSE
    return is_companion and not termination_causes(step.action) <= termination_causes(before.action)


def _weaker_steps(wants: Iterable[Want], causes: AbstractSet[Ref]) -> Mapping[Ref, Step]:
    """Target -> the step for its weaker want; a cause of a termination gets none (PL-013)."""
    weaker = (
        one.otherwise for one in wants if isinstance(one, StatusToWrite | ObjectToDelete) and one.otherwise is not None
    )
    return {want.target: _step_for(want) for want in weaker if want.target not in causes}


def _not_confirmed(waiting: Sequence[Step], wants: Iterable[Want], view: RootWithLastAttempts) -> Iterator[Withheld]:
    """The deletions that wait for a fresh read, without objects that are deleted for another reason (PL-029)."""
    if not waiting:
        return
    not_confirmed = (one.detail for one in view.attempts if one.outcome is AttemptOutcome.NOT_CONFIRMED and one.detail)
    detail = next(not_confirmed, "no detail given")
    deleted = {want.target for want in wants if isinstance(want, ObjectToDelete)}
    for step in waiting:
        if step.target not in deleted:
            because = (WithheldStepReason.FRESH_READ_FAILED.because(step.target, detail=detail), *step.because)
            yield Withheld(step.target, because, gangs_terminated_by(step), StepObstacle.NOT_CONFIRMED)


def steps_for_objects_without_root(wants: Iterable[Want]) -> tuple[Step, ...]:
    """Return the steps for wants that belong to no root, in the order of a plan."""
    return tuple(sorted(map(_step_for, wants), key=lambda step: step.sort_key))


def _step_for(want: Want) -> Step:
    if not want.because:
        raise BrokenInvariant("PL-003", f"want without a reason: {want}")
    stage, action = _action_for(want)
    return Step(stage, want.target, action, want.because)


def _action_for(want: Want) -> tuple[StepStage, Action]:
    match want:
        case ObjectToCreate():
            return StepStage.FOUNDATION if want.is_foundation else StepStage.WORKLOAD, Create(want.manifest)
        case ObjectToEnsure():
            return StepStage.FOUNDATION, Ensure(want.manifest)
        case FieldsToApply():
            return StepStage.WORKLOAD, Apply(want.fields, want.guard)
        case StatusToWrite():
            stage = StepStage.FOUNDATION if want.is_foundation else StepStage.STATUS
            return stage, SetStatus(want.fields, want.guard, want.report, is_urgent=want.is_urgent)
        case ObjectToDelete():
            if want.termination is None:
                return StepStage.CLEANUP, Delete(want.guard, want.foreground)
            stage = StepStage.CAUSE if want.termination.is_cause else StepStage.CLEANUP
            return stage, Delete(want.guard, want.foreground, basis=want.termination.basis)
        case FinalizerToDrop():
            return StepStage.CLEANUP, DropFinalizer(want.finalizer, want.guard)
        case _:
            assert_never(want)
