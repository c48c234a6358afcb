"""The verdicts of gang termination by the rules of the Go operator: of each clique, each group, each replica, a set."""

from datetime import timedelta
from typing import NamedTuple

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.status_counts import PodCounts
from grove_core.areas.gang_termination.verdicts import GroupFate, MinAvailableBreach, ReplicaFate
from grove_core.kernel.conditions import Condition, is_condition_true
from grove_core.kernel.decisions import SubjectHealth
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Fact, Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup


class GoOperatorCliqueJudgement(NamedTuple):
    """A clique with the status by which terminations are decided.

    Attributes:
        counts: of its pods; of a clique that is being deleted the stored ones.
        left: scheduled pods minus crashed and unready ones; may be negative (GF-026).
        breach, placed: its conditions `MinAvailableBreached` and `PodCliqueScheduled`; None where it has none (GF-021).
        was_never_scheduled: whether it is breached and never was scheduled; the breach is not acted on (GF-040).
        why, why_placed: the rules behind ``breach`` and ``placed``; both say if the conditions are stored ones.
        is_stored: whether the conditions are the stored ones, and not found from its pods.
    """

    clique: PodClique
    counts: PodCounts
    left: int
    breach: Condition | None
    placed: Condition | None
    why: GoOperatorReason
    why_placed: GoOperatorReason
    was_never_scheduled: bool = False
    is_stored: bool = False

    @property
    def is_breached(self) -> bool:
        """Whether its condition `MinAvailableBreached` is true."""
        return is_condition_true(self.breach)

    @property
    def is_being_deleted(self) -> bool:
        """Whether it is being deleted."""
        return self.clique.deleting

    @property
    def is_scheduled(self) -> bool:
        """Whether its condition `PodCliqueScheduled` is true."""
        return is_condition_true(self.placed)

    @property
    def breach_reason(self) -> Reason:
        """Return why it is (not) breached."""
        return self.reason_for_rule(self.why)

    @property
    def has_enough_scheduled_pods(self) -> bool:
        """Whether enough of its pods are scheduled."""
        return self.counts.scheduled >= self.clique.min_available

    @property
    def condition_reasons(self) -> tuple[Reason, ...]:
        """Return the reasons for its conditions; one where both have the same rule."""
        return tuple(dict.fromkeys((self.breach_reason, self.reason_for_rule(self.why_placed))))

    def reason_for_rule(self, why: GoOperatorReason) -> Reason:
        """Return the reason of a rule about it."""
        facts = self.rule_facts
        return why.because(self.clique.ref, **{name: facts[name] for name in why.fact_names})

    @property
    def rule_facts(self) -> dict[str, Fact]:
        """Return the facts of rules about it."""
        left = max(self.left, 0)  # negative with crashed pods that are not scheduled (GF-026)
        return {"scheduled": self.counts.scheduled, "needed": self.clique.min_available, "left": left}

    def actionable_breach(self, delay: timedelta) -> MinAvailableBreach | None:
        """Return its breach if it may be acted on (GF-050), else None."""
        if self.breach is None or not self.is_breached or self.was_never_scheduled:
            return None
        return MinAvailableBreach(self.clique.ref, self.breach.last_transition_time, delay)

    @property
    def reasons_against_termination(self) -> tuple[Reason, ...]:
        """Return why its breach is not acted on; nothing where it may be."""
        ref = self.clique.ref
        return (GoOperatorReason.NEVER_SCHEDULED.because(ref, name=ref.name),) if self.was_never_scheduled else ()

    @property
    def health(self) -> SubjectHealth:
        """The health of the clique; its pods are not counted while an update runs (GF-024)."""
        if self.is_stored or is_status_of_running_update(self.clique.status):
            return SubjectHealth.NOT_JUDGED
        is_healthy = self.has_enough_scheduled_pods and self.left >= self.clique.min_available
        return SubjectHealth.HEALTHY if is_healthy else SubjectHealth.LACKING

    @property
    def placement_health(self) -> SubjectHealth:
        """The health of the clique by its scheduled pods; too few of them are no verdict of their own."""
        is_healthy = self.has_enough_scheduled_pods and not self.is_stored
        return SubjectHealth.HEALTHY if is_healthy else SubjectHealth.NOT_JUDGED


def is_status_of_running_update(status: CliqueStatus | GroupStatus) -> bool:
    """Whether an update runs by the field that these releases read; an older name of it is ignored (GF-080)."""
    return status.updating and not status.old_spelling


