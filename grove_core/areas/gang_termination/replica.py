"""Judging the replicas of a set: is any constituent breached for longer than its delay?

A constituent is a standalone clique or a scaling group. Cliques inside groups are the groups' matter.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final

from grove_core.areas.gang_termination.deadline import deadline, timing_reason
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import (
    Breach,
    CliqueJudgement,
    GroupJudgement,
    Keep,
    ReplicaFate,
    ReplicaJudgement,
    Terminate,
    Wait,
    build,
)
from grove_core.kernel.conditions import Truth
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.names import scaling_group_name, standalone_clique_name
from grove_core.resources.podcliqueset import PodCliqueSet

_KEEP: Final = Keep()


def judge_replicas(
    root: PodCliqueSet,
    indices: Iterable[int],
    lacking: Iterable[CliqueJudgement],
    groups: Iterable[GroupJudgement],
    now: datetime,
) -> tuple[ReplicaJudgement, ...]:
    """Judge replicas of the set (GT-030 to GT-039).

    Args:
        root: the set.
        indices: of the replicas, all below ``spec.replicas``.
        lacking: the cliques with too few ready pods that are not being deleted.
        groups: the scaling groups that are not being deleted.
        now: the snapshot's clock.
    """
    breached_cliques = [judged for judged in lacking if judged.breach is Truth.TRUE]
    breached_groups = [judged for judged in groups if judged.breach is Truth.TRUE]
    if not breached_cliques and not breached_groups:
        return tuple([build(ReplicaJudgement, (index, _KEEP, ())) for index in indices])
    alone = {judged.clique.ref.name: judged for judged in breached_cliques if judged.clique.group_replica_index < 0}
    grouped = {judged.group.ref.name: judged for judged in breached_groups}
    return tuple([_judge_replica(root, index, alone, grouped, now) for index in indices])


def _judge_replica(
    root: PodCliqueSet,
    index: int,
    cliques: Mapping[str, CliqueJudgement],
    groups: Mapping[str, GroupJudgement],
    now: datetime,
) -> ReplicaJudgement:
    """Judge one replica by the breached constituents of the set, by name; those that its template names count."""
    set_name, delay = root.ref.name, root.shape.delay
    breaches: list[Breach] = []
    for short in root.shape.standalone:
        clique = cliques.get(standalone_clique_name(set_name, index, short))
        if clique is not None and delay is not None:
            breaches.append(Breach(clique.clique.ref, clique.since, delay))
    for short in root.shape.groups:
        group = groups.get(scaling_group_name(set_name, index, short))
        if group is not None and group.delay is not None:
            breaches.append(Breach(group.group.ref, group.since, group.delay))
    fate: ReplicaFate = _KEEP
    if breaches and not root.deleting:
        first = min(deadline(breach.since, breach.delay) for breach in breaches)
        fate = Terminate() if first <= now else Wait(first)
    return ReplicaJudgement(index, fate, breaches)


def missing_of(root: PodCliqueSet, index: int, there: AbstractSet[str]) -> tuple[str, ...]:
    """``Kind/name`` of what a replica of the set should consist of and is not ``there``, by name (GT-038)."""
    set_name, shape = root.ref.name, root.shape
    cliques = (standalone_clique_name(set_name, index, short) for short in shape.standalone)
    groups = (scaling_group_name(set_name, index, short) for short in shape.groups)
    return (
        *(f"PodClique/{name}" for name in cliques if name not in there),
        *(f"PodCliqueScalingGroup/{name}" for name in groups if name not in there),
    )


def cause_of(judged: ReplicaJudgement) -> Breach:
    """The breach whose delay ends first; by name among equals. Where the replica ends, it is due (GT-063)."""
    return min(judged.breaches, key=lambda breach: (deadline(breach.since, breach.delay), breach.ref.sort_key))


def because_of_fate(
    root: PodCliqueSet, judged: ReplicaJudgement, missing: Iterable[str], now: datetime
) -> tuple[Reason, ...]:
    """Why a replica is ended, waited for or kept; after that, what is missing of it (GT-038)."""
    subject = root.ref.at_replica(judged.index)
    also = (Why.CONSTITUENT_MISSING.because(subject, name=name) for name in missing)
    return (*_clocks(judged, now), *also) if judged.fate != _KEEP else (_guard(root, subject), *also)


def _guard(root: PodCliqueSet, subject: Ref) -> Reason:
    """The first guard that keeps a replica."""
    if root.deleting:
        return Why.SET_BEING_DELETED.because(subject)
    if root.spec.template.delay is None:
        return Why.TERMINATION_DISABLED.because(subject)
    return Why.NOTHING_BREACHED.because(subject)


def _clocks(judged: ReplicaJudgement, now: datetime) -> tuple[Reason, ...]:
    """The clocks that have run out, else all that run."""
    due = [breach for breach in judged.breaches if deadline(breach.since, breach.delay) <= now]
    why = Why.DELAY_EXPIRED if due else Why.DELAY_RUNNING
    return tuple(timing_reason(why, *breach) for breach in due or judged.breaches)
