"""Judging one scaling group: is it breached, and which of its replicas does it end itself?

Two levels of protection (GT-050 to GT-053): a group ends single replicas only while it can spare them; else the set
decides. Replicas whose delay still runs count as breached, so a group never falls below its minimum by its own hand.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.gang_termination.deadline import deadline, timing_reason
from grove_core.areas.gang_termination.judge import since_when
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
    build,
)
from grove_core.kernel.conditions import Truth
from grove_core.kernel.reasons import Reason
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup

_KEEP: Final = Keep()
_NONE: Final[Mapping[int, Any]] = MappingProxyType({})


def judge_group(
    root: PodCliqueSet, group: ScalingGroup, lacking: Sequence[CliqueJudgement], now: datetime
) -> GroupJudgement:
    """Judge a scaling group on its judged cliques (GT-040 to GT-056).

    Args:
        root: its set; while that is being deleted the group ends nothing (GT-037).
        group: the group; its own ``replicas`` and ``minAvailable`` count, not the template's.
        lacking: those of its cliques with too few ready pods that are not being deleted.
        now: the snapshot's clock.
    """
    breached = _breached_replicas(group, lacking) if lacking else _NONE
    breach = Truth.FALSE
    if group.status.updating:
        breach = Truth.UNKNOWN
    elif group.replicas - len(breached) < group.needed:
        breach = Truth.TRUE
    delay = delay_of(root, group)
    since = since_when(group.status.conditions, breach, now)
    if not breached:
        return build(GroupJudgement, (group, delay, _NONE, breach, since, _KEEP, _NONE))
    fates = _fates_of(breached, breach, None if root.deleting else delay, now)
    return GroupJudgement(group, delay, breached, breach, since, _fate_of_whole(fates), fates)


def delay_of(root: PodCliqueSet, group: ScalingGroup) -> timedelta | None:
    """The delay that counts for a scaling group of the set; the set's where the template does not know it (GT-030)."""
    short = group.ref.name.removeprefix(f"{root.ref.name}-{group.replica_index}-")
    return root.shape.groups.get(short, root.shape.delay)


def _breached_replicas(group: ScalingGroup, members: Sequence[CliqueJudgement]) -> Mapping[int, list[CliqueJudgement]]:
    """The breached cliques by replica index, those beyond the wanted count left out (GT-040, GT-056)."""
    found: dict[int, list[CliqueJudgement]] = {}
    for judged in members:
        if judged.breach is Truth.TRUE and 0 <= judged.clique.group_replica_index < group.replicas:
            found.setdefault(judged.clique.group_replica_index, []).append(judged)
    return dict(sorted(found.items())) if found else _NONE


def _fates_of(
    breached: Mapping[int, Sequence[CliqueJudgement]], breach: Truth, delay: timedelta | None, now: datetime
) -> Mapping[int, GroupFate]:
    """What becomes of each breached replica: one answer for all where a guard holds the whole group back."""
    if delay is None:
        return dict.fromkeys(breached, _KEEP)
    if breach is Truth.UNKNOWN:
        return dict.fromkeys(breached, Suspend())
    if breach is Truth.TRUE:
        return dict.fromkeys(breached, Delegate())
    fates: dict[int, GroupFate] = {}
    for index, cliques in breached.items():
        first = min(deadline(judged.since, delay) for judged in cliques)
        fates[index] = Terminate() if first <= now else Wait(first)
    return fates


def _fate_of_whole(fates: Mapping[int, GroupFate]) -> GroupFate:
    """End something if any replica ends; else wait for the first; else what holds for all."""
    verdicts = list(fates.values())
    if len(verdicts) == 1:
        return verdicts[0]
    if Terminate() in verdicts:
        return Terminate()
    waits = [verdict for verdict in verdicts if isinstance(verdict, Wait)]
    return min(waits, key=lambda wait: wait.until) if waits else verdicts[0]


def cause_in(judged: GroupJudgement, index: int) -> CliqueJudgement:
    """The clique of a breached replica whose delay ends first; by name among equals. Delays are the same for all."""
    return min(judged.breached[index], key=lambda clique: (clique.since, clique.clique.ref.sort_key))


def because_of_breach(judged: GroupJudgement) -> tuple[Reason, ...]:
    """Why the group is (not) breached; after its own reason those of its breached cliques."""
    group = judged.group
    if judged.breach is Truth.UNKNOWN:
        own = Why.GROUP_UPDATE_IN_PROGRESS.because(group.ref)
    else:
        why = (
            Why.INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS
            if judged.breach is Truth.TRUE
            else Why.SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS
        )
        own = why.because(group.ref, left=judged.left, replicas=group.replicas, needed=group.needed)
    return (own, *(clique.reason for cliques in judged.breached.values() for clique in cliques))


def because_of_fate(judged: GroupJudgement, now: datetime) -> tuple[Reason, ...]:
    """Why the group as a whole does what it does: the reasons of the replicas that share its fate."""
    if not judged.breached:
        return (Why.GROUP_NOTHING_BREACHED.because(judged.group.ref),)
    kind = type(judged.fate)
    like = [index for index, fate in judged.replica_fates.items() if isinstance(fate, kind)]
    reasons = (reason for index in like for reason in because_of_replica(judged, index, now))
    return tuple(dict.fromkeys(reasons))


def because_of_replica(judged: GroupJudgement, index: int, now: datetime) -> tuple[Reason, ...]:
    """Why a breached replica of the group is ended, waited for, or left alone."""
    group, delay, cliques = judged.group, judged.delay, judged.breached[index]
    match judged.replica_fates[index]:
        case Suspend():
            return (Why.SUSPENDED_BY_UPDATE.because(group.ref),)
        case Delegate():
            counts = {"left": judged.left, "replicas": group.replicas, "needed": group.needed}
            return (Why.DELEGATED_TO_SET.because(group.ref, **counts),)
        case Keep():
            return ((Why.TERMINATION_DISABLED if delay is None else Why.SET_BEING_DELETED).because(group.ref),)
        case fate:
            span = delay or timedelta()
            due = [clique for clique in cliques if deadline(clique.since, span) <= now]
            why = Why.GROUP_DELAY_EXPIRED if isinstance(fate, Terminate) else Why.GROUP_DELAY_RUNNING
            return tuple(timing_reason(why, clique.clique.ref, clique.since, span) for clique in due or cliques)
