"""Wants against the snapshot: the steps that close the gap."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import assert_never

from grove_core.kernel.decisions import Finding
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Action,
    Aim,
    Apply,
    Attempt,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    Make,
    Outcome,
    SetStatus,
    Stage,
    Step,
    causes_of,
    is_of_end,
    is_told_first,
    rests_on_the_told,
    terminated_by,
)
from grove_core.kernel.wants import Absent, Applied, Desired, Ensured, Present, Released, Status, Want, Withheld
from grove_core.plan.plan import Plan
from grove_core.plan.rules import Why
from grove_core.plan.telling import without_the_end
from grove_core.plan.toll import Tolls
from grove_core.snapshot.overtaken import tells_another_breach
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.view import View


def difference(
    desired: Desired,
    view: View,
    *,
    put_off: Iterable[Absent] = (),
    rules: str = "",
    wake_at: datetime | None = None,
    findings: Iterable[Finding],
) -> Plan:
    """The plan that makes what is seen match the wants. Linear but for the final sort.

    Args:
        put_off: what is to be gone and is not tried, for the server could not be asked first (PL-029).
    """
    made = {
        attempt.step.target
        for attempt in view.attempts
        if attempt.outcome is Outcome.DONE and isinstance(attempt.step.action, Make)
    }
    refused = {attempt.step.aim: attempt for attempt in view.attempts if attempt.outcome is Outcome.REFUSED}
    steps: list[Step] = []
    unasked = sorted(map(_step_for, put_off), key=lambda step: step.sort_key, reverse=True)
    withheld = [*desired.held_back, *_silences(unasked, desired.wants, view)]
    held_of = {ref: step for step in unasked for ref in causes_of(step.action)}  # cause -> what rests on it and waits
    untold: Step | None = None
    wanted = sorted(_with_tolls(map(_step_for, desired.wants), view), key=lambda step: step.sort_key)
    causes = {ref for step in wanted if isinstance(step.action, Delete) for ref in causes_of(step.action)}
    spare = (
        want.otherwise for want in desired.wants if isinstance(want, Status | Absent) and want.otherwise is not None
    )
    otherwise = {want.target: _step_for(want) for want in spare if want.target not in causes}
    stays = _causes_that_stay(wanted, refused.keys()) if refused else {}
    for step in wanted:
        if step.target in causes and isinstance(step.action, Apply):
            continue  # it would look like a change of somebody else's (PL-026); it is wished again in the next round
        attempt = _refusal_of(step, refused)
        if is_told_first(step) and attempt is not None:
            untold = step
        if isinstance(step.action, Make) and step.target in made:
            continue  # it exists; the listing has not caught up
        why = _obstacle(step, attempt, stays, held_of, untold)
        if why is None:
            steps.append(step)
            continue
        steps += islice(_rests(step, otherwise.get(step.target), refused), 1)
        for ref in causes_of(step.action):
            held_of.setdefault(ref, step)
        withheld.append(Withheld(step.target, (why, *step.because), terminated_by(step)))
    return Plan(
        root=view.root_ref,
        root_uid=view.root_uid,
        rules=rules,
        steps=tuple(sorted(steps, key=lambda step: step.sort_key)) if otherwise else tuple(steps),
        withheld=tuple(sorted(withheld, key=lambda held: held.target.sort_key)),
        wake_at=wake_at,
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
    )


def _refusal_of(step: Step, refused: Mapping[Aim, Attempt]) -> Attempt | None:
    """How it was refused a moment ago; a status or a deletion that tells of more than that did is another (PL-012)."""
    attempt = refused.get(step.aim) if refused else None
    if attempt is None or tells_another_breach(step, attempt.step) or _rests_on_more(step, attempt.step):
        return None
    return attempt


def _rests_on_more(step: Step, before: Step) -> bool:
    """Whether it is a companion's deletion, and what was tried was for no end, or not for all that this one is for."""
    is_companion = isinstance(step.action, Delete) and step.stage is not Stage.CAUSE
    return is_companion and not causes_of(step.action) <= causes_of(before.action)


def _rests(step: Step, spare: Step | None, refused: Mapping[Aim, Attempt]) -> Iterator[Step]:
    """What can be tried in the place of a step that is withheld, the best first; nothing tells of an end (PL-028)."""
    for one in (step if isinstance(step.action, SetStatus) and step.action.end_of else None, spare):
        rest = without_the_end(one) if one is not None and is_of_end(one) else one
        if rest is not None and _refusal_of(rest, refused) is None:
            yield rest


