"""What may be done to the world. There is no other verb."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, IntEnum, unique
from typing import Final, TypeAlias

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref


@unique
class Stage(IntEnum):
    """All steps of a stage are tried before the next stage begins.

    A cause only if its companions are gone (PL-014), what tells of their end only if the cause is, too (PL-028).
    """

    FOUNDATION = 1
    WORKLOAD = 2
    CLEANUP = 3
    CAUSE = 4
    STATUS = 5


@dataclass(frozen=True, slots=True)
class Create:
    """Create the object from its whole manifest, if there is none of that name (PL-016)."""

    manifest: FrozenMap

    @property
    def guard(self) -> Guard | None:
        """None: there is nothing yet that could have changed."""
        return None


@dataclass(frozen=True, slots=True)
class Ensure:
    """Create the object from its whole manifest, or be content with one that serves the same user (PL-022)."""

    manifest: FrozenMap

    @property
    def guard(self) -> Guard | None:
        """None: whatever is there is left as it is."""
        return None


@dataclass(frozen=True, slots=True)
class Apply:
    """Write these fields and leave all others, if the object still is what was judged."""

    fields: FrozenMap
    guard: Guard


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Write status fields; ``fields`` holds only what differs, conditions whole (PL-011).

    With ``end_of`` it tells of a termination: it is written once all that rests on these causes is gone (PL-028).
    ``is_urgent`` says that nobody could tell later what it tells, so that it does not wait (PL-013, OP-024); it is no
    part of what is written.
    """

    fields: FrozenMap
    guard: Guard
    end_of: tuple[Ref, ...] = ()
    is_urgent: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class DeletionImpact:
    """What a deletion takes along (PL-019): pods that are there, how many of them are ready, the GPUs they hold."""

    pods: int = 0
    ready: int = 0
    gpus: int = 0

    def __add__(self, other: "DeletionImpact") -> "DeletionImpact":
        return DeletionImpact(self.pods + other.pods, self.ready + other.ready, self.gpus + other.gpus)


@dataclass(frozen=True, slots=True)
class Termination:
    """The end of one gang, of which a deletion is a part (PL-033).

    Attributes:
        replica: the replica of the PodCliqueSet or of the scaling group that ends.
        trigger: the PodClique or scaling group whose termination delay ended first.
        deadline: when that delay ended; aware UTC.
    """

    replica: Ref
    trigger: Ref
    deadline: datetime


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object, if it still is what was judged.

    ``rests_on`` names the cause. A companion (stage CLEANUP) goes only while all of it is as it was judged (PL-015);
    for the cause itself (stage CAUSE) it only says whose companions must be gone before (PL-014).
    With ``foreground`` the object stays until everything it controls is gone, pods included. ``takes`` says what goes
    with it; None where it takes no pods along, or where they are not known. ``terminates`` lists the gangs that end
    with it: first the replica of the set, then that of a scaling group; empty for every other deletion.
    """

    guard: Guard
    rests_on: tuple[tuple[Ref, Guard], ...] = ()
    foreground: bool = False
    takes: DeletionImpact | None = None
    terminates: tuple[Termination, ...] = ()


def causes_of(action: "Action") -> frozenset[Ref]:
    """What a deletion rests on, or the end that a status tells of (PL-014, PL-028).

    Two of them belong to one termination if some object is a cause of both.
    """
    if isinstance(action, Delete):
        return frozenset(ref for ref, _ in action.rests_on)
    return frozenset(action.end_of) if isinstance(action, SetStatus) else frozenset()


@dataclass(frozen=True, slots=True)
class DropFinalizer:
    """Take one finalizer away, if the object still is what was judged."""

    finalizer: str
    guard: Guard


Make: TypeAlias = Create | Ensure
"""What brings an object into being."""

Action: TypeAlias = Make | Apply | SetStatus | Delete | DropFinalizer

WriteKey: TypeAlias = tuple[Ref, type[Action], Guard | None, bool]


@dataclass(frozen=True, slots=True)
class Step:
    """One write, and why."""

    stage: Stage
    target: Ref
    action: Action
    because: tuple[Reason, ...]

    @property
    def sort_key(self) -> tuple[int, tuple[str, str, str, int]]:
        """Order by stage, then target: order is a function of content (PL-006)."""
        return (self.stage, self.target.sort_key)

    @property
    def write_key(self) -> WriteKey:
        """What makes two steps the same try: the same kind of write on the same state of one object (PL-012).

        A status that tells of an end is another kind than one that does not (PL-028).
        """
        tells = isinstance(self.action, SetStatus) and bool(self.action.end_of)
        return (self.target, type(self.action), self.action.guard, tells)


def is_part_of_termination(step: Step) -> bool:
    """Whether it ends a part of a gang for a breach, or tells of that (PL-014, PL-028)."""
    return bool(causes_of(step.action))


def is_termination(step: Step) -> bool:
    """Whether it deletes a part of a gang for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and bool(step.action.rests_on)


def total_impact(steps: Iterable[Step]) -> DeletionImpact | None:
    """What the deletions among some steps take along together; None where nobody knows it of one."""
    tolls = [step.action.takes for step in steps if isinstance(step.action, Delete)]
    known = [impact for impact in tolls if impact is not None]
    return sum(known, DeletionImpact()) if len(known) == len(tolls) else None


def is_written_first(step: Step) -> bool:
    """Whether it writes a status that what is made in the same round rests on (PL-021)."""
    return step.stage is Stage.FOUNDATION and isinstance(step.action, SetStatus)


def terminated_by(step: Step) -> tuple[Termination, ...]:
    """The gangs that end with a step; empty for whatever is no deletion for a breach (PL-033)."""
    return step.action.terminates if isinstance(step.action, Delete) else ()


def waits_for_first_status(step: Step) -> bool:
    """Whether it makes something that has to wait for such a status (PL-021)."""
    return isinstance(step.action, Create) and step.target.kind in _TOLD_OF


_TOLD_OF: Final = frozenset({"PodClique", "PodCliqueScalingGroup"})


@unique
class Outcome(Enum):
    """How the world answered a step."""

    DONE = "done"
    REFUSED = "refused"
    CONFLICT = "conflict"
    UNREACHABLE = "unreachable"
    NOT_CONFIRMED = "unasked"
    """It was not tried: the server has to be asked first, and did not say what there is (PL-029)."""


FAILURES: Final = frozenset({Outcome.REFUSED, Outcome.CONFLICT, Outcome.UNREACHABLE})
"""How a step comes out that was tried, and that nobody can say was done."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A step that was to be tried, and how the world answered. Part of the next snapshot: outcomes are observations."""

    step: Step
    outcome: Outcome
    detail: str = ""
