"""What areas return: decisions, the findings that a plan lists, and the result of one area."""

from collections.abc import Iterable
from datetime import datetime
from enum import Enum, unique
from typing import Generic, NamedTuple, TypeVar

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import DesiredChanges, ObjectToDelete

V = TypeVar("V")


class Decision(Struct, Generic[V], frozen=True):
    """A verdict and its reasons; ``because`` is never empty (PL-003)."""

    verdict: V
    because: tuple[Reason, ...]

    def __post_init__(self) -> None:
        if not self.because:
            raise BrokenInvariant("PL-003", f"verdict {self.verdict!r} without a reason")


@unique
class SubjectHealth(Enum):
    """The state of the subject of a finding, independent of the verdict (PL-003)."""

    HEALTHY = "healthy"
    """It has what it needs."""
    LACKING = "lacking"
    """It has too few ready pods, or a part of it is missing."""
    UNRECORDED = "unrecorded"
    """It is lacking, and no record says that it ever was available (GT-015)."""
    NOT_JUDGED = "notJudged"
    """The question is not about health, or the answer is not known."""


class ExistingAndWantedCounts(NamedTuple):
    """The number of existing and of wanted ones, for instance of available replicas of a set."""

    there: int
    wanted: int


class Finding(NamedTuple):
    """A decision as the plan lists it: the question, its subject, and the answer.

    Attributes:
        subject: the object, or one replica of it.
        question: one of ``kernel/questions.py``; with the subject it is unique in a plan.
        verdict: the answer as a word; that module has the words of each question.
        because: never empty.
        deadline: when the first delay behind the verdict ends or ended; None where no delay decides it.
        health: the state of the subject.
        causes: the objects whose own findings lead to this one: the breached constituents of a replica, the breached
            PodCliques of a scaling group, the domain that a PodClique shares.
        within: the replicas that the subject is part of, the nearest first: of its scaling group, of its set.
        share: available and wanted replicas, where the question asks for them.
    """

    subject: Ref
    question: str
    verdict: str
    because: tuple[Reason, ...]
    deadline: datetime | None = None
    health: SubjectHealth = SubjectHealth.NOT_JUDGED
    causes: tuple[Ref, ...] = ()
    within: tuple[Ref, ...] = ()
    share: ExistingAndWantedCounts | None = None

    @property
    def sort_key(self) -> tuple[tuple[str, str, str, int], str]:
        """Order by subject, then question."""
        return (self.subject.sort_key, self.question)


def reasons_for_question(question: str, findings: Iterable[Finding]) -> tuple[Reason, ...]:
    """Return the reasons of every answer to one question, in the order of the findings."""
    return tuple(why for one in findings if one.question == question for why in one.because)


class AreaResult(NamedTuple):
    """The wants, findings and next wake time of one area, or of several areas together.

    Attributes:
        wake_at: when time alone may change the result; None if never (PL-008).
        requeue_at: when the operator reconciles again by a short timer of its own; None without one (WF-070).
        deferred: deletions for gang terminations that have to wait for a fresh read (PL-029).
    """

    wants: DesiredChanges = DesiredChanges()
    findings: tuple[Finding, ...] = ()
    wake_at: datetime | None = None
    deferred: tuple[ObjectToDelete, ...] = ()
    requeue_at: datetime | None = None


def union_of_area_results(results: Iterable[AreaResult]) -> AreaResult:
    """Return the results of several areas as one; earlier ones come first where two want one object (PL-013)."""
    found = tuple(results)
    return AreaResult(
        DesiredChanges.union_of_areas(one.wants for one in found),
        tuple(finding for one in found for finding in one.findings),
        min((one.wake_at for one in found if one.wake_at is not None), default=None),
        tuple(deletion for one in found for deletion in one.deferred),
        min((one.requeue_at for one in found if one.requeue_at is not None), default=None),
    )
