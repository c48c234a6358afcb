"""Judging one scaling group: is it breached, and which of its replicas does it end itself?

Two levels of protection (GT-050 to GT-053): a group ends single replicas only while it can spare them; else the set
decides. Replicas whose delay still runs count as breached, so a group never falls below its minimum by its own hand.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from grove_core.areas.gang_termination.deadline import deadline, first_deadline, timing_reason
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import (
    CliqueJudgement,
    Delegate,
    GroupFate,
    GroupJudgement,
    Keep,
    Suspend,
    Terminate,
    Wait,
)
from grove_core.kernel.conditions import Truth, condition_of, transition_time
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.resources.keys import MIN_AVAILABLE_BREACHED
from grove_core.resources.scaling_group import ScalingGroup


def judge_group(
    group: ScalingGroup,
    members: Sequence[CliqueJudgement],
    delay: timedelta | None,
    now: datetime,
    *,
    set_deleting: bool,
) -> GroupJudgement:
    """Judge a scaling group on its judged cliques (GT-040 to GT-056).

    Args:
        group: the group; its own ``replicas`` and ``minAvailable`` count, not the template's.
        members: its cliques that are not being deleted.
        delay: effective delay (GT-030); None if gang termination is off.
        now: the snapshot's clock.
        set_deleting: whether its set is being deleted (GT-037).
    """
    by_replica: defaultdict[int, list[CliqueJudgement]] = defaultdict(list)
    for judged in members:
        if 0 <= judged.clique.group_replica_index < group.replicas:
            by_replica[judged.clique.group_replica_index].append(judged)
    breached = {
        index: found
        for index, cliques in sorted(by_replica.items())
        if (found := [judged for judged in cliques if judged.breach is Truth.TRUE])
    }
    scheduled, available = _usable_replicas(group, by_replica)
    left = group.replicas - len(breached)
    breach, reason = _breach_of(group, left)
    stored = condition_of(group.status.conditions, MIN_AVAILABLE_BREACHED)
    fate, replica_fates = _fates_of(group, breached, left, delay, now, set_deleting=set_deleting)
    return GroupJudgement(
        group=group,
        left=left,
        scheduled=scheduled,
        available=available,
        breach=breach,
        since=transition_time(stored, breach, now),
        because=(reason, *(judged.reason for cliques in breached.values() for judged in cliques)),
        fate=fate,
        replica_fates=replica_fates,
    )


def _usable_replicas(group: ScalingGroup, by_replica: Mapping[int, Sequence[CliqueJudgement]]) -> tuple[int, int]:
    """Scheduled and available replicas (GT-044)."""
    scheduled = available = 0
    for cliques in by_replica.values():
        if len(cliques) >= len(group.clique_names) and all(
            judged.counts.scheduled >= judged.clique.min_available for judged in cliques
        ):
            scheduled += 1
            available += all(judged.counts.ready >= judged.clique.min_available for judged in cliques)
    return scheduled, available


def _breach_of(group: ScalingGroup, left: int) -> tuple[Truth, Reason]:
    if group.status.updating:
        return Truth.UNKNOWN, Why.GROUP_UPDATE_IN_PROGRESS.because(group.ref)
    truth, why = (
        (Truth.TRUE, Why.INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS)
        if left < group.min_available
        else (Truth.FALSE, Why.SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS)
    )
    return truth, why.because(group.ref, left=left, replicas=group.replicas, needed=group.min_available)


def _fates_of(
    group: ScalingGroup,
    breached: Mapping[int, list[CliqueJudgement]],
    left: int,
    delay: timedelta | None,
    now: datetime,
    *,
    set_deleting: bool,
) -> tuple[Decision[GroupFate], tuple[tuple[int, Decision[GroupFate]], ...]]:
    """What the group does, and what that means for each breached replica."""
    if not breached:
        return Decision(Keep(), (Why.GROUP_NOTHING_BREACHED.because(group.ref),)), ()
    whole = _fate_of_all(group, left, delay, set_deleting=set_deleting)
    if whole is not None or delay is None:
        shared = whole or Decision(Keep(), (Why.TERMINATION_DISABLED.because(group.ref),))
        return shared, tuple((index, shared) for index in breached)
    fates = tuple((index, _fate_of_replica(cliques, delay, now)) for index, cliques in breached.items())
    due = [decision for _, decision in fates if decision.verdict == Terminate()]
    because = tuple(reason for decision in due or [decision for _, decision in fates] for reason in decision.because)
    waits = [decision.verdict for _, decision in fates if isinstance(decision.verdict, Wait)]
    verdict = Terminate() if due else min(waits, key=lambda wait: wait.until)
    return Decision(verdict, because), fates


def _fate_of_all(
    group: ScalingGroup, left: int, delay: timedelta | None, *, set_deleting: bool
) -> Decision[GroupFate] | None:
    """The first guard that holds the whole group back; None if its replicas are judged one by one."""
    if set_deleting:
        return Decision(Keep(), (Why.SET_BEING_DELETED.because(group.ref),))
    if delay is None:
        return Decision(Keep(), (Why.TERMINATION_DISABLED.because(group.ref),))
    if group.status.updating:
        return Decision(Suspend(), (Why.SUSPENDED_BY_UPDATE.because(group.ref),))
    if left < group.min_available:
        reason = Why.DELEGATED_TO_SET.because(group.ref, left=left, replicas=group.replicas, needed=group.min_available)
        return Decision(Delegate(), (reason,))
    return None


def _fate_of_replica(breached: list[CliqueJudgement], delay: timedelta, now: datetime) -> Decision[GroupFate]:
    due = [judged for judged in breached if deadline(judged.since, delay) <= now]
    if due:
        return Decision(
            Terminate(),
            tuple(timing_reason(Why.GROUP_DELAY_EXPIRED, judged.clique.ref, judged.since, delay) for judged in due),
        )
    return Decision(
        Wait(first_deadline(breached, delay)),
        tuple(timing_reason(Why.GROUP_DELAY_RUNNING, judged.clique.ref, judged.since, delay) for judged in breached),
    )
