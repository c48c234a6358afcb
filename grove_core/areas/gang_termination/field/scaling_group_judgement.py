"""Judges one scaling group by the rules of the Go operator: its condition, and which replicas it terminates."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.breach_delays import replica_fate_of_breaches, scaling_group_fate
from grove_core.areas.gang_termination.field.clique_judgement import UPDATING, is_condition_past_creation_grace
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.incomplete_terminations import (
    CompleteGroupReplica,
    IncompleteTerminations,
    complete_group_replicas,
    expected_members_by_replica,
)
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.verdicts import (
    GoOperatorCliqueJudgement,
    GoOperatorGroupJudgement,
    is_status_of_running_update,
)
from grove_core.areas.gang_termination.verdicts import Delegate, GroupFate, Keep, MinAvailableBreach, Suspend
from grove_core.kernel.conditions import (
    Condition,
    ConditionStatus,
    condition_of,
    is_condition_true,
    next_transition_time,
)
from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.time_formats import truncated_to_seconds
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED, TERMINATION_IN_PROGRESS
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of

_OF_PLACEMENT: Final = "Scheduled replicas ({scheduled}) below MinAvailable ({needed})"
GROUP_MESSAGES: Final = MappingProxyType(
    {
        GoOperatorReason.GROUP_UPDATE_IN_PROGRESS: UPDATING,
        GoOperatorReason.GROUP_NOTHING_SCHEDULED: _OF_PLACEMENT,
        GoOperatorReason.GROUP_SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE: _OF_PLACEMENT,
        GoOperatorReason.INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS: (
            "PCSG replicas not in breach ({left}) below MinAvailable ({needed})"
        ),
        GoOperatorReason.SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS: (
            "PCSG replicas not in breach ({left}) meets MinAvailable ({needed})"
        ),
    }
)
"""Messages of the operator's conditions of a group, by rule (GT-019)."""

TERMINATION_MESSAGE: Final = (
    "Gang termination fired at PCS-replica scope for PCS replica {replica}; "
    "this PCSG's PodCliques were deleted as part of the recycle"
)
"""Message of the condition `GangTerminationInProgress` of a group (GF-075)."""


def judge_scaling_group_from_cliques(
    group: ScalingGroup,
    members: Sequence[GoOperatorCliqueJudgement],
    delay: timedelta,
    now: datetime,
    generation: GoOperatorRuleGeneration,
    *,
    looks: bool,
    failed: IncompleteTerminations,
) -> GoOperatorGroupJudgement:
    """Return the judgement of a scaling group by its cliques (GF-031 to GF-035, GF-060 to GF-067, GF-091, GF-092).

    Args:
        delay: of the set; a group has none of its own (GF-001).
        looks: whether its status is computed as at a look; else the stored one counts (GF-084).
    """
    regular = expected_members_by_replica(group, members)
    whole = tuple(complete_group_replicas(group, regular, failed.incomplete.get(group.replica_index)))
    seen = GoOperatorGroupJudgement(
        group=group,
        members=tuple(members),
        scheduled=sum(one.is_scheduled and not one.has_deleted_members for one in whole),
        available=sum(one.is_scheduled and one.is_available for one in whole),
        unbreached=sum(not one.is_breached for one in whole),
        breach=breach_condition_of(group.status),
        why=GoOperatorReason.NOT_OBSERVED,
        flag=condition_of(group.status.conditions, TERMINATION_IN_PROGRESS),
        acting=FrozenDict(),
        fate=Keep(),
        fates=FrozenDict(),
    )
    if looks and not group.deleting:
        seen = _with_status(seen, regular, whole, now, generation)
    if generation.requires_breach_history:
        unwritten, breach = failed.unwritten_flags.get(group.ref), seen.breach
        is_of_breach = unwritten and is_condition_true(breach) and breach.last_transition_time <= unwritten.at
        if unwritten and is_of_breach and not seen.has_termination_flag:
            seen = seen._replace(
                flag=set_replica_terminated_condition(group, now), unwritten_flag_causes=unwritten.end_of
            )
        seen = seen._replace(guard=_guard_of(seen))
    return seen if group.deleting else _with_fates(seen, delay, now)


