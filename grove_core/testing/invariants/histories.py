"""Invariants over several rounds: how long a breach has lasted, refused writes, and that a controller comes to rest."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from grove_core.kernel.conditions import ConditionStatus, condition_of
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome, Delete, StepStage, termination_causes
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.testing.invariants.invariant import History, Violation, breachable_parts
from grove_core.testing.invariants.required_verdicts import Cause, delay_of

_ROUNDING: Final = timedelta(seconds=1)  # condition times are whole seconds
_ROUNDS_TO_REST: Final = 12


def violations_of_duration(history: History) -> Iterator[Violation]:
    """Yield terminations for a breach that has not lasted for its delay without a pause (GT-032).

    The breach counts from the first round in which the pods show it, or from what was stored before the history began.
    """
    found = history[-1]
    for replica in found.required.ends:
        causes = found.required.of_set[replica] if isinstance(replica, int) else found.required.of_groups[replica]
        gone = [ref for ref in found.deletions if _is_of(found.cliques.get(ref), replica)]
        if gone and all(_breached_since(history, cause.ref) > _latest_start(history, cause) for cause in causes):
            first = min(causes, key=lambda one: one.deadline)
            since = _breached_since(history, first.ref)
            yield Violation(
                gone[0].short, f"no deletion, since {first.ref.short} is breached from {since:%H:%M:%S}", "one"
            )


def _is_of(clique: PodClique | None, replica: int | tuple[Ref, int]) -> bool:
    if clique is None or isinstance(replica, int):
        return clique is not None and clique.replica_index == replica
    return (clique.owner_name, clique.group_replica_index) == (replica[0].name, replica[1])


def _part(history: History, at: int, ref: Ref) -> PodClique | ScalingGroup | None:
    return next((one for one in breachable_parts(history[at].snapshot) if one.ref == ref), None)


def _latest_start(history: History, cause: Cause) -> datetime:
    part = _part(history, -1, cause.ref)
    delay = delay_of(history[-1].snapshot, part) if part else None
    return history[-1].snapshot.now - (delay or timedelta()) + _ROUNDING


def _breached_since(history: History, ref: Ref) -> datetime:
    """Return since when a part has been breached without a pause, by the pods of each round."""
    uid = getattr(_part(history, -1, ref), "uid", "")
    since = history[-1].snapshot.now
    for at in range(len(history) - 1, -1, -1):
        part = _part(history, at, ref)
        if part is None or part.uid != uid:
            return since
        if not history[at].required.is_breached(ref) and _is_known_to_be_over(history, at + 1, ref):
            return since
        since = history[at].snapshot.now
    first = _part(history, 0, ref)
    stored = condition_of(first.status.conditions, "MinAvailableBreached") if first else None
    return stored.last_transition_time if stored and stored.status is ConditionStatus.TRUE else since


def _is_known_to_be_over(history: History, at: int, ref: Ref) -> bool:
    """Return whether a recovery is known a round later: stored, or among the writes that have just failed (GT-067).

    A recovery that was over before an operator wrote it, because it crashed, cannot be known.
    """
    if at == len(history):
        return True
    part = _part(history, at, ref)
    stored = condition_of(part.status.conditions, "MinAvailableBreached") if part else None
    is_stored = stored is None or stored.status is not ConditionStatus.TRUE
    return is_stored or (at == len(history) - 1 and ref in history[at].failed)


def violations_of_refusals(history: History) -> Iterator[Violation]:
    """Yield writes that the API server has just refused and that are repeated at once (PL-012)."""
    found = history[-1]
    refused = {
        one.step.write_key: termination_causes(one.step.action)
        for one in found.snapshot.attempts
        if one.outcome is AttemptOutcome.REFUSED and isinstance(one.step.action, Delete)
    }
    for step in found.plan.steps:
        causes = termination_causes(step.action)
        if step.write_key in refused and causes <= refused[step.write_key]:
            yield Violation(step.target.short, "no second try at once, since it was refused", "one")


def violations_of_kept_companions(history: History) -> Iterator[Violation]:
    """Yield deletions of a termination whose cause the API server refuses to delete (PL-027)."""
    found = history[-1]
    causes = {
        ref
        for one in found.snapshot.attempts
        if one.outcome is AttemptOutcome.REFUSED and one.step.stage is StepStage.CAUSE
        for ref in termination_causes(one.step.action)
    }
    for step in found.plan.steps:
        if isinstance(step.action, Delete) and termination_causes(step.action) & causes:
            yield Violation(step.target.short, "no deletion, since that of the cause was refused", "one")


def violations_of_guards(history: History) -> Iterator[Violation]:
    """Yield deletions of what the set does not own, or that do not name what was judged (PL-004)."""
    found = history[-1]
    for one in broken_laws_in_plan(found.plan, found.snapshot):
        if one.law == "PL-004":
            yield Violation(one.where, one.expected, one.got)


def violations_of_rest(history: History) -> Iterator[Violation]:
    """Yield the controller that still has steps after twelve rounds in which nothing happens (PL-002)."""
    last = history[-_ROUNDS_TO_REST:]
    if len(last) == _ROUNDS_TO_REST and all(one.is_quiet and one.plan.steps for one in last):
        targets = ", ".join(step.target.short for step in last[-1].plan.steps[:3])
        yield Violation("plan", f"no steps after {_ROUNDS_TO_REST} rounds without a change", f"steps for {targets}")
