"""The verdicts of gang termination by the design: the judgement of each clique, of each group, and of a set."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.verdicts import GroupFate, MinAvailableBreach, ReplicaJudgement
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import SubjectHealth
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup

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


class SetTerminationJudgement(NamedTuple):
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
