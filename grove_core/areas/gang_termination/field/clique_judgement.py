"""Judges one clique by the rules of the Go operator, from its pods or from its stored status (GF-012 to GF-029)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.status_counts import PodCounts, count_clique_pods
from grove_core.areas.gang_termination.verdicts import MinAvailableBreach
from grove_core.kernel.conditions import (
    Condition,
    ConditionStatus,
    condition_of,
    is_condition_true,
    next_transition_time,
)
from grove_core.kernel.decisions import SubjectHealth
from grove_core.kernel.reasons import Fact, Reason
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.scaling_group import GroupStatus
from grove_core.resources.status_comparison import breach_condition_of

_GRACE: Final = timedelta(seconds=5)
"""A condition that changed within this time of the creation of its object is no history (GF-040, GF-041)."""

UPDATING: Final = "Update is in progress"
CLIQUE_MESSAGES: Final = MappingProxyType(
    {
        GoOperatorReason.UPDATE_IN_PROGRESS: UPDATING,
        GoOperatorReason.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE: (
            "Scheduled replicas ({scheduled}) below MinAvailable ({needed})"
        ),
        GoOperatorReason.NOTHING_SCHEDULED: (
            "Insufficient scheduled pods, breach suppressed. expected at least: {needed}, found: {scheduled}"
        ),
        GoOperatorReason.INSUFFICIENT_READY_PODS: (
            "Insufficient ready or starting pods. expected at least: {needed}, found: {left}"
        ),
        GoOperatorReason.SUFFICIENT_READY_PODS: (
            "Either sufficient ready or starting pods found. expected at least: {needed}, found: {left}"
        ),
        GoOperatorReason.SUFFICIENT_SCHEDULED_PODS: (
            "Sufficient scheduled pods found. expected at least: {needed}, found: {scheduled}"
        ),
        GoOperatorReason.INSUFFICIENT_SCHEDULED_PODS: (
            "Insufficient scheduled pods. expected at least: {needed}, found: {scheduled}"
        ),
    }
)
"""Messages of the operator's conditions of a clique, by rule: a plan shows no change where it writes none (GT-019)."""


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


def is_condition_past_creation_grace(condition: Condition, created_at: datetime | None) -> bool:
    """Return whether a condition changed late enough to count as history; true without a creation time."""
    return created_at is None or condition.last_transition_time - created_at > _GRACE


def judge_clique_from_pods(
    clique: PodClique, pods: Iterable[Pod], now: datetime, generation: GoOperatorRuleGeneration
) -> GoOperatorCliqueJudgement:
    """Return the judgement of a clique by its pods, as at a look of the operator (GF-012 to GF-029).

    Args:
        clique: if it is being deleted, its stored status counts (GF-029).
        pods: exactly those it controls (GT-001).
    """
    return _guarded(_seen(clique, pods, now, generation), generation)


def _seen(
    clique: PodClique, pods: Iterable[Pod], now: datetime, generation: GoOperatorRuleGeneration
) -> GoOperatorCliqueJudgement:
    if clique.deleting:
        return _stored(clique)
    pods = tuple(pods)
    counts = count_clique_pods(pods, clique.target_template_hash)
    left = counts.scheduled - sum(pod.crashed or pod.unready for pod in pods)
    if clique.status.observed is None:
        return _stored(clique)._replace(counts=counts, left=left)
    truth, why = _breach_of(clique, counts.scheduled, left, generation)
    placed, why_placed = _placement_of(clique, counts.scheduled)
    seen = GoOperatorCliqueJudgement(clique, counts, left, None, None, why, why_placed)
    return seen._replace(
        breach=_condition(MIN_AVAILABLE_BREACHED, truth, why, seen, now),
        placed=_condition(CLIQUE_SCHEDULED, placed, why_placed, seen, now),
    )


def judge_clique_from_stored_status(
    clique: PodClique, generation: GoOperatorRuleGeneration
) -> GoOperatorCliqueJudgement:
    """Return the judgement of a clique by its stored status, which counts until the next look (GF-084)."""
    return _guarded(_stored(clique), generation)


def _guarded(seen: GoOperatorCliqueJudgement, generation: GoOperatorRuleGeneration) -> GoOperatorCliqueJudgement:
    """Return it with whether, by its times, it is breached and was never scheduled (GF-040)."""
    if not seen.is_breached or not generation.requires_breach_history:
        return seen
    placed = seen.placed
    was_scheduled = placed is not None and (
        seen.is_scheduled or is_condition_past_creation_grace(placed, seen.clique.created_at)
    )
    return seen._replace(was_never_scheduled=not was_scheduled)


def _stored(clique: PodClique) -> GoOperatorCliqueJudgement:
    stored = clique.status
    counts = PodCounts(
        stored.replicas or 0, stored.ready or 0, stored.scheduled or 0, stored.gated or 0, stored.updated or 0
    )
    why = GoOperatorReason.CLIQUE_BEING_DELETED if clique.deleting else GoOperatorReason.NOT_OBSERVED
    breach = breach_condition_of(stored)
    placed = condition_of(stored.conditions, CLIQUE_SCHEDULED)
    return GoOperatorCliqueJudgement(clique, counts, counts.scheduled, breach, placed, why, why, is_stored=True)


def _breach_of(
    clique: PodClique, scheduled: int, left: int, generation: GoOperatorRuleGeneration
) -> tuple[ConditionStatus, GoOperatorReason]:
    """Return the status of the breach condition, and the first rule that applies (GF-024 to GF-027, GF-107)."""
    needed = clique.min_available
    if is_status_of_running_update(clique.status):
        return ConditionStatus.UNKNOWN, GoOperatorReason.UPDATE_IN_PROGRESS
    if scheduled < needed:
        if not scheduled and not generation.breaches_without_scheduled_pods:
            return ConditionStatus.FALSE, GoOperatorReason.NOTHING_SCHEDULED
        return ConditionStatus.TRUE, GoOperatorReason.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE
    if left < needed:
        return ConditionStatus.TRUE, GoOperatorReason.INSUFFICIENT_READY_PODS
    return ConditionStatus.FALSE, GoOperatorReason.SUFFICIENT_READY_PODS


def _placement_of(clique: PodClique, scheduled: int) -> tuple[ConditionStatus, GoOperatorReason]:
    """Return whether enough pods are scheduled, and the rule (GF-022, GF-023)."""
    if scheduled >= clique.min_available:
        return ConditionStatus.TRUE, GoOperatorReason.SUFFICIENT_SCHEDULED_PODS
    return ConditionStatus.FALSE, GoOperatorReason.INSUFFICIENT_SCHEDULED_PODS


def _condition(
    type_: str, truth: ConditionStatus, why: GoOperatorReason, seen: GoOperatorCliqueJudgement, now: datetime
) -> Condition:
    """Return the condition as the operator would store it; its time changes only with its status (GT-019)."""
    stored = condition_of(seen.clique.status.conditions, type_)
    return Condition(
        type_, truth, why.code, CLIQUE_MESSAGES[why].format(**seen.rule_facts), next_transition_time(stored, truth, now)
    )
