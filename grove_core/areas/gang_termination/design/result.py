"""The result of gang termination by the Gang Termination Design Doc."""

from collections.abc import Callable

from grove_core.areas.gang_termination.design.counts import count_set
from grove_core.areas.gang_termination.design.findings import findings_of_termination
from grove_core.areas.gang_termination.design.judge import judge_by_design
from grove_core.areas.gang_termination.design.wants import (
    deletions_of_termination,
    wake_of_termination,
    wants_of_statuses,
)
from grove_core.areas.gang_termination.result import TerminationResult
from grove_core.areas.gang_termination.verdicts import Judgement, terminating_of
from grove_core.snapshot.snapshot import Snapshot


def terminate_by_design(
    snapshot: Snapshot, judge: Callable[[Snapshot], Judgement] = judge_by_design
) -> TerminationResult:
    """Return the result of gang termination for a set.

    Args:
        judge: judges the cliques, groups and replicas of the set.
    """
    judgement = judge(snapshot)
    counts = count_set(snapshot, judgement)
    return TerminationResult(
        statuses=wants_of_statuses(snapshot, judgement, counts),
        deletions=tuple(deletions_of_termination(snapshot.root, judgement)),
        findings=tuple(findings_of_termination(snapshot, judgement, counts)),
        wake_at=wake_of_termination(judgement),
        terminating=terminating_of(judgement),
    )
