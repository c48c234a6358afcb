"""Judges one clique: counts its ready pods, then takes the first row of the breach table whose condition holds.

This is the hot path of every decision: one pass over the pods, one small tuple for each clique, and no reasons, which
are built when they are read.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement, build
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.conditions import Condition, ConditionStatus, next_transition_time
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.status_comparison import breach_condition_of

# (ready pods, needed pods, was available: None if not recorded, an update runs) -> whether the row applies
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


class BreachTableRow(NamedTuple):
    """One row of the breach table: a condition, the verdict on the breach, and the rule behind it."""

    question: Question
    breach: ConditionStatus
    why: TerminationReason


BREACH_TABLE: Final = (
    BreachTableRow(_enough_ready, ConditionStatus.FALSE, TerminationReason.SUFFICIENT_READY_PODS),
    BreachTableRow(_not_recorded, ConditionStatus.FALSE, TerminationReason.AVAILABILITY_NOT_RECORDED),
    BreachTableRow(_never_available, ConditionStatus.FALSE, TerminationReason.NEVER_AVAILABLE),
    BreachTableRow(_in_update, ConditionStatus.UNKNOWN, TerminationReason.UPDATE_IN_PROGRESS),
    BreachTableRow(_otherwise, ConditionStatus.TRUE, TerminationReason.INSUFFICIENT_READY_PODS),
)


def count_ready_and_preempted_pods(pods: Iterable[Pod]) -> tuple[int, int]:
    """Return the number of ready pods (GT-002), and of those among them that the scheduler preempts."""
    ready = preempted = 0
    for pod in pods:
        if pod.ready:
            ready += 1
            preempted += pod.preempted
    return ready, preempted


def judge_clique_breach(clique: PodClique, pods: Sequence[Pod], now: datetime) -> CliqueJudgement:
    """Judge one clique on the pods of the same snapshot (GT-011 to GT-019).

    Args:
        clique: one that is not being deleted.
        pods: exactly those it controls (GT-001).
    """
    ready, preempted = count_ready_and_preempted_pods(pods)
    status, needed = clique.status, clique.min_available
    was_available = status.was_available
    if not was_available:
        was_available = clique_was_available(status, ready, needed)
    # The first row that applies gives the verdict; the last row always applies.
    for question, breach, why in BREACH_TABLE:  # noqa: B007  # pragma: no branch
        if question(ready, needed, was_available, status.updating):
            break
    stored = breach_condition_of(status)
    if breach is ConditionStatus.TRUE:
        is_preempted = any(pod.preempted for pod in pods) or _has_reason_preempted(stored)
    else:
        is_preempted = ready >= needed > ready - preempted
    if is_preempted:
        why = TerminationReason.PODS_PREEMPTED
    since = next_transition_time(stored, breach, now)
    return build(CliqueJudgement, (clique, ready, was_available, breach, why, since, is_preempted))


def _has_reason_preempted(stored: Condition | None) -> bool:
    """Return whether the breach was reported as preemption, which pods that are gone no longer show (GT-068)."""
    return stored is not None and TerminationReason.PODS_PREEMPTED.has_code(stored.reason)


def clique_was_available(status: CliqueStatus, ready: int, needed: int) -> bool | None:
    """Return the ``wasAvailable`` of a clique that is not recorded as available (GT-015, GT-016).

    It becomes true with enough ready pods, unless an update runs. None if the status was written without the field and
    the clique is not available now.
    """
    if 0 < needed <= ready and not status.updating:
        return True
    return status.was_available if status.recorded else False