class GoOperatorGroupJudgement(NamedTuple):
    """A scaling group with the status by which terminations are decided, and the fates of its replicas.

    Attributes:
        members: its cliques, of any index and name, those being deleted too (GF-060).
        scheduled, available: numbers of its whole replicas that are (GF-031).
        unbreached: number of its whole replicas without a breached member (GF-031).
        breach: its condition `MinAvailableBreached`; None where it has none.
        why: the rule behind ``breach``.
        guard: why its set does not act on its breach (GF-041, GF-051); None where it may, and where it has none.
        flag: its condition `GangTerminationInProgress` (GF-051, GF-075): the stored one, or with
            ``unwritten_flag_causes`` the one that is written.
        acting: replica index -> the breaches of its cliques that may be acted on (GF-050), sorted by index.
        fate: for the group as a whole.
        fates: replica index -> fate, for the replicas in ``acting``.
        unwritten_flag_causes: causes of a termination whose flag was not written (GF-092); mostly none.
    """

    group: ScalingGroup
    members: tuple[GoOperatorCliqueJudgement, ...]
    scheduled: int
    available: int
    unbreached: int
    breach: Condition | None
    why: GoOperatorReason
    flag: Condition | None
    acting: FrozenDict[int, tuple[MinAvailableBreach, ...]]
    fate: GroupFate
    fates: FrozenDict[int, GroupFate]
    guard: GoOperatorReason | None = None
    unwritten_flag_causes: tuple[Ref, ...] = ()

    @property
    def is_breached(self) -> bool:
        """Whether its condition `MinAvailableBreached` is true."""
        return is_condition_true(self.breach)

    @property
    def breached_cliques(self) -> tuple[PodClique, ...]:
        """Return its breached cliques that are not being deleted."""
        return tuple(one.clique for one in self.members if one.is_breached and not one.clique.deleting)

    @property
    def unbreached_replica_count(self) -> int:
        """Return the number of replicas without a breach that may be acted on; surplus replicas count too (GF-061)."""
        return max(self.group.replicas - len(self.acting), 0)

    @property
    def has_termination_flag(self) -> bool:
        """Whether its replica was terminated and it has not recovered since (GF-051)."""
        return is_condition_true(self.flag)

    @property
    def is_being_deleted(self) -> bool:
        """Whether it is being deleted."""
        return self.group.deleting

    @property
    def reasons_against_termination(self) -> tuple[Reason, ...]:
        """Return why its set does not act on its breach; nothing where it may."""
        if self.guard is None:
            return ()
        ref = self.group.ref
        since = {} if self.flag is None else {"since": format_time(self.flag.last_transition_time)}
        facts = {"name": ref.name, **since}
        return (self.guard.because(ref, **{name: facts[name] for name in self.guard.fact_names}),)

    def actionable_breach(self, delay: timedelta) -> MinAvailableBreach | None:
        """Return its breach if its set may act on it (GF-051), else None."""
        if self.breach is None or not self.is_breached or self.guard is not None:
            return None
        return MinAvailableBreach(self.group.ref, self.breach.last_transition_time, delay)

    @property
    def breach_reason(self) -> Reason:
        """Return why it is (not) breached."""
        left = max(self.unbreached, 0)  # scheduled minus breached ones may be negative (GF-105)
        facts: dict[str, Fact] = {"left": left, "scheduled": self.scheduled, "needed": self.group.min_available}
        facts["replicas"] = self.group.replicas
        return self.why.because(self.group.ref, **{name: facts[name] for name in self.why.fact_names})


class GoOperatorReplicaJudgement(NamedTuple):
    """One replica of the set.

    Attributes:
        number: its index.
        breaches: those of its constituents that may be acted on (GF-050).
        absent: names of its standalone cliques that do not exist; then it is skipped (GF-070).
        cliques, groups: its constituents that exist.
        lingers: whether it is skipped while a due constituent of it is still being deleted (GF-090).
    """

    number: int
    fate: ReplicaFate
    breaches: tuple[MinAvailableBreach, ...]
    absent: tuple[str, ...]
    cliques: tuple[GoOperatorCliqueJudgement, ...]
    groups: tuple[GoOperatorGroupJudgement, ...]
    lingers: bool = False


class GoOperatorJudgement(NamedTuple):
    """The judgement of one set."""

    cliques: tuple[GoOperatorCliqueJudgement, ...] = ()
    groups: tuple[GoOperatorGroupJudgement, ...] = ()
    replicas: tuple[GoOperatorReplicaJudgement, ...] = ()
