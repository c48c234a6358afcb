"""The verdicts of gang termination: breaches, the fates of replicas and groups, and the judgement of a set."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import SubjectHealth
from grove_core.kernel.frozen import FrozenDict, Json
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.naming_rules import GroupReplicaKey
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup


class Keep(Struct, frozen=True):
    """Leave it as it is; no delay runs."""


class Wait(Struct, frozen=True):
    """Leave it as it is; the first delay ends at ``until``."""

    until: datetime


class Terminate(Struct, frozen=True):
    """Terminate it now, as a whole."""


class Delegate(Struct, frozen=True):
    """Leave the decision to the set (GT-052)."""


class Suspend(Struct, frozen=True):
    """Do nothing while an update runs (GT-053)."""


ReplicaFate: TypeAlias = Keep | Wait | Terminate
GroupFate: TypeAlias = Keep | Wait | Terminate | Delegate | Suspend

KEEPS: Final = Keep.__name__
WAITS: Final = Wait.__name__
TERMINATES: Final = Terminate.__name__
DELEGATES: Final = Delegate.__name__
SUSPENDS: Final = Suspend.__name__
"""The fates as verdicts of findings; the verdict is ``Unknown`` where the set cannot be judged."""


def finding_verdict_of_fate(fate: GroupFate) -> str:
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
        is_preempted: whether the breach, or the one to come, is by preemption (GT-068).
    """

    clique: PodClique
    ready: int
    was_available: bool | None
    breach: ConditionStatus
    why: TerminationReason
    since: datetime
    is_preempted: bool = False

    @property
    def health(self) -> SubjectHealth:
        """The health of the clique; one that needs preempted pods is lacking already."""
        if self.ready >= self.clique.min_available and not self.is_preempted:
            return SubjectHealth.HEALTHY
        is_unrecorded = self.was_available is None and not self.is_preempted
        return SubjectHealth.UNRECORDED if is_unrecorded else SubjectHealth.LACKING

    @property
    def breach_reason(self) -> Reason:
        """Return why it is (not) breached."""
        return self.why.because(self.clique.ref, ready=self.ready, needed=self.clique.min_available)


class GroupJudgement(NamedTuple):
    """One scaling group: its condition, and the fates of its replicas; reasons are derived from them when needed.

    Attributes:
        delay: effective delay (GT-030); None if gang termination is off.
        breached: replica index -> its breached cliques, for the breached replicas, sorted by index (GT-040).
        breach, since: status and transition time of its breach condition (GT-041 to GT-043).
        fate: for the group as a whole.
        fates: replica index -> fate, for the breached replicas.
        acting: replica index -> its breaches that may be acted on: there is a delay, and no guard.
        guard: why none of its replicas may be terminated; None if they may.
        deleted_replicas: number of further replicas that count as breached, because the termination of the replica of
            the set has deleted their cliques (GT-066).
    """

    group: ScalingGroup
    delay: timedelta | None
    breached: FrozenDict[int, tuple[CliqueJudgement, ...]]
    breach: ConditionStatus
    since: datetime
    fate: GroupFate
    fates: FrozenDict[int, GroupFate]
    acting: FrozenDict[int, tuple[MinAvailableBreach, ...]]
    guard: TerminationReason | None = None
    deleted_replicas: int = 0

    @property
    def breached_cliques(self) -> tuple[PodClique, ...]:
        """Return the breached cliques of its breached replicas."""
        return tuple(one.clique for cliques in self.breached.values() for one in cliques)

    @property
    def unbreached_replica_count(self) -> int:
        """Return the number of replicas that do not count as breached."""
        return self.group.replicas - len(self.breached) - self.deleted_replicas


class ReplicaJudgement(NamedTuple):
    """One replica of the set; reasons are derived from it when they are needed.

    Attributes:
        number: its index.
        breaches: of its constituents; empty where no delay is set.
    """

    number: int
    fate: ReplicaFate
    breaches: tuple[MinAvailableBreach, ...]


class TerminationJudgement(NamedTuple):
    """The judgement of one set; it has verdicts only, reasons are derived from them when they are needed.

    Attributes:
        cliques: those that are not being deleted.
        leaving: cliques that are being deleted.
        guard: why nothing of the set may be terminated; None if it may.
    """

    cliques: tuple[CliqueJudgement, ...] = ()
    leaving: tuple[PodClique, ...] = ()
    groups: tuple[GroupJudgement, ...] = ()
    replicas: tuple[ReplicaJudgement, ...] = ()
    guard: TerminationReason | None = None


class SetAvailability(NamedTuple):
    """The number of available replicas of a set (GT-044, GF-037), and of all that are specified."""

    available: int
    replicas: int

    @property
    def as_finding_verdict(self) -> str:
        """Return it as the verdict of a finding: ``1/2``."""
        return f"{self.available}/{self.replicas}"

    @property
    def as_status_fields(self) -> dict[str, Json]:
        """Return it as fields of the status of the set (GT-046)."""
        return {"replicas": self.replicas, "availableReplicas": self.available}

    def as_reason(self, why: Rule, root: Ref) -> tuple[Reason, ...]:
        """Return the reason that states it."""
        return (why.because(root, **self._asdict()),)


class ReplicasToTerminate(NamedTuple):
    """Replicas that are terminated: of the set by index, and of scaling groups by the name of the group and index."""

    replicas: frozenset[int] = frozenset()
    parts: frozenset[tuple[str, int]] = frozenset()

    def includes_clique(self, replica: int, group_replica: GroupReplicaKey | None) -> bool:
        """Return whether a PodClique of these replicas belongs to one that is terminated; None: it is standalone."""
        return replica in self.replicas or group_replica in self.parts


class GroupReplicaFates(NamedTuple):
    """The fates of the replicas of one scaling group.

    Attributes:
        breached: its breached cliques that are not being deleted.
        acting: replica index -> its breaches that may be acted on.
        fates: replica index -> fate, for the replicas with breached cliques.
    """

    group: ScalingGroup
    breached: tuple[PodClique, ...]
    acting: FrozenDict[int, tuple[MinAvailableBreach, ...]]
    fates: FrozenDict[int, GroupFate]


class SetReplicaFates(NamedTuple):
    """The fates of the replicas of a set and of its scaling groups, by whatever rules."""

    replicas: tuple[ReplicaJudgement, ...]
    groups: tuple[GroupReplicaFates, ...]

    @property
    def replicas_to_terminate(self) -> ReplicasToTerminate:
        """Return the replicas that are terminated."""
        return ReplicasToTerminate(
            frozenset(one.number for one in self.replicas if isinstance(one.fate, Terminate)),
            frozenset(
                (one.group.ref.name, index)
                for one in self.groups
                for index, fate in one.fates.items()
                if isinstance(fate, Terminate)
            ),
        )
