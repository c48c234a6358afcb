"""Judges one scaling group: whether it is breached, and which of its replicas it terminates itself.

There are two levels (GT-050 to GT-053): a group terminates single replicas only while it can spare them; else the set
decides. Replicas whose delay still runs count as breached, so a group never terminates itself below its minimum.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, assert_never

from grove_core.areas.gang_termination.breach_delays import (
    breach_delay_reasons,
    replica_fate_of_breaches,
    scaling_group_fate,
)
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement, GroupJudgement
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.verdicts import (
    Delegate,
    GroupFate,
    Keep,
    MinAvailableBreach,
    Suspend,
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Condition, ConditionStatus, is_condition_true, next_transition_time
from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.reasons import Reason
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of

_KEEP: Final = Keep()
_NONE: Final[FrozenDict[int, Any]] = FrozenDict()


def judge_scaling_group_breach(
    root: PodCliqueSet,
    group: ScalingGroup,
    lacking: Sequence[CliqueJudgement],
    now: datetime,
    guard: TerminationReason | None,
    cliques_left: int,
) -> GroupJudgement:
    """Judge a scaling group on its judged cliques (GT-040).

    A termination of its replica of the set that has begun is recognised by what the cluster shows (GT-066): it holds
    after a restart, where neither the deleted objects nor the responses to their deletions are known.

    Args:
        group: the group; its own ``replicas`` and ``minAvailable`` count, not the template's.
        lacking: those of its cliques with too few ready pods that are not being deleted.
        guard: why nothing of the set may be terminated; None if it may.
        cliques_left: how many cliques of its replica of the set are not being deleted; read only where its stored
            status says that it is breached.
    """
    if guard is None and group.replica_index >= root.spec.replicas:
        guard = TerminationReason.REPLICA_SCALED_IN
    breached = _breached_replicas(group, lacking) if lacking else _NONE
    breach, deleted_replicas = ConditionStatus.FALSE, 0
    delay, stored = scaling_group_termination_delay(root, group), breach_condition_of(group.status)
    if group.status.updating:
        breach = ConditionStatus.UNKNOWN
    else:
        if 0 < cliques_left == sum(map(len, breached.values())) and _is_stored_breach_due(group, stored, delay, now):
            deleted_replicas = group.replicas - len(breached)
        if group.replicas - len(breached) - deleted_replicas < group.needed_replicas:
            breach = ConditionStatus.TRUE
    since = next_transition_time(stored, breach, now)
    if not breached:
        return GroupJudgement(group, delay, _NONE, breach, since, _KEEP, _NONE, _NONE, guard)
    acting = _NONE if delay is None or guard is not None else _acting_on(breached, delay)
    fates = _fates_of(breached, acting, breach, now)
    return GroupJudgement(
        group,
        delay,
        breached,
        breach,
        since,
        scaling_group_fate(fates.values()),
        fates,
        acting,
        guard,
        deleted_replicas,
    )


def _is_stored_breach_due(
    group: ScalingGroup, stored: Condition | None, delay: timedelta | None, now: datetime
) -> bool:
    """Return whether its stored breach is due, so that its replica of the set may be partly terminated already."""
    return (
        delay is not None
        and is_condition_true(stored)
        and replica_fate_of_breaches([MinAvailableBreach(group.ref, stored.last_transition_time, delay)], now)
        == Terminate()
    )


def scaling_group_termination_delay(root: PodCliqueSet, group: ScalingGroup) -> timedelta | None:
    """Return the effective delay of a scaling group; the set's if the group is not in the template (GT-030)."""
    short = group.ref.name.removeprefix(f"{root.ref.name}-{group.replica_index}-")
    return root.shape.groups.get(short, root.shape.delay)


