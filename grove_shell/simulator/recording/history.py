"""What happened, in order: who did what to which object, when, and why."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, unique

from grove_core.kernel.refs import Ref


@unique
class Actor(Enum):
    """Who does things."""

    USER = "user"
    OPERATOR = "operator"
    SECOND = "old leader"
    SCHEDULER = "scheduler"
    KUBELET = "kubelet"
    NODES = "node controller"
    AUTOSCALER = "autoscaler"
    FAULT = "fault"


@unique
class EntryKind(Enum):
    """What can happen; the value is the verb of the document."""

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


class NoEffect(Exception):
    """Raised by what an event does where it finds nobody, or nothing to change; says why (SM-007)."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that happened.

    Attributes:
        at: milliseconds since the start.
        subject: the object; None where it is none.
        clique: of a pod, the PodClique; else empty.
        detail: what has to be added for a person: a node, a number, a message.
        because: sentences.
    """

    at: int
    actor: Actor
    kind: EntryKind
    subject: Ref | None
    clique: str = ""
    detail: str = ""
    because: tuple[str, ...] = ()


@dataclass(slots=True)
class History:
    """A list that grows; deaf where nobody will read it, because most of a short run would go into writing it.

    Attributes:
        deaf: note nothing but the counts.
        terminations: how many replicas gang termination ended so far.
        refused: how many writes of users admission refused so far.
        idle: how many events had no effect so far.
    """

    counts_only: bool = False
    entries: list[HistoryEntry] = field(default_factory=list)
    terminations: int = 0
    refused: int = 0
    without_effect: int = 0

    def record(
        self,
        at: int,
        actor: Actor,
        kind: EntryKind,
        subject: Ref | None = None,
        *,
        clique: str = "",
        detail: str = "",
        because: Iterable[str] = (),
    ) -> None:
        """Write one thing down."""
        if not self.counts_only:
            self.entries.append(HistoryEntry(at, actor, kind, subject, clique, detail, tuple(because)))
