"""The history of a run: entries in time order, each with actor, kind, object and reasons."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, unique

from grove_core.kernel.refs import Ref


@unique
class HistoryActor(Enum):
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
class HistoryEntryKind(Enum):
    """The kind of an entry; the value is the field ``what`` of the JSON document."""

    APPLIED = "applies"
    REFUSED = "is refused"
    SCALED = "scales"
    DELETED = "deletes"
    FAILED = "fails"
    CRASHED = "crashes"
    NODE = "node"
    PLACED = "places"
    UNPLACED = "cannot place"
    STARTED = "starts"
    READY = "is ready"
    UNREADY = "is not ready"
    GONE = "is gone"
    CREATED = "creates"
    OPENED = "opens gates"
    CHANGED = "changes"
    STATUS = "writes status"
    RELEASED = "lets go"
    TERMINATED = "terminates"
    WAITS = "waits"
    HOLDS = "holds back"
    CONDITION = "condition"
    DENIED = "write fails"
    FAULT = "fault"
    NO_EFFECT = "has no effect"


class EventWithoutEffect(Exception):
    """Raised where an event finds no object, or nothing to change; the message is the reason (SM-007)."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of the history.

    Attributes:
        at: milliseconds since the start.
        subject: the object; None for an entry that is not about one object.
        clique: name of the PodClique of a pod; else empty.
        detail: a node, a number or a message.
        because: the reasons, as sentences.
    """

    at: int
    actor: HistoryActor
    kind: HistoryEntryKind
    subject: Ref | None
    clique: str = ""
    detail: str = ""
    because: tuple[str, ...] = ()


@dataclass(slots=True)
class RunHistory:
    """The entries of a run, and counts.

    Attributes:
        counts_only: keep only the counts; entries take most of the time of a short run.
        entries: in time order.
        terminations: how many replicas gang termination has terminated so far.
        refused: how many writes of users admission has refused so far.
        without_effect: how many events had no effect so far.
    """

    counts_only: bool = False
    entries: list[HistoryEntry] = field(default_factory=list)
    terminations: int = 0
    refused: int = 0
    without_effect: int = 0

    def record(
        self,
        at: int,
        actor: HistoryActor,
        kind: HistoryEntryKind,
        subject: Ref | None = None,
        *,
        clique: str = "",
        detail: str = "",
        because: Iterable[str] = (),
    ) -> None:
        """Add an entry."""
        if not self.counts_only:
            self.entries.append(HistoryEntry(at, actor, kind, subject, clique, detail, tuple(because)))
