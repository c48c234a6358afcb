"""Failed writes that later rounds of an operator have to know (OP-103)."""

from collections.abc import Iterable
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    AttemptOutcome,
    Delete,
    SetStatus,
    Step,
    deletes_or_reports_termination,
)
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import CLIQUE_KIND, MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import is_marked_breached
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.unwritten_breach_changes import condition_written_by_step, writes_breach_end

_Write: TypeAlias = tuple[Ref, type[Action], str, bool]


def failed_writes_after_round(before: Iterable[Attempt], attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """Return the failed writes after a round, oldest first; a loop passes them to its next round. Linear.

    They are writes on which others depend (parts of terminations, deletions of PodCliques, reports of breaches) and
    which were not attempted again. A failed report that a breach is over is kept until a status of that object is
    written; otherwise the next breach would continue the old one (GT-067). None of them withholds a step (PL-012).
    """
    found = tuple(attempts)
    tried = {_write_of(one.step) for one in found}
    written = {_write_of(one.step) for one in found if one.outcome is AttemptOutcome.DONE}
    kept: dict[tuple[_Write, bool], Attempt] = {}
    for one in before:
        write, ends_breach = slot = _slot_of(one.step)
        if write not in tried or (ends_breach and write not in written):
            kept[slot] = one
    for one in found:
        if one.outcome is AttemptOutcome.DONE or not (
            _is_of_several(one.step) or condition_written_by_step(one.step, MIN_AVAILABLE_BREACHED)
        ):
            continue
        write, _ = slot = _slot_of(one.step)
        for older in {(write, False), slot}:  # an earlier report of a breach is superseded, too
            kept.pop(older, None)
        kept[slot] = replace(one, withheld=False) if one.is_withheld else one
    return tuple(kept.values())


def with_expired_deletion_refusals(failed: Iterable[Attempt], refused: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """Return the failed writes with the deletions whose refusal has expired, where no newer attempt is known. Linear.

    While a refusal stands its step is not attempted, so it may have been dropped as no longer wanted and be wanted
    again now. Without it the objects that were deleted for the same termination would be created again.
    """
    found = tuple(failed)
    known = {_write_of(one.step) for one in found}
    former = (
        replace(one, withheld=False)
        for one in refused
        if one.is_withheld
        and isinstance(one.step.action, Delete)
        and _is_of_several(one.step)
        and _write_of(one.step) not in known
    )
    return (*found, *former)


def failed_writes_still_wanted(failed: Iterable[Attempt], plan: Plan, seen: Snapshot) -> tuple[Attempt, ...]:
    """Return the failed writes that still matter after a plan. Linear.

    A write matters while the plan still wants it: a round follows soon after a write is forgotten, and it would repeat
    the write without its pause (OP-023). A report of a breach matters also while the object is marked as breached,
    whatever the plan does to the object: an object that is to be deleted may stay and recover. Where the plan withholds
    the object or the whole set, and where another write of the same object takes precedence over the report of a
    termination (PL-013), the plan does not show what is wanted, so the write is kept. A failed deletion of an object
    that is gone matters only as a part of a termination, which another client then completed (GF-092).
    """
    found = tuple(failed)
    if not found:
        return found
    now = with_own_writes(seen)
    parts: tuple[PodClique | ScalingGroup, ...] = (*now.groups, *now.cliques)
    there = {(one.ref, one.uid) for one in parts}
    breached = {(one.ref, one.uid) for one in parts if is_marked_breached(one.status)}
    withheld, wanted = {one.target for one in plan.withheld}, {_write_of(step) for step in plan.steps}
    hidden = {step.target for step in plan.steps if isinstance(step.action, Apply | Delete)}

    def matters(step: Step) -> bool:
        target, kind, uid, reports = write = _write_of(step)
        if condition_written_by_step(step, MIN_AVAILABLE_BREACHED) and (target, uid) in breached:
            return True
        if not deletes_or_reports_termination(step) and (target, uid) not in there:
            return False
        is_of_plan = write in wanted or target in withheld or plan.root in withheld
        return is_of_plan or (kind is SetStatus and reports and target in hidden)

    return tuple(one for one in found if matters(one.step))


def _is_of_several(step: Step) -> bool:
    """Whether other deletions depend on it: part of a termination, or deletion of a PodClique (GF-091, WL-236)."""
    return deletes_or_reports_termination(step) or (isinstance(step.action, Delete) and step.target.kind == CLIQUE_KIND)


def _slot_of(step: Step) -> tuple[_Write, bool]:
    """The key of a kept attempt: the last one of each write, and its last report that a breach is over."""
    return _write_of(step), writes_breach_end(step)


def _write_of(step: Step) -> _Write:
    """The kind of write and the object, whatever its resource version."""
    target, kind, guard, reports_termination = step.write_key
    return target, kind, "" if guard is None else guard.uid, reports_termination
