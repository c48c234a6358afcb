"""The history of a run: entries in time order, each with its actor and what happened."""

from dataclasses import dataclass, field
from enum import Enum, unique
from typing import ClassVar, TypeAlias

from grove_core.kernel.admission import DenialReason
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_shell.simulator.virtual_time import VirtualTimeQueue


@unique
class SimulationActor(Enum):
    """The component that caused an entry."""

    USER = "user"
    OPERATOR = "operator"
    SECOND = "old leader"
    SCHEDULER = "scheduler"
    KUBELET = "kubelet"
    NODES = "node controller"
    AUTOSCALER = "autoscaler"
    FAULT = "fault"


@unique
class PodChangeKind(Enum):
    """What happened to a pod; as in the other enumerations, the value is the field ``what`` of the JSON document."""

    PLACED = "places"
    STARTED = "starts"
    READY = "is ready"
    UNREADY = "is not ready"
    FAILED = "fails"
    CRASHED = "crashes"
    EVICTED = "deletes"
    PREEMPTED = "preempts"
    GONE = "is gone"


@dataclass(frozen=True, slots=True)
class PodHistoryEntry:
    """Scheduler, kubelet or node controller changed a pod of the PodClique ``clique``.

    Attributes:
        node: its node; empty where the entry does not show it.
        why: what happened to the node, for a change by the node controller; the gang for which it is preempted.
    """

    what: PodChangeKind
    subject: Ref
    clique: str
    node: str = ""
    why: str = ""


@unique
class WriteEffect(Enum):
    """What a write did, or why it had no effect."""

    APPLIED = "applies"
    CREATED = "creates"
    OPENED = "opens gates"
    CHANGED = "changes"
    STATUS = "writes status"
    RELEASED = "lets go"
    TERMINATED = "terminates"
    DELETED = "deletes"
    FAILED = "write fails"
    WITHHELD = "holds back"


@dataclass(frozen=True, slots=True)
class WriteHistoryEntry:
    """A write of a user or an operator.

    Attributes:
        clique: name of the PodClique of a pod; else empty.
        because: the reasons of the operator.
        error: why the write failed; else empty.
    """

    what: WriteEffect
    subject: Ref
    clique: str = ""
    because: tuple[Reason, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class RefusedApplyHistoryEntry:
    """Admission denied what a user applied."""

    kind: str
    name: str
    objections: tuple[DenialReason, ...]
    subject: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class ConditionHistoryEntry:
    """A condition of an object changed; ``before`` is its earlier status, None for a new condition."""

    subject: Ref
    condition: Condition
    before: ConditionStatus | None


@dataclass(frozen=True, slots=True)
class BreachWaitHistoryEntry:
    """A replica is breached, and waits for its end or its termination."""

    subject: Ref
    because: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class UnplacedGangHistoryEntry:
    """The scheduler could not place some pods of a gang."""

    subject: Ref
    pods: int
    why: str


@unique
class NoteKind(Enum):
    """What a note is about."""

    SCALED = "scales"
    UPDATE = "changes"
    NODE = "node"
    FAULT = "fault"
    NO_EFFECT = "has no effect"


@dataclass(frozen=True, slots=True)
class NoteHistoryEntry:
    """A happening in words; ``subject`` is None where it is not about one object."""

    what: NoteKind
    text: str
    subject: Ref | None = None


EntryContent: TypeAlias = (
    PodHistoryEntry
    | WriteHistoryEntry
    | RefusedApplyHistoryEntry
    | ConditionHistoryEntry
    | BreachWaitHistoryEntry
    | UnplacedGangHistoryEntry
    | NoteHistoryEntry
)
EntryKind: TypeAlias = PodChangeKind | WriteEffect | NoteKind | type[EntryContent]


class ScenarioEventWithoutEffect(Exception):
    """Raised where an event finds no object, or nothing to change; the message is the reason (SM-007)."""


@dataclass(frozen=True, slots=True)
class SimulationHistoryEntry:
    """One entry of the history; ``at`` is in milliseconds since the start."""

    at: int
    actor: SimulationActor
    content: EntryContent

    @property
    def kind(self) -> EntryKind:
        """The most specific name of what happened."""
        content = self.content
        return (
            content.what
            if isinstance(content, PodHistoryEntry | WriteHistoryEntry | NoteHistoryEntry)
            else type(content)
        )


@dataclass(slots=True)
class SimulationHistory:
    """The entries of a run, and counts.

    Attributes:
        queue: the event queue of the run, for its time.
        counts_only: keep only the counts; entries take most of the time of a short run.
        entries: in time order.
        terminations: how many replicas gang termination has terminated so far.
        refused: how many writes of users admission has refused so far.
        without_effect: how many events had no effect so far.
    """

    queue: VirtualTimeQueue
    counts_only: bool = False
    entries: list[SimulationHistoryEntry] = field(default_factory=list)
    terminations: int = 0
    refused: int = 0
    without_effect: int = 0

    def record(self, actor: SimulationActor, content: EntryContent) -> None:
        """Add an entry at the current time."""
        if not self.counts_only:
            self.entries.append(SimulationHistoryEntry(self.queue.now, actor, content))

    def record_fault(self, text: str) -> None:
        """Add a note about a fault."""
        self.record(SimulationActor.FAULT, NoteHistoryEntry(NoteKind.FAULT, text))
