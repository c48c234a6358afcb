"""The result of gang termination for one set, and whether a set can be judged at all."""

from datetime import datetime
from typing import NamedTuple

from grove_core.areas.gang_termination.verdicts import ReplicasToTerminate
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome
from grove_core.kernel.wants import DesiredChanges, ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot, uncollected_part_kinds


class TerminationResult(NamedTuple):
    """What the rules of gang termination want for one set.

    Attributes:
        statuses: the statuses that should change, and what is withheld.
        deletions: of the PodCliques of terminated replicas.
        wake_at: when time alone may change the result; None if never (PL-008).
        terminating: the replicas that are terminated; the workload area creates nothing of them (WL-076).
        deferred: deletions that have to wait, because a fresh read before a termination failed (PL-029).
    """

    statuses: DesiredChanges
    deletions: tuple[ObjectToDelete, ...]
    findings: tuple[Finding, ...]
    wake_at: datetime | None
    terminating: ReplicasToTerminate
    deferred: tuple[ObjectToDelete, ...] = ()

    @property
    def as_area_result(self) -> AreaResult:
        """Return the wants, the findings and when to look again; of one object a deletion comes first (PL-013)."""
        return AreaResult(
            DesiredChanges.union_of_areas((DesiredChanges(self.deletions), self.statuses)),
            self.findings,
            self.wake_at,
            self.deferred,
        )


class LostNodeResult(NamedTuple):
    """What becomes of the pods of a set on nodes that do not answer (GF-015 to GF-018).

    Attributes:
        evictions: the time of each eviction, and the pod.
    """

    findings: tuple[Finding, ...] = ()
    evictions: tuple[tuple[datetime, Pod], ...] = ()


def defer_unconfirmed_terminations(result: TerminationResult, snapshot: Snapshot) -> TerminationResult:
    """Return the result; with all deletions deferred where a fresh read before a termination failed (PL-029).

    The replicas still count as terminating, so nothing of them is created (WL-076): an earlier round may have deleted
    a PodClique, or it exists and is not in the cache.
    """
    if all(attempt.outcome is not AttemptOutcome.NOT_CONFIRMED for attempt in snapshot.attempts):
        return result
    return result._replace(deletions=(), deferred=result.deletions)


def unjudgeable_set_result(root: Ref, because: tuple[Reason, ...]) -> TerminationResult:
    """Return the result for a set that cannot be judged: nothing is written or terminated (GT-024, GF-009)."""
    return TerminationResult(
        statuses=DesiredChanges((), (Withheld(root, because, obstacle=StepObstacle.SET_NOT_JUDGED),)),
        deletions=(),
        findings=tuple(
            Finding(root, question, ConditionStatus.UNKNOWN.value, because) for question in (BREACH, TERMINATION)
        ),
        wake_at=None,
        terminating=ReplicasToTerminate(),
    )


def reasons_for_uncollected_kinds(snapshot: Snapshot, rule: Rule) -> tuple[Reason, ...]:
    """Return a reason for each kind that a judgement of this set needs and that was not collected.

    Args:
        rule: the rule of the reasons; its fact is the ``kind``.
    """
    return tuple(rule.because(snapshot.root.ref, kind=kind) for kind in uncollected_part_kinds(snapshot))
