"""What an explanation of a forecast consists of: replicas with their urgency and causes, and findings on the set."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum, unique
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.verdicts import DELEGATES, KEEPS, SUSPENDS, TERMINATES, WAITS
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding, reasons_for_question
from grove_core.kernel.questions import (
    DEFECT,
    FAILED_WRITE,
    FOREIGN_GATE,
    LATE_START,
    LEAVING_PODS,
    LOST_NODE,
    MISPLACEMENT,
    PREDICTION,
    SCALED,
    STALE_GANG,
)
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.termination_hints import TerminationHints

_UNDECIDED: Final = frozenset({StepObstacle.GANGS_NOT_COLLECTED, StepObstacle.GROUPS_NOT_COLLECTED})
_GATES: Final = frozenset({StepObstacle.GATE, StepObstacle.GANGS_NOT_COLLECTED})


@unique
class EntryUrgency(Enum):
    """How urgent an entry is, the most urgent first."""

    TERMINATES = "TERMINATE"
    WAITS = "WAIT"
    HELD = "HELD BACK"
    UNKNOWN = "UNKNOWN"
    GATED = "GATED"
    KEEPS = "KEEP"


URGENCY_BY_VERDICT: Final[Mapping[str, EntryUrgency]] = MappingProxyType(
    {
        TERMINATES: EntryUrgency.TERMINATES,
        WAITS: EntryUrgency.WAITS,
        ConditionStatus.UNKNOWN.value: EntryUrgency.UNKNOWN,
        KEEPS: EntryUrgency.KEEPS,
        DELEGATES: EntryUrgency.KEEPS,
        SUSPENDS: EntryUrgency.KEEPS,
    }
)
"""The urgency of each verdict on a termination."""

NOTICES: Final[Mapping[str, str]] = MappingProxyType(
    {
        PREDICTION: "notPredicted",
        MISPLACEMENT: "misplaced",
        LATE_START: "lateStarts",
        DEFECT: "defects",
        FAILED_WRITE: "failedWrites",
        LOST_NODE: "lostNodes",
        LEAVING_PODS: "leavingPods",
        SCALED: "scaled",
        FOREIGN_GATE: "foreignGates",
        STALE_GANG: "staleGangs",
    }
)
"""Questions whose findings every plan of a set shows -> the field of a document with their reasons (CL-137)."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
RANK_OF_URGENCY: Final[Mapping[EntryUrgency, int]] = MappingProxyType(
    {urgency: place for place, urgency in enumerate(EntryUrgency)}
)
"""The place of each urgency, the most urgent first."""


class ExplainedCause(Struct, frozen=True):
    """One reason behind an entry: the subject, what is wrong with it, and the delay that runs.

    Attributes:
        because: about the subject, the most important first; at least one.
        below: the causes behind this one (the breached PodCliques of a scaling group).
    """

    subject: Ref
    because: tuple[Reason, ...]
    below: tuple["ExplainedCause", ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the reasons."""
        return tuple(why.sentence for why in self.because)


class ExplainedReplica(Struct, frozen=True):
    """What happens to one replica of the set, or of one of its scaling groups.

    Attributes:
        until: when the first of its delays ends or ended; None where none runs.
        deletes: the PodCliques that are deleted with it, where it is terminated.
        impact: the pods and GPUs of these; None where they are not known.
        degraded: of a replica that is kept: its PodCliques with too few ready pods, and why that is no termination.
        averted: when it would be terminated but for the steps of the plan, which avert or postpone that; the causes
            are those after these steps (PL-025).
        unwell: whether it is kept although a PodClique or scaling group of it is missing (GT-038), or where the stored
            statuses would terminate it (GF-084).
    """

    urgency: EntryUrgency
    subject: Ref
    causes: tuple[ExplainedCause, ...]
    until: datetime | None = None
    deletes: tuple[Ref, ...] = ()
    impact: DeletionImpact | None = None
    degraded: tuple[ExplainedCause, ...] = ()
    unwell: bool = False
    averted: datetime | None = None
    hints: TerminationHints | None = None


class ForecastExplanation(Struct, frozen=True):
    """The explanation of one root, the most urgent entries first.

    Attributes:
        unrecorded: how many PodCliques are kept only because no record says that they ever were available (GT-015).
        available, replicas: of the set (GT-044); 0 and 0 where they are not known.
        notices: the findings that answer one of ``NOTICES``.
    """

    root: Ref
    entries: tuple[ExplainedReplica, ...]
    unrecorded: int
    available: int = 0
    replicas: int = 0
    notices: tuple[Finding, ...] = ()

    @property
    def needs_no_attention(self) -> bool:
        """Whether everything is kept and present, has the pods that it needs, and there is no notice."""
        if self.notices or self.available < self.replicas:
            return False
        return not any(
            entry.urgency is not EntryUrgency.KEEPS or entry.degraded or entry.unwell for entry in self.entries
        )

    @property
    def unpredicted(self) -> tuple[str, ...]:
        """What the rule set does not predict about the set, a sentence each (GF-134)."""
        return tuple(why.sentence for why in reasons_for_question(PREDICTION, self.notices))

    def notices_of(self, question: str) -> tuple[Finding, ...]:
        """Return the notices that answer a question."""
        return tuple(one for one in self.notices if one.question == question)

    def entries_of_urgency(self, urgency: EntryUrgency) -> tuple[ExplainedReplica, ...]:
        """Return the entries of one urgency."""
        return tuple(entry for entry in self.entries if entry.urgency is urgency)

    @property
    def urgency_rank(self) -> tuple[int, datetime]:
        """Return a sort key: its most urgent entry, the earliest end of a delay among equals (CL-115)."""
        first = min((RANK_OF_URGENCY[entry.urgency] for entry in self.entries), default=len(RANK_OF_URGENCY))
        ends = (entry.until for entry in self.entries if entry.until is not None)
        return first, min(ends, default=_NEVER)


def withholds_scheduling_gate_removal(withheld: Withheld) -> bool:
    """Whether what is withheld is the opening of pods' scheduling gates, which follows by itself with capacity."""
    return withheld.obstacle in _GATES


def is_withheld_as_undecided(withheld: Withheld) -> bool:
    """Whether the input does not show if the step may be taken (WL-235, SC-027)."""
    return withheld.obstacle in _UNDECIDED
