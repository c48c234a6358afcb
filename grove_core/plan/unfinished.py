"""Writes that failed and that later looks have to know of, from round to round (OP-103)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Action, Apply, Attempt, Outcome, SetStatus, Step, is_of_end
from grove_core.plan.plan import Plan
from grove_core.snapshot.overtaken import tells_of_breach, tells_that_a_breach_is_over

_Write: TypeAlias = tuple[Ref, type[Action], str, bool]


def unfinished_after(before: Iterable[Attempt], answers: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """What failed of ends and breaches and was not tried again, oldest first. Linear. Who plans to rest hands it on.

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
        if one.outcome is Outcome.DONE or not (is_of_end(one.step) or tells_of_breach(one.step)):
            continue
        slot = _slot_of(one.step)
        for older in {(slot[0], False), slot}:  # a breach that was told before this one is over, too
            left.pop(older, None)
        left[slot] = replace(one, outcome=Outcome.CONFLICT) if one.outcome is Outcome.REFUSED else one
    return tuple(left.values())


def still_wanted(unfinished: Iterable[Attempt], plan: Plan) -> tuple[Attempt, ...]:
    """Without what nobody wants any more.

    All of it where a plan could judge nothing, so that nobody knows what is wanted; and a status that fields of the
    same object hide (PL-013).
    """
    found = tuple(unfinished)
    held = {one.target for one in plan.withheld}
    if not found or plan.root in held:
        return found
    wanted = {_write_of(step) for step in plan.steps}
    hidden = {step.target for step in plan.steps if isinstance(step.action, Apply)}

    def matters(step: Step) -> bool:
        is_hidden = isinstance(step.action, SetStatus) and step.target in hidden
        return is_hidden or _write_of(step) in wanted or step.target in held

    return tuple(one for one in found if matters(one.step))


def _stays(step: Step, tried: set[_Write], written: set[_Write]) -> bool:
    write = _write_of(step)
    return write not in tried or (write not in written and tells_that_a_breach_is_over(step))


def _slot_of(step: Step) -> tuple[_Write, bool]:
    """Of each write the last attempt is known, and the last one that told that a breach was over."""
    return _write_of(step), tells_that_a_breach_is_over(step)


def _write_of(step: Step) -> _Write:
    """The same kind of write on one object, in whatever version."""
    target, kind, guard, tells = step.aim
    return target, kind, "" if guard is None else guard.uid, tells
