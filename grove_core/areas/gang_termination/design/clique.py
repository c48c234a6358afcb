"""Judging one clique: count its ready pods, then walk the breach table; the first row whose question says yes speaks.

Rule for this file: it is the hot path of every decision. One pass over the pods, one small tuple for each clique, no
reasons (a verdict gives its own when it is asked).
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, build
from grove_core.kernel.conditions import Truth, transition_time
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.statuses import breach_condition_of

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


def count_ready(pods: Iterable[Pod]) -> int:
    """Ready pods (GT-002)."""
    ready = 0
    for pod in pods:
        if pod.ready:
            ready += 1
    return ready


def judge_clique(clique: PodClique, pods: Iterable[Pod], now: datetime) -> CliqueJudgement:
    """Judge one clique on the pods of the same snapshot (GT-010 to GT-019).

    Args:
        clique: one that is not being deleted.
        pods: exactly those it controls (GT-001).
        now: the snapshot's clock.
    """
    ready = count_ready(pods)
    status, needed = clique.status, clique.min_available
    was_available = status.was_available
    if not was_available:
        was_available = availability_of(status, ready, needed)
    # The row that speaks is the answer, and the last row always does.
    for question, breach, why in BREACH_TABLE:  # noqa: B007  # pragma: no branch
        if question(ready, needed, was_available, status.updating):
            break
    since = transition_time(breach_condition_of(status), breach, now)
    return build(CliqueJudgement, (clique, ready, was_available, breach, why, since))


def availability_of(status: CliqueStatus, ready: int, needed: int) -> bool | None:
    """Whether a clique without a record of it is available now; frozen while it is updated (GT-015 to GT-017, GT-061).

    None where a status was written without saying so and nothing says so now.
    """
    if 0 < needed <= ready and not status.updating:
        return True
    return status.was_available if status.recorded else False
