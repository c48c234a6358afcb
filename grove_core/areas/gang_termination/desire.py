"""From judgements to wishes: which cliques should be gone, and when to look again."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.gang_termination.deadline import timing_reason
from grove_core.areas.gang_termination.endings import End, absents_of
from grove_core.areas.gang_termination.group import cause_in
from grove_core.areas.gang_termination.replica import cause_of
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.status import Tally, statuses_of
from grove_core.areas.gang_termination.verdicts import (
    Breach,
    CliqueJudgement,
    GroupJudgement,
    Judgement,
    Terminate,
    Wait,
)
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Desired, HeldBack
from grove_core.snapshot.snapshot import Snapshot

_NAMED: Final = 8  # breached cliques of a scaling group that a deletion rests on: enough to notice, few enough to carry


def wants_of_termination(snapshot: Snapshot, judgement: Judgement, tally: Tally) -> Desired:
    """Which cliques should be gone, and which statuses of the others should change.

    GT-033, GT-036, GT-050, GT-054 for the former. A clique that is to be deleted gets no status any more (PL-005).
    Where nothing can be said, everything is held back (GT-024).
    """
    if judgement.unknown:
        return Desired((), (HeldBack(snapshot.root.ref, judgement.unknown),))
    absents = tuple(_absents(judgement))
    doomed = {absent.target for absent in absents}
    statuses = (status for status in statuses_of(snapshot, judgement, tally) if status.target not in doomed)
    return Desired((*absents, *statuses))


def wake_of_termination(judgement: Judgement) -> datetime | None:
    """The earliest moment at which a waiting breach becomes due that its level can act on (GT-060)."""
    waits: list[datetime] = []
    ending: list[int] = []
    for replica in judgement.replicas:
        if isinstance(replica.fate, Wait):
            waits.append(replica.fate.until)
        elif isinstance(replica.fate, Terminate):
            ending.append(replica.index)
    for judged in judgement.groups:
        if judged.replica_fates and judged.group.replica_index not in ending:
            waits.extend(fate.until for fate in judged.replica_fates.values() if isinstance(fate, Wait))
    return min(waits, default=None)


def _absents(judgement: Judgement) -> Iterator[Absent]:
    """Every clique that a terminated replica takes along, with the reason of each level that ends it. Linear."""
    cliques = {judged.clique.ref: judged for judged in judgement.cliques}
    groups = {judged.group.ref: judged for judged in judgement.groups}
    ended = {
        replica.index: _end_of_replica(cause_of(replica), cliques, groups)
        for replica in judgement.replicas
        if isinstance(replica.fate, Terminate)
    }
    ended_parts = {
        (judged.group.uid, index): (judged.group.ref.short, _end_of_part(judged, index))
        for judged in judgement.groups
        for index, fate in judged.replica_fates.items()
        if isinstance(fate, Terminate)
    }
    words = (Why.GANG_TERMINATED, Why.GROUP_REPLICA_TERMINATED)
    return absents_of((judged.clique for judged in judgement.cliques), ended, ended_parts, words)


def _end_of_replica(cause: Breach, cliques: Mapping[Ref, CliqueJudgement], groups: Mapping[Ref, GroupJudgement]) -> End:
    """The end of a replica of the set; its cause is a standalone clique or a scaling group."""
    reason = timing_reason(Why.DELAY_EXPIRED, *cause)
    if cause.ref in cliques:
        clique = cliques[cause.ref].clique
        return End(cause.ref, reason, ((cause.ref, clique.guard),), {clique.uid})
    group = groups[cause.ref]
    breached = [judged.clique for found in group.breached.values() for judged in found]
    named = tuple((clique.ref, clique.guard) for clique in breached[:_NAMED])
    return End(cause.ref, reason, ((cause.ref, group.group.guard), *named), {clique.uid for clique in breached})


def _end_of_part(judged: GroupJudgement, index: int) -> End:
    """The end of a replica of a scaling group; its cause is one of its cliques."""
    cause = cause_in(judged, index)
    clique = cause.clique
    reason = timing_reason(Why.GROUP_DELAY_EXPIRED, clique.ref, cause.since, judged.delay or timedelta())
    return End(clique.ref, reason, ((clique.ref, clique.guard),), {clique.uid})