def steps_for(wants: Iterable[Want]) -> tuple[Step, ...]:
    """The steps for wants without a root, in their order."""
    return tuple(sorted(map(_step_for, wants), key=lambda step: step.sort_key))


def _with_tolls(steps: Iterable[Step], view: View) -> Iterable[Step]:
    """The steps; what a deletion takes along is said in it (PL-019)."""
    found = list(steps)
    deleted = {step.target for step in found if isinstance(step.action, Delete)}
    if not deleted or not isinstance(view, Snapshot):
        return found
    tolls = Tolls(view, deleted)
    return [
        replace(step, action=replace(step.action, takes=tolls.of(step.target)))
        if isinstance(step.action, Delete)
        else step
        for step in found
    ]


def _step_for(want: Want) -> Step:
    if not want.because:
        raise BrokenInvariant("PL-003", f"want without a reason: {want}")
    stage, action = _action_for(want)
    return Step(stage, want.target, action, want.because)


def _action_for(want: Want) -> tuple[Stage, Action]:
    match want:
        case Present():
            return Stage.FOUNDATION if want.is_foundation else Stage.WORKLOAD, Create(want.manifest)
        case Ensured():
            return Stage.FOUNDATION, Ensure(want.manifest)
        case Applied():
            return Stage.WORKLOAD, Apply(want.fields, want.guard)
        case Status():
            stage = Stage.FOUNDATION if want.is_foundation else Stage.STATUS
            return stage, SetStatus(want.fields, want.guard, want.end_of, is_urgent=want.is_urgent)
        case Absent():
            deletion = Delete(want.guard, want.rests_on, want.foreground, terminates=want.terminates)
            return Stage.CAUSE if want.is_cause else Stage.CLEANUP, deletion
        case Released():
            return Stage.CLEANUP, DropFinalizer(want.finalizer, want.guard)
        case _:
            assert_never(want)


def _silences(unasked: Sequence[Step], wants: Iterable[Want], view: View) -> Iterator[Withheld]:
    """Why ends have to wait of which nobody knows whether they may be; what goes for another reason does not wait."""
    if not unasked:
        return
    said = next(
        (one.detail for one in view.attempts if one.outcome is Outcome.UNASKED and one.detail), "no detail given"
    )
    goes = {want.target for want in wants if isinstance(want, Absent)}
    for step in unasked:
        if step.target not in goes:
            because = (Why.NOT_ASKED.because(step.target, detail=said), *step.because)
            yield Withheld(step.target, because, terminated_by(step))


def _obstacle(
    step: Step, attempt: Attempt | None, stays: Mapping[Ref, Step], held_of: Mapping[Ref, Step], untold: Step | None
) -> Reason | None:
    """Why a step has to wait; None where it is tried.

    Args:
        attempt: a moment ago, that was refused.
        stays: what a refused deletion of a cause rests on -> that deletion.
        held_of: what a step before this one, which is held back, rests on -> that step.
        untold: the status that had to be written first, and was refused.
    """
    if attempt is not None:
        return Why.REFUSED_BEFORE.because(step.target, detail=attempt.detail or "no detail given")
    part = _first_among(held_of, step) if held_of and step.stage >= Stage.CAUSE else None
    if part is not None and step.stage is Stage.STATUS:
        return Why.END_REMAINS.because(step.target, part=part.target.short)
    cause = _first_among(stays, step) if stays else None
    if cause is not None:
        return Why.CAUSE_REMAINS.because(step.target, cause=cause.target.short)
    if part is not None:
        return Why.COMPANION_REMAINS.because(step.target, companion=part.target.short)
    if untold is not None and rests_on_the_told(step):
        return Why.UNTOLD.because(step.target, subject=untold.target.short)
    return None


def _causes_that_stay(wanted: Iterable[Step], refused: Container[object]) -> Mapping[Ref, Step]:
    """What a deletion of a cause rests on that was refused -> that deletion (PL-027)."""
    stay = [step for step in wanted if step.stage is Stage.CAUSE and step.aim in refused]
    return {ref: step for step in stay for ref in causes_of(step.action)}


def _first_among(found: Mapping[Ref, Step], step: Step) -> Step | None:
    """Of some steps by what they rest on, one of the same end as this one (PL-014, PL-027, PL-028)."""
    same = (found[cause] for cause in causes_of(step.action) if cause in found)
    return min(same, key=lambda other: other.sort_key, default=None)