def set_replica_terminated_condition(group: ScalingGroup, now: datetime) -> Condition:
    """Return the condition that records that the replica of the set was terminated (GF-075)."""
    message = TERMINATION_MESSAGE.format(replica=group.replica_index)
    code = GoOperatorReason.GANG_TERMINATION_ACTIVE.code
    return Condition(TERMINATION_IN_PROGRESS, ConditionStatus.TRUE, code, message, truncated_to_seconds(now))


def _guard_of(seen: GoOperatorGroupJudgement) -> GoOperatorReason | None:
    """Return why the set must not act on the breach of the group; None if it may (GF-041, GF-051)."""
    breach = seen.breach
    if breach is None or not seen.is_breached:
        return None
    if seen.has_termination_flag:
        return GoOperatorReason.ALREADY_TERMINATED
    return None if is_condition_past_creation_grace(breach, seen.group.created_at) else GoOperatorReason.NEVER_HEALTHY


def _with_status(
    seen: GoOperatorGroupJudgement,
    regular: Mapping[int, Sequence[GoOperatorCliqueJudgement]],
    whole: Sequence[CompleteGroupReplica],
    now: datetime,
    generation: GoOperatorRuleGeneration,
) -> GoOperatorGroupJudgement:
    """Return the group with the condition that the operator would write (GF-033 to GF-035, GF-104 to GF-108)."""
    group, placed = seen.group, sum(one.is_scheduled for one in whole)
    if generation.counts_scheduled_group_replicas:
        breached = {number for number, found in regular.items() if any(one.is_breached for one in found)}
        breached |= {one.number for one in whole if one.was_breached}
        seen = seen._replace(unbreached=placed - len(breached))
    truth, why = _breach_of(seen, placed, generation)
    message = GROUP_MESSAGES[why].format(scheduled=seen.scheduled, left=seen.unbreached, needed=group.min_available)
    since = next_transition_time(seen.breach, truth, now)
    return seen._replace(breach=Condition(MIN_AVAILABLE_BREACHED, truth, why.code, message, since), why=why)


def _breach_of(
    seen: GoOperatorGroupJudgement, placed: int, generation: GoOperatorRuleGeneration
) -> tuple[ConditionStatus, GoOperatorReason]:
    """Return the status of the condition, and the first rule that applies (GF-033 to GF-035, GF-104, GF-108).

    Args:
        placed: its replicas that count as whole and scheduled.
    """
    group = seen.group
    if is_status_of_running_update(group.status):
        return ConditionStatus.UNKNOWN, GoOperatorReason.GROUP_UPDATE_IN_PROGRESS
    if generation.counts_scheduled_group_replicas and placed < group.min_available:
        if not placed:
            return ConditionStatus.FALSE, GoOperatorReason.GROUP_NOTHING_SCHEDULED
        return ConditionStatus.TRUE, GoOperatorReason.GROUP_SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE
    if seen.unbreached < group.min_available:
        return ConditionStatus.TRUE, GoOperatorReason.INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS
    return ConditionStatus.FALSE, GoOperatorReason.SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS


def _with_fates(seen: GoOperatorGroupJudgement, delay: timedelta, now: datetime) -> GoOperatorGroupJudgement:
    """Return the group with the fates of its replicas that have a breach to act on (GF-060 to GF-066)."""
    acting: defaultdict[int, list[MinAvailableBreach]] = defaultdict(list)
    for one in seen.members:
        if breach := one.actionable_breach(delay):
            acting[one.clique.group_replica_index].append(breach)
    if not acting:
        return seen
    ordered = frozen_dict_of_tuples(dict(sorted(acting.items())))
    fates: dict[int, GroupFate] = {
        index: replica_fate_of_breaches(breaches, now) for index, breaches in ordered.items()
    }
    if is_status_of_running_update(seen.group.status):
        fates = dict.fromkeys(ordered, Suspend())
    elif seen.group.replicas - len(ordered) < seen.group.min_available:
        fates = dict.fromkeys(ordered, Delegate())
    return seen._replace(acting=ordered, fates=FrozenDict(fates), fate=scaling_group_fate(fates.values()))
