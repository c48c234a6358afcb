"""From judgements to wishes: which cliques should be gone, and when to look again."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from grove_core.areas.gang_termination.group import because_of_replica
from grove_core.areas.gang_termination.replica import because_of_fate
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.status import Counts, statuses_of
from grove_core.areas.gang_termination.verdicts import Judgement, Terminate, Wait
from grove_core.kernel.conditions import Truth
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Desired, HeldBack
from grove_core.snapshot.snapshot import Snapshot


def wants_of_termination(snapshot: Snapshot, judgement: Judgement, counts: Mapping[Ref, Counts]) -> Desired:
    """Which cliques should be gone, and which statuses of the others should change.

    GT-033, GT-036, GT-050, GT-054 for the former. A clique that is to be deleted gets no status any more (PL-005).
    Where nothing can be said, everything is held back (GT-024).
    """
    if judgement.unknown:
        return Desired((), (HeldBack(snapshot.root.ref, judgement.unknown),))
    doomed = _doomed(snapshot, judgement)
    guards = {judged.group.ref: judged.group.meta.guard for judged in judgement.groups}
    guards.update({judged.clique.ref: judged.clique.meta.guard for judged in judgement.cliques})
    breached = {judged.clique.ref for judged in judgement.cliques if judged.breach is Truth.TRUE}
    absents = tuple(
        Absent(
            ref,
            guards[ref],
            because,
            rests_on=tuple((cause, guards[cause]) for cause in _causes_in(because)),
            is_cause=ref in breached,
        )
        for ref, because in doomed.items()
    )
    statuses = (status for status in statuses_of(snapshot, judgement, counts) if status.target not in doomed)
    return Desired((*absents, *statuses))


def wake_of_termination(judgement: Judgement) -> datetime | None:
    """The earliest moment at which a waiting breach becomes due that its level can act on (GT-060)."""
    ending = {replica.index for replica in judgement.replicas if isinstance(replica.fate, Terminate)}
    waits = [replica.fate.until for replica in judgement.replicas if isinstance(replica.fate, Wait)]
    for judged in judgement.groups:
        if judged.group.replica_index not in ending:
            waits.extend(fate.until for fate in judged.replica_fates.values() if isinstance(fate, Wait))
    return min(waits, default=None)


def _doomed(snapshot: Snapshot, judgement: Judgement) -> Mapping[Ref, tuple[Reason, ...]]:
    """Every clique that a terminated replica takes along, with the reasons of each level that ends it. Linear."""
    now = snapshot.now
    ended = {
        replica.index: _expired(because_of_fate(snapshot.root, replica, now))
        for replica in judgement.replicas
        if isinstance(replica.fate, Terminate)
    }
    ended_parts = {
        (judged.group.meta.uid, index): (judged.group.ref.short, because_of_replica(judged, index, now))
        for judged in judgement.groups
        for index, fate in judged.replica_fates.items()
        if isinstance(fate, Terminate)
    }
    doomed: dict[Ref, tuple[Reason, ...]] = {}
    for clique in (judged.clique for judged in judgement.cliques) if ended or ended_parts else ():
        ref, index = clique.ref, clique.replica_index
        because: tuple[Reason, ...] = ()
        if index in ended:
            due = ended[index]
            because = (Why.GANG_TERMINATED.because(ref, replica=index, cause=due[0].subject.short), *due)
        part = ended_parts.get((clique.meta.owner_uid, clique.group_replica_index))
        if part is not None:
            group, due = part
            facts = {"group": group, "cause": due[0].subject.short}
            own = clique.group_replica_index
            because = (*because, Why.GROUP_REPLICA_TERMINATED.because(ref, replica=own, **facts), *due)
        if because:
            doomed[ref] = because
    return doomed


def _expired(because: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(reason for reason in because if reason.rule is Why.DELAY_EXPIRED)


def _causes_in(because: Iterable[Reason]) -> list[Ref]:
    """The breached constituents that some reasons name; sorted, each once."""
    causes = {reason.subject for reason in because if reason.rule in {Why.DELAY_EXPIRED, Why.GROUP_DELAY_EXPIRED}}
    return sorted(causes, key=lambda ref: ref.sort_key)
