"""Why a plan deletes an object, or why it does not: for a deletion that has happened (AF-007, AF-008)."""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from grove_core.areas.gang_termination.termination_findings import constituents_behind_termination
from grove_core.kernel.decisions import Finding
from grove_core.kernel.gang_terminations import GangTermination
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.plan.plan import Plan


class DeletionReasons(NamedTuple):
    """Why a plan deletes an object.

    Attributes:
        because: the reasons of the step; never empty.
        terminates: the gangs that are terminated with it; empty for every other deletion.
        breaches: the findings on the constituents whose breaches lead to these terminations.
    """

    because: tuple[Reason, ...]
    terminates: tuple[GangTermination, ...] = ()
    breaches: tuple[Finding, ...] = ()


def deletion_reasons_in_plan(plan: Plan, target: Ref, uid: str, later: Iterable[Step] = ()) -> DeletionReasons | None:
    """Return why a plan deletes an object; None if it does not.

    Args:
        uid: of the object; empty where it is not known, so that any object of that name counts.
        later: steps of the rounds that follow at once.
    """
    for step in chain(plan.steps, later):
        action = step.action
        if step.target == target and isinstance(action, Delete) and uid in {"", action.guard.uid}:
            return DeletionReasons(step.because, action.terminates, _breaches_behind(plan, action.terminates))
    return None


def findings_on_object(plan: Plan, target: Ref, within: tuple[Ref, ...]) -> tuple[Finding, ...]:
    """Return what a plan that does not delete an object says of it: its breach, and the terminations it is part of.

    Args:
        within: the replicas that the object is part of.
    """
    subjects = {target, *within}
    return tuple(one for one in plan.findings if one.subject in subjects and one.question in {BREACH, TERMINATION})


def _breaches_behind(plan: Plan, terminates: tuple[GangTermination, ...]) -> tuple[Finding, ...]:
    breaches = {one.subject: one for one in plan.findings if one.question == BREACH}
    replicas = {one.replica for one in terminates}
    ends = [one for one in plan.findings if one.question == TERMINATION and one.subject in replicas]
    behind = dict.fromkeys(ref for one in ends for ref in constituents_behind_termination(one, breaches))
    return tuple(breaches[ref] for ref in behind if ref in breaches)
