"""Invariants about failed writes and over several rounds: recoveries, refused writes, and that a controller rests."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, StepStage, termination_causes
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.resources.podclique import PodClique
from grove_core.testing.invariants.invariant import History, Round, Violation, breachable_parts
from grove_core.testing.invariants.reference_verdicts import TerminatingBreach, termination_delay_of

_ROUNDS_TO_REST: Final = 12


def violations_of_premature_termination(history: History) -> Iterator[Violation]:
    """Yield terminations for a breach whose delay has not ended since a recovery that is not stored (GT-032, GT-067).

    What is stored is judged with the deletions; that it is stored with the right time is GT-019.
    """
    found = history[-1]
    for replica in found.required.ends:
        causes = found.required.of_set[replica] if isinstance(replica, int) else found.required.of_groups[replica]
        gone = [ref for ref in found.deletions if _is_of(found.cliques.get(ref), replica)]
        recovered = {cause.ref.short: _recovered_at(found, cause) for cause in causes}
        if gone and all(at is not None for at in recovered.values()):
            reasons = ", ".join(f"{name} recovered at {at:%H:%M:%S}" for name, at in recovered.items())
            yield Violation(gone[0].short, f"no deletion, since {reasons}", "one")


def _is_of(clique: PodClique | None, replica: int | tuple[Ref, int]) -> bool:
    if clique is None or isinstance(replica, int):
        return clique is not None and clique.replica_index == replica
    return (clique.owner_name, clique.group_replica_index) == (replica[0].name, replica[1])


def _recovered_at(found: Round, cause: TerminatingBreach) -> datetime | None:
    """Return the last recovery of a cause that could not be written; None where the delay has ended since then."""
    part = next(one for one in breachable_parts(found.snapshot) if one.ref == cause.ref)
    unwritten = found.unwritten_conditions(part, "MinAvailableBreached")
    ends = [one.last_transition_time for one in unwritten if one.status is not ConditionStatus.TRUE]
    last, delay = max(ends, default=None), termination_delay_of(found.snapshot, part) or timedelta()
    return last if last is not None and last + delay > found.snapshot.now else None


def violations_of_repeated_refused_writes(history: History) -> Iterator[Violation]:
    """Yield writes that the API server has just refused and that are repeated at once (PL-012)."""
    found = history[-1]
    refused = {
        one.step.write_key: termination_causes(one.step.action)
        for one in found.snapshot.attempts
        if one.is_withheld and isinstance(one.step.action, Delete)
    }
    for step in found.plan.steps:
        causes = termination_causes(step.action)
        if step.write_key in refused and causes <= refused[step.write_key]:
            yield Violation(step.target.short, "no second try at once, since it was refused", "one")


def violations_of_kept_companions(history: History) -> Iterator[Violation]:
    """Yield deletions of a termination whose cause the API server refuses to delete (PL-027).

    It refuses until the PodClique changes (PL-012).
    """
    found = history[-1]
    causes = {
        ref
        for one in found.snapshot.attempts
        if one.is_withheld and _is_of_same_cause(found, one.step)
        for ref in termination_causes(one.step.action)
    }
    for step in found.plan.steps:
        if isinstance(step.action, Delete) and termination_causes(step.action) & causes:
            yield Violation(step.target.short, "no deletion, since that of the cause was refused", "one")


def _is_of_same_cause(found: Round, step: Step) -> bool:
    """Return whether a step deletes the cause of a termination, and the PodClique has not changed since then."""
    clique = found.cliques.get(step.target) if step.stage is StepStage.CAUSE else None
    return clique is not None and isinstance(step.action, Delete) and clique.guard == step.action.guard


def violations_of_guards(history: History) -> Iterator[Violation]:
    """Yield deletions of what the set does not own, or that do not name what was judged (PL-004)."""
    found = history[-1]
    for one in broken_laws_in_plan(found.plan, found.snapshot):
        if one.law == "PL-004":
            yield Violation(one.where, one.expected, one.got)


def violations_of_coming_to_rest(history: History) -> Iterator[Violation]:
    """Yield the controller that still has steps after twelve rounds in which nothing happens (PL-002)."""
    last = history[-_ROUNDS_TO_REST:]
    if len(last) == _ROUNDS_TO_REST and all(one.is_quiet and one.plan.steps for one in last):
        targets = ", ".join(step.target.short for step in last[-1].plan.steps[:3])
        yield Violation("plan", f"no steps after {_ROUNDS_TO_REST} rounds without a change", f"steps for {targets}")
