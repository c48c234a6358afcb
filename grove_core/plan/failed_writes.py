"""Writes that failed and that later looks have to know of, from round to round (OP-103)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Action, Apply, Attempt, Delete, Outcome, SetStatus, Step, is_part_of_termination
from grove_core.plan.plan import Plan
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import is_marked_breached
from grove_core.resources.topology_usage import CLIQUE_KIND
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.superseded_breaches import reports_breach, reports_recovery

_Write: TypeAlias = tuple[Ref, type[Action], str, bool]


def failed_writes_after(before: Iterable[Attempt], answers: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """What failed and matters to others, and was not tried again, oldest first. Linear. Who plans to rest hands it on.

    That a breach was over stays known until something of that object's status is written: without it nobody could tell
    that the next breach began anew (GT-067). What was refused is among it as a conflict: in that form it stands in no
    way (PL-012), and is known longer than it stands.

    Args:
        before: what was unfinished.
        answers: of the last round, in the order in which they were tried.
    """
    found = tuple(answers)
    tried = {_write_of(one.step) for one in found}
    written = {_write_of(one.step) for one in found if one.outcome is Outcome.DONE}
    left = {_slot_of(one.step): one for one in before if _stays(one.step, tried, written)}
    for one in found:
        if one.outcome is Outcome.DONE or not (_is_of_several(one.step) or reports_breach(one.step)):
            continue
        slot = _slot_of(one.step)
        for older in {(slot[0], False), slot}:  # a breach that was told before this one is over, too
            left.pop(older, None)
        left[slot] = replace(one, outcome=Outcome.CONFLICT) if one.outcome is Outcome.REFUSED else one
    return tuple(left.values())


def with_earlier_refusals(unfinished: Iterable[Attempt], refused: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """With the deletions that were refused and stand so no longer, where nothing newer is known of them. Linear.

    While a refusal stood its step was not tried, so it may have been forgotten as one that nobody wanted, and be wanted
    again by now: that others went for it would be known to nobody.
    """
    found = tuple(unfinished)
    known = {_write_of(one.step) for one in found}
    former = (
        replace(one, outcome=Outcome.CONFLICT)
        for one in refused
        if one.outcome is Outcome.REFUSED
        and isinstance(one.step.action, Delete)
        and _is_of_several(one.step)
        and _write_of(one.step) not in known
    )
    return (*found, *former)


def still_wanted(unfinished: Iterable[Attempt], plan: Plan, seen: Snapshot) -> tuple[Attempt, ...]:
    """Without what nobody wants any more. Linear.

    What tells of a breach matters for as long as the object stands breached, whatever is planned for it: also what is
    to be deleted may stay, and recover. Of ends and deletions all matters where a plan could judge nothing, so that
    nobody knows what is wanted, and a status that another write of the same object hides (PL-013). That what is gone
    could not be deleted matters only of an end, which went through another way (GF-093).

    Args:
        unfinished: what was.
        plan: of this round.
        seen: what it was made of.
    """
    found = tuple(unfinished)
    if not found:
        return found
    now = with_own_writes(seen)
    parts: tuple[PodClique | ScalingGroup, ...] = (*now.groups, *now.cliques)
    there = {(one.ref, one.uid) for one in parts}
    breached = {(one.ref, one.uid) for one in parts if is_marked_breached(one.status)}
    held, wanted = {one.target for one in plan.withheld}, {_write_of(step) for step in plan.steps}
    hidden = {step.target for step in plan.steps if isinstance(step.action, Apply | Delete)}

    def matters(step: Step) -> bool:
        target, kind, uid, tells = write = _write_of(step)
        if reports_breach(step) and (target, uid) in breached:
            return True
        if not is_part_of_termination(step) and (target, uid) not in there:
            return False
        is_of_plan = write in wanted or target in held or plan.root in held
        return _is_of_several(step) and (is_of_plan or (kind is SetStatus and tells and target in hidden))

    return tuple(one for one in found if matters(one.step))


def _is_of_several(step: Step) -> bool:
    """Whether it is of an end, or deletes a PodClique, so that others may go for it (GF-091, WL-236)."""
    return is_part_of_termination(step) or (isinstance(step.action, Delete) and step.target.kind == CLIQUE_KIND)


def _stays(step: Step, tried: set[_Write], written: set[_Write]) -> bool:
    write = _write_of(step)
    return write not in tried or (write not in written and reports_recovery(step))


def _slot_of(step: Step) -> tuple[_Write, bool]:
    """Of each write the last attempt is known, and the last one that told that a breach was over."""
    return _write_of(step), reports_recovery(step)


def _write_of(step: Step) -> _Write:
    """The same kind of write on one object, in whatever version."""
    target, kind, guard, tells = step.write_key
    return target, kind, "" if guard is None else guard.uid, tells
