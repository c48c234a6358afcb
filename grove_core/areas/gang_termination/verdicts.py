"""The verdicts of gang termination: breaches, the fates of replicas and groups, and the judgement of a set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.frozen import Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave it as it is; no delay runs."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Leave it as it is; the first delay ends at ``until``."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Terminate:
    """Terminate it now, as a whole."""


@dataclass(frozen=True, slots=True)
class Delegate:
    """Leave the decision to the set (GT-052)."""


@dataclass(frozen=True, slots=True)
class Suspend:
    """Do nothing while an update runs (GT-053)."""


ReplicaFate: TypeAlias = Keep | Wait | Terminate
GroupFate: TypeAlias = Keep | Wait | Terminate | Delegate | Suspend

KEEPS: Final = Keep.__name__
WAITS: Final = Wait.__name__
TERMINATES: Final = Terminate.__name__
DELEGATES: Final = Delegate.__name__
SUSPENDS: Final = Suspend.__name__
"""The fates as verdicts of findings; the verdict is ``Unknown`` where the set cannot be judged."""


def verdict_of_fate(fate: GroupFate) -> str:
    """Return a fate as the verdict of a finding."""
    return type(fate).__name__


class MinAvailableBreach(NamedTuple):
    """A breach of a constituent: since when it lasts, and its effective delay (GT-030)."""

    ref: Ref
    since: datetime
    delay: timedelta


build: Final = tuple.__new__  # as the constructor of a NamedTuple, in half of its time


class CliqueJudgement(NamedTuple):
    """Whether one clique is breached.

    There is one for each clique of a cluster, so its reason is built only when it is read.

    Attributes:
        ready: number of ready pods (GT-002).
        was_available: after this round; None while it is not recorded (GT-015).
        breach, why: the status of its breach condition, and the rule behind it (GT-011 to GT-015).
        since: transition time of the condition.
    """

    clique: PodClique
    ready: int
    was_available: bool | None
    breach: ConditionStatus
    why: TerminationReason
    since: datetime

    @property
    def reason(self) -> Reason:
        """Return why it is (not) breached."""
        return self.why.because(self.clique.ref, ready=self.ready, needed=self.clique.min_available)


class GroupJudgement(NamedTuple):
    """One scaling group: its condition, and the fates of its replicas; reasons are derived from them when needed.

    Attributes:
        delay: effective delay (GT-030); None if gang termination is off.
        breached: replica index -> its breached cliques, for the breached replicas, sorted by index (GT-040).
        breach, since: status and transition time of its breach condition (GT-041 to GT-043).
        fate: for the group as a whole.
        replica_fates: replica index -> fate, for the breached replicas.
        acting: replica index -> its breaches that may be acted on: there is a delay, and no guard.
        guard: why none of its replicas may be terminated; None if they may.
        deleted_replicas: number of further replicas that count as breached, because the termination of the replica of
            the set has deleted their cliques (GT-066).
    """

    group: ScalingGroup
    delay: timedelta | None
    breached: Mapping[int, Sequence[CliqueJudgement]]
    breach: ConditionStatus
    since: datetime
    fate: GroupFate
    replica_fates: Mapping[int, GroupFate]
    acting: Mapping[int, Sequence[MinAvailableBreach]]
    guard: TerminationReason | None = None
    deleted_replicas: int = 0

    @property
    def left(self) -> int:
        """Return the number of replicas that do not count as breached."""
        return self.group.replicas - len(self.breached) - self.deleted_replicas


class ReplicaJudgement(NamedTuple):
    """One replica of the set; reasons are derived from it when they are needed.

    Attributes:
        breaches: of its constituents; empty where no delay is set.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used
    fate: ReplicaFate
    breaches: Sequence[MinAvailableBreach]


class TerminationJudgement(NamedTuple):
    """The judgement of one set; it has verdicts only, reasons are derived from them when they are needed.

    Attributes:
        cliques: those that are not being deleted.
        leaving: cliques that are being deleted.
        guard: why nothing of the set may be terminated; None if it may.
    """

    cliques: Sequence[CliqueJudgement] = ()
    leaving: tuple[PodClique, ...] = ()
    groups: tuple[GroupJudgement, ...] = ()
    replicas: tuple[ReplicaJudgement, ...] = ()
    guard: TerminationReason | None = None


class SetAvailability(NamedTuple):
    """The number of available replicas of a set (GT-044, GF-037), and of all that are specified."""

    available: int
    replicas: int

    @property
    def verdict(self) -> str:
        """Return it as the verdict of a finding: ``1/2``."""
        return f"{self.available}/{self.replicas}"

    @property
    def fields(self) -> dict[str, Json]:
        """Return it as fields of the status of the set (GT-046)."""
        return {"replicas": self.replicas, "availableReplicas": self.available}


class TerminatingReplicas(NamedTuple):
    """Replicas that are terminated: of the set by index, and of scaling groups by the name of the group and index."""

    replicas: frozenset[int] = frozenset()
    parts: frozenset[tuple[str, int]] = frozenset()

    def holds(self, replica: int, group: str, group_replica: int) -> bool:
        """Return whether a PodClique of these replicas belongs to one that is terminated."""
        return replica in self.replicas or (group, group_replica) in self.parts


def terminating_replicas_among(
    replicas: Iterable[tuple[int, ReplicaFate]], groups: Iterable[tuple[str, Mapping[int, GroupFate]]]
) -> TerminatingReplicas:
    """Return those of some replicas of the set and of its groups whose fate is to be terminated. Linear.

    Args:
        replicas: index and fate of each replica of the set.
        groups: for each group its name, and the fates of its replicas by index.
    """
    return TerminatingReplicas(
        frozenset(index for index, fate in replicas if isinstance(fate, Terminate)),
        frozenset(
            (name, index) for name, fates in groups for index, fate in fates.items() if isinstance(fate, Terminate)
        ),
    )


def terminating_replicas_of(judgement: TerminationJudgement) -> TerminatingReplicas:
    """Return the replicas that a judgement terminates."""
    return terminating_replicas_among(
        ((replica.index, replica.fate) for replica in judgement.replicas),
        ((judged.group.ref.name, judged.replica_fates) for judged in judgement.groups),
    )
