"""Judging one clique: count its pods, then walk the breach table; the first row whose question says yes speaks.

Rule for this file: it is the hot path of every decision. One pass over the pods, one small tuple for each clique.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, Counts
from grove_core.kernel.conditions import Condition, Truth, condition_of, transition_time
from grove_core.kernel.decisions import Decision
from grove_core.resources.keys import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique

# (ready pods, needed pods, was available: None if not recorded, an update runs) -> does this row speak?
Question: TypeAlias = Callable[[int, int, bool | None, bool], bool]


def _enough_ready(ready: int, needed: int, _was: bool | None, _updating: bool) -> bool:  # noqa: FBT001 - a Question
    return ready >= needed


def _not_recorded(_ready: int, _needed: int, was: bool | None, _updating: bool) -> bool:  # noqa: FBT001 - a Question
    return was is None


def _never_available(_ready: int, _needed: int, was: bool | None, _updating: bool) -> bool:  # noqa: FBT001 - a Question
    return not was


def _in_update(_ready: int, _needed: int, _was: bool | None, updating: bool) -> bool:  # noqa: FBT001 - a Question
    return updating


def _otherwise(_ready: int, _needed: int, _was: bool | None, _updating: bool) -> bool:  # noqa: FBT001 - a Question
    return True


class Row(NamedTuple):
    """One row of the breach table."""

    question: Question
    breach: Truth
    why: Why


BREACH_TABLE: Final = (
    Row(_enough_ready, Truth.FALSE, Why.SUFFICIENT_READY_PODS),
    Row(_not_recorded, Truth.FALSE, Why.AVAILABILITY_NOT_RECORDED),
    Row(_never_available, Truth.FALSE, Why.NEVER_AVAILABLE),
    Row(_in_update, Truth.UNKNOWN, Why.UPDATE_IN_PROGRESS),
    Row(_otherwise, Truth.TRUE, Why.INSUFFICIENT_READY_PODS),
)


def count_pods(pods: Iterable[Pod], target_hash: str) -> Counts:
    """Count the pods of one clique (GT-002 to GT-006). Linear; the order of the pods does not matter."""
    replicas = ready = scheduled = gated = updated = 0
    for pod in pods:
        if pod.ready:
            ready += 1
        if pod.scheduled:
            scheduled += 1
        elif pod.gated:
            gated += 1
        if not pod.deleting:
            replicas += 1
        if pod.template_hash == target_hash:
            updated += 1
    return Counts(replicas, ready, scheduled, gated, updated)


def judge_clique(clique: PodClique, pods: Iterable[Pod], now: datetime) -> CliqueJudgement:
    """Judge one clique on the pods of the same snapshot (GT-010 to GT-019).

    Args:
        clique: one that is not being deleted.
        pods: exactly those it controls (GT-001).
        now: the snapshot's clock.
    """
    counts = count_pods(pods, clique.target_hash)
    status, needed = clique.status, clique.min_available
    was_available = availability_of(clique, counts.ready)
    breach, why = next(
        (breach, why)
        for question, breach, why in BREACH_TABLE
        if question(counts.ready, needed, was_available, status.updating)
    )
    since = transition_time(condition_of(status.conditions, MIN_AVAILABLE_BREACHED), breach, now)
    return CliqueJudgement(clique, counts, was_available, breach, why, since)


def availability_of(clique: PodClique, ready: int) -> bool | None:
    """Whether the clique was available, after this look at it: sticky, and frozen while it is updated.

    GT-015 to GT-017, GT-061. None where a status was written without saying so and nothing says so now.
    """
    status = clique.status
    if status.was_available or (0 < clique.min_available <= ready and not status.updating):
        return True
    return status.was_available if status.recorded else False


def placement_of(judged: CliqueJudgement) -> Decision[Truth]:
    """Whether enough pods of the clique are scheduled (GT-021, GT-022)."""
    clique, scheduled = judged.clique, judged.counts.scheduled
    placed = scheduled >= clique.min_available
    why = Why.SUFFICIENT_SCHEDULED_PODS if placed else Why.INSUFFICIENT_SCHEDULED_PODS
    reason = why.because(clique.ref, scheduled=scheduled, needed=clique.min_available)
    return Decision(Truth.TRUE if placed else Truth.FALSE, (reason,))


def conditions_of(judged: CliqueJudgement, now: datetime) -> tuple[Condition, Condition]:
    """The two conditions that a judged clique should carry (GT-011 to GT-022)."""
    placement = placement_of(judged)
    (placed,) = placement.because
    stored = condition_of(judged.clique.status.conditions, CLIQUE_SCHEDULED)
    since = transition_time(stored, placement.verdict, now)
    return (
        Condition(MIN_AVAILABLE_BREACHED, judged.breach, judged.why.code, judged.reason.sentence, judged.since),
        Condition(CLIQUE_SCHEDULED, placement.verdict, placed.rule.code, placed.sentence, since),
    )
