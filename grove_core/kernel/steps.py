"""Steps: the writes that a plan can contain, and their outcomes. There is no other kind of write."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum, unique
from typing import Final, TypeAlias

from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.gang_terminations import GangTermination, TerminationBasis
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.structs import Struct


@unique
class StepStage(IntEnum):
    """The order of steps in a round: all steps of a stage are attempted before the next stage begins.

    A cause is deleted only after its companions (PL-014). A status that reports the termination is written only after
    the cause was deleted, too (PL-028).
    """

    FOUNDATION = 1
    WORKLOAD = 2
    CLEANUP = 3
    CAUSE = 4
    STATUS = 5


class Create(Struct, frozen=True):
    """Create the object from its whole manifest, if no object of its name exists (PL-016)."""

    manifest: FrozenMap

    @property
    def guard(self) -> Guard | None:
        """None, since no object exists yet."""
        return None


class Ensure(Struct, frozen=True):
    """Create the object from its whole manifest, or leave an existing one that serves the same user (PL-016)."""

    manifest: FrozenMap

    @property
    def guard(self) -> Guard | None:
        """None, since an existing object is left unchanged."""
        return None


class Apply(Struct, frozen=True):
    """Write these fields and no others, if the object is unchanged since the decision."""

    fields: FrozenMap
    guard: Guard


@dataclass(frozen=True, slots=True)
class TerminationStatusReport:
    """The report of a termination in a status; it is written once the deletions for the causes are done (PL-028).

    Attributes:
        causes: of the termination.
        fields, because: the status without the report, and its reasons; that is written while a deletion has failed.
            They are not part of saved plans.
    """

    causes: tuple[Ref, ...]
    fields: FrozenMap = field(default=EMPTY, compare=False)
    because: tuple[Reason, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Write status fields (PL-011).

    Attributes:
        fields: only those that differ; each condition that differs as a whole.
        report: the report of a termination among them.
        is_urgent: whether the status could not be derived later, so that it is written first (PL-013, OP-024); not
            part of what is written.
    """

    fields: FrozenMap
    guard: Guard
    report: TerminationStatusReport | None = None
    is_urgent: bool = field(default=False, compare=False)


class DeletionImpact(Struct, frozen=True):
    """The impact of a deletion (PL-019): the pods that it removes, how many are ready, and the GPUs they hold."""

    pods: int = 0
    ready: int = 0
    gpus: int = 0

    def __add__(self, other: "DeletionImpact") -> "DeletionImpact":
        return DeletionImpact(self.pods + other.pods, self.ready + other.ready, self.gpus + other.gpus)


class Delete(Struct, frozen=True):
    """Delete the object, if it is unchanged since the decision.

    Attributes:
        foreground: whether the object stays until everything that it controls is gone, pods included.
        takes: the impact; None where there are no pods, or they are not known.
        basis: of a gang termination; None for every other deletion.
    """

    guard: Guard
    foreground: bool = False
    takes: DeletionImpact | None = None
    basis: TerminationBasis | None = None

    @property
    def rests_on(self) -> tuple[tuple[Ref, Guard], ...]:
        """The causes of the gang termination; empty for every other deletion."""
        return () if self.basis is None else self.basis.causes

    @property
    def terminates(self) -> tuple[GangTermination, ...]:
        """The gangs that are terminated; empty for every other deletion."""
        return () if self.basis is None else self.basis.gangs


def termination_causes(action: "Action") -> frozenset[Ref]:
    """Return the causes of a deletion, or of the termination that a status reports (PL-014, PL-028).

    Two actions belong to one termination if they have a cause in common.
    """
    if isinstance(action, Delete):
        return frozenset(ref for ref, _ in action.rests_on)
    return frozenset(action.report.causes if isinstance(action, SetStatus) and action.report else ())


class DropFinalizer(Struct, frozen=True):
    """Remove one finalizer, if the object is unchanged since the decision."""

    finalizer: str
    guard: Guard


Make: TypeAlias = Create | Ensure
"""The actions that create an object."""

