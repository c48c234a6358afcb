"""Judges one clique by the rules of the Go operator, from its pods or from its stored status (GF-012 to GF-029)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.verdicts import GoOperatorCliqueJudgement, is_status_of_running_update
from grove_core.areas.gang_termination.status_counts import PodCounts, count_clique_pods
from grove_core.kernel.conditions import (
    Condition,
    ConditionStatus,
    condition_of,
    next_transition_time,
)
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
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
