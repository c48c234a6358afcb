"""Wants against the snapshot: the steps that close the gap."""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from grove_core.kernel.decisions import Finding
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Action, Attempt, Delete, DropFinalizer, Outcome, SetStatus, Stage, Step
from grove_core.kernel.wants import Absent, Desired, Released, Status, Want
from grove_core.plan.plan import Plan, Withheld
from grove_core.plan.rules import Why
from grove_core.snapshot.snapshot import Snapshot


def difference(
    desired: Desired,
    snapshot: Snapshot,
    *,
    rules: str,
    wake_at: datetime | None,
    findings: Iterable[Finding],
) -> Plan:
    """The plan that makes the snapshot match the wants. Linear but for the final sort."""
    refused = {
        (attempt.step.target, attempt.step.action): attempt
        for attempt in snapshot.attempts
        if attempt.outcome is Outcome.REFUSED
    }
    steps: list[Step] = []
    withheld = [Withheld(held.target, held.because) for held in desired.held_back]
    for want in desired.wants:
        step = _step_for(want)
        attempt = refused.get((step.target, step.action))
        if attempt is None:
            steps.append(step)
        else:
            withheld.append(Withheld(step.target, (_refusal(attempt), *step.because)))
    return Plan(
        root=snapshot.root.ref,
        root_uid=snapshot.root.meta.uid,
        rules=rules,
        steps=tuple(sorted(steps, key=lambda step: step.sort_key)),
        withheld=tuple(sorted(withheld, key=lambda held: held.target.sort_key)),
        wake_at=wake_at,
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
    )


def _step_for(want: Want) -> Step:
    if not want.because:
        raise BrokenInvariant("PL-003", f"want without a reason: {want}")
    stage, action = _action_for(want)
    return Step(stage, want.target, action, want.because)


def _action_for(want: Want) -> tuple[Stage, Action]:
    match want:
        case Status():
            return Stage.STATUS, SetStatus(want.fields, want.guard)
        case Absent():
            return Stage.CLEANUP, Delete(want.guard)
        case Released():
            return Stage.CLEANUP, DropFinalizer(want.finalizer, want.guard)
        case _:
            assert_never(want)


def _refusal(attempt: Attempt) -> Reason:
    return Why.REFUSED_BEFORE.because(attempt.step.target, detail=attempt.detail or "no detail given")