Action: TypeAlias = Make | Apply | SetStatus | Delete | DropFinalizer

WriteKey: TypeAlias = tuple[Ref, type[Action], Guard | None, bool]


class Step(Struct, frozen=True):
    """One write with its reasons."""

    stage: StepStage
    target: Ref
    action: Action
    because: tuple[Reason, ...]

    @property
    def sort_key(self) -> tuple[int, tuple[str, str, str, int]]:
        """Order by stage, then by target (PL-001)."""
        return (self.stage, self.target.sort_key)

    @property
    def write_key(self) -> WriteKey:
        """The key that is equal for two attempts of the same kind of write on the same object version (PL-012).

        A status that reports a termination is another kind of write than one that does not (PL-028).
        """
        reports_termination = isinstance(self.action, SetStatus) and self.action.report is not None
        return (self.target, type(self.action), self.action.guard, reports_termination)


def deletes_or_reports_termination(step: Step) -> bool:
    """Whether a step deletes a part of a gang for a breach, or reports the termination (PL-014, PL-028)."""
    return bool(termination_causes(step.action))


def is_gang_termination_deletion(step: Step) -> bool:
    """Whether a step deletes a part of a gang for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and step.action.basis is not None


def removes_set_finalizer(step: Step) -> bool:
    """Whether a step removes the finalizer of a PodCliqueSet, so that it goes, and its parts with it (WF-060)."""
    return isinstance(step.action, DropFinalizer) and step.target.kind == "PodCliqueSet"


def total_deletion_impact(steps: Iterable[Step]) -> DeletionImpact | None:
    """Return the sum of the impacts of the deletions among some steps; None where one impact is not known."""
    impacts = [step.action.takes for step in steps if isinstance(step.action, Delete)]
    known = [impact for impact in impacts if impact is not None]
    return sum(known, DeletionImpact()) if len(known) == len(impacts) else None


def must_precede_creations(step: Step) -> bool:
    """Whether a step writes a status that must precede the creations of the same round (PL-021)."""
    return step.stage is StepStage.FOUNDATION and isinstance(step.action, SetStatus)


def gangs_terminated_by(step: Step) -> tuple[GangTermination, ...]:
    """Return the gangs that a step terminates; empty for everything but a deletion for a breach (PL-019)."""
    return step.action.terminates if isinstance(step.action, Delete) else ()


def must_follow_status_write(step: Step) -> bool:
    """Whether a step creates an object that has to wait for such a status (PL-021)."""
    return isinstance(step.action, Create) and step.target.kind in _AFTER_STATUS


_AFTER_STATUS: Final = frozenset({"PodClique", "PodCliqueScalingGroup"})


@unique
class AttemptOutcome(Enum):
    """The outcome of an attempt."""

    DONE = "done"
    REFUSED = "refused"
    CONFLICT = "conflict"
    UNREACHABLE = "unreachable"
    NOT_CONFIRMED = "unasked"
    """It was not attempted, because the fresh read before it failed (PL-029)."""


@unique
class UnexpectedTargetState(Enum):
    """The state of a step's target where the step was decided for another."""

    PRESENT = "it was there already"
    ABSENT = "not found"


FAILURES: Final = frozenset({AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT, AttemptOutcome.UNREACHABLE})
"""The outcomes of attempts that failed, or that may have failed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A step with its outcome. It is part of the next snapshot, since outcomes are observations.

    Attributes:
        detail: the words of the server, for readers.
        withheld: whether the write is not repeated in the next round (PL-012); None where the outcome decides.
        unexpected: in a cluster in memory, that the object to create existed, or the one to change did not.
    """

    step: Step
    outcome: AttemptOutcome
    detail: str = ""
    withheld: bool | None = None
    unexpected: UnexpectedTargetState | None = field(default=None, compare=False)

    @property
    def is_withheld(self) -> bool:
        """Return whether the write is not repeated in the next round; a refused one is not, unless that has expired."""
        return self.outcome is AttemptOutcome.REFUSED if self.withheld is None else self.withheld