def _breached_replicas(
    group: ScalingGroup, members: Sequence[CliqueJudgement]
) -> FrozenDict[int, tuple[CliqueJudgement, ...]]:
    """Return the breached cliques by replica index, without surplus replicas (GT-040)."""
    found: dict[int, list[CliqueJudgement]] = {}
    for judged in members:
        if judged.breach is ConditionStatus.TRUE and 0 <= judged.clique.group_replica_index < group.replicas:
            found.setdefault(judged.clique.group_replica_index, []).append(judged)
    return frozen_dict_of_tuples(dict(sorted(found.items()))) if found else _NONE


def _acting_on(
    breached: Mapping[int, Sequence[CliqueJudgement]], delay: timedelta
) -> FrozenDict[int, tuple[MinAvailableBreach, ...]]:
    return FrozenDict(
        (index, tuple([MinAvailableBreach(judged.clique.ref, judged.since, delay) for judged in cliques]))
        for index, cliques in breached.items()
    )


def _fates_of(
    breached: Iterable[int], acting: Mapping[int, Sequence[MinAvailableBreach]], breach: ConditionStatus, now: datetime
) -> FrozenDict[int, GroupFate]:
    """Return the fate of each breached replica; one fate for all where the group must not act on any."""
    if not acting:
        return FrozenDict(dict.fromkeys(breached, _KEEP))
    if breach is ConditionStatus.UNKNOWN:
        return FrozenDict(dict.fromkeys(breached, Suspend()))
    if breach is ConditionStatus.TRUE:
        return FrozenDict(dict.fromkeys(breached, Delegate()))
    return FrozenDict((index, replica_fate_of_breaches(breaches, now)) for index, breaches in acting.items())


def scaling_group_breach_reasons(judged: GroupJudgement) -> tuple[Reason, ...]:
    """Return why the group is (not) breached; its own reason comes before those of its breached cliques."""
    group = judged.group
    if judged.breach is ConditionStatus.UNKNOWN:
        own = TerminationReason.GROUP_UPDATE_IN_PROGRESS.because(group.ref)
    else:
        why = (
            TerminationReason.INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS
            if judged.breach is ConditionStatus.TRUE
            else TerminationReason.SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS
        )
        own = why.because(
            group.ref, left=judged.unbreached_replica_count, replicas=group.replicas, needed=group.needed_replicas
        )
    lost = judged.deleted_replicas
    deleted = (TerminationReason.REPLICAS_LOST.because(group.ref, lost=lost),) if lost else ()
    return (own, *deleted, *(clique.breach_reason for cliques in judged.breached.values() for clique in cliques))


def whole_group_fate_reasons(judged: GroupJudgement, now: datetime) -> tuple[Reason, ...]:
    """Return why the group as a whole has its fate: the reasons of the replicas with the same kind of fate."""
    if not judged.breached:
        return (TerminationReason.GROUP_NOTHING_BREACHED.because(judged.group.ref),)
    kind = type(judged.fate)
    like = [index for index, fate in judged.fates.items() if isinstance(fate, kind)]
    reasons = (reason for index in like for reason in scaling_group_replica_fate_reasons(judged, index, now))
    return tuple(dict.fromkeys(reasons))


def scaling_group_replica_fate_reasons(judged: GroupJudgement, index: int, now: datetime) -> tuple[Reason, ...]:
    """Return why a breached replica of the group is terminated, waited for, or kept."""
    group = judged.group
    fate = judged.fates[index]
    match fate:
        case Suspend():
            return (TerminationReason.SUSPENDED_BY_UPDATE.because(group.ref),)
        case Delegate():
            counts = {
                "left": judged.unbreached_replica_count,
                "replicas": group.replicas,
                "needed": group.needed_replicas,
            }
            return (TerminationReason.DELEGATED_TO_SET.because(group.ref, **counts),)
        case Keep():
            return ((judged.guard or TerminationReason.TERMINATION_DISABLED).because(group.ref),)
        case Wait() | Terminate():
            return breach_delay_reasons(
                judged.acting[index],
                now,
                ended=TerminationReason.GROUP_DELAY_EXPIRED,
                running=TerminationReason.GROUP_DELAY_RUNNING,
            )
        case _:
            assert_never(fate)
