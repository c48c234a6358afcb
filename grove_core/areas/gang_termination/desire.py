"""From judgements to wishes: which statuses should stand, which cliques should be gone."""

from collections.abc import Iterable
from datetime import datetime

from grove_core.areas.gang_termination.judge import conditions_of, placement_of
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, GroupJudgement, Judgement, Terminate, Wait
from grove_core.kernel.conditions import Condition, Truth
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Desired, HeldBack, Status
from grove_core.resources.keys import MIN_AVAILABLE_BREACHED
from grove_core.resources.meta import Meta
from grove_core.resources.statuses import StoredStatus, status_change
from grove_core.snapshot.snapshot import Snapshot


def wants_of_termination(snapshot: Snapshot, judgement: Judgement) -> Desired:
    """Which cliques should be gone, and which statuses of the others should change.

    GT-033, GT-036, GT-050, GT-054 for the former; GT-010 to GT-022 and GT-041 to GT-045 for the latter. A clique that
    is to be deleted gets no status any more (PL-005). Where nothing can be said, everything is held back (GT-024).
    """
    if judgement.unknown:
        return Desired((), (HeldBack(snapshot.root.ref, judgement.unknown),))
    doomed = _doomed(judgement)
    cliques = {judged.clique.ref: judged.clique for judged in judgement.cliques}
    guards = {group.group.ref: group.group.meta.guard for group in judgement.groups}
    guards.update({ref: clique.meta.guard for ref, clique in cliques.items()})
    breached = {judged.clique.ref for judged in judgement.cliques if judged.breach is Truth.TRUE}
    absents = tuple(
        Absent(
            ref,
            cliques[ref].meta.guard,
            because,
            rests_on=tuple((cause, guards[cause]) for cause in _causes_in(because)),
            is_cause=ref in breached,
        )
        for ref, because in doomed.items()
    )
    statuses = (
        *(_clique_status(judged, snapshot.now) for judged in judgement.cliques if judged.clique.ref not in doomed),
        *map(_group_status, judgement.groups),
        _set_status(snapshot, judgement),
    )
    return Desired((*absents, *(status for status in statuses if status is not None)))


def wake_of_termination(judgement: Judgement) -> datetime | None:
    """The earliest moment at which a waiting breach becomes due that its level can act on (GT-060)."""
    ending = {replica.index for replica in judgement.replicas if replica.fate.verdict == Terminate()}
    waits = [replica.fate.verdict.until for replica in judgement.replicas if isinstance(replica.fate.verdict, Wait)]
    for judged in judgement.groups:
        if judged.group.replica_index not in ending:
            fates = (decision.verdict for _, decision in judged.replica_fates)
            waits.extend(fate.until for fate in fates if isinstance(fate, Wait))
    return min(waits, default=None)


def _doomed(judgement: Judgement) -> dict[Ref, tuple[Reason, ...]]:
    """Every clique that a terminated replica takes along, with the reasons of each level that ends it. Linear."""
    ended = {replica.index: replica for replica in judgement.replicas if replica.fate.verdict == Terminate()}
    ended_parts = {
        (judged.group.meta.uid, index): (judged.group.ref, fate.because)
        for judged in judgement.groups
        for index, fate in judged.replica_fates
        if fate.verdict == Terminate()
    }
    doomed: dict[Ref, tuple[Reason, ...]] = {}
    for clique in (judged.clique for judged in judgement.cliques):
        because: tuple[Reason, ...] = ()
        if clique.replica_index in ended:
            fate = ended[clique.replica_index].fate
            due = tuple(reason for reason in fate.because if reason.rule is Why.DELAY_EXPIRED)
            cause = due[0].subject.short
            because = (Why.GANG_TERMINATED.because(clique.ref, replica=clique.replica_index, cause=cause), *due)
        part = ended_parts.get((clique.meta.owner_uid, clique.group_replica_index))
        if part is not None:
            group, due = part
            ends = Why.GROUP_REPLICA_TERMINATED.because(
                clique.ref, replica=clique.group_replica_index, group=group.short, cause=due[0].subject.short
            )
            because = (*because, ends, *due)
        if because:
            doomed[clique.ref] = because
    return doomed


def _causes_in(because: Iterable[Reason]) -> list[Ref]:
    """The breached constituents that some reasons name; sorted, each once."""
    causes = {reason.subject for reason in because if reason.rule in {Why.DELAY_EXPIRED, Why.GROUP_DELAY_EXPIRED}}
    return sorted(causes, key=lambda ref: ref.sort_key)


def _clique_status(judged: CliqueJudgement, now: datetime) -> Status | None:
    counts = judged.counts
    wanted: dict[str, Json] = {
        "replicas": counts.replicas,
        "readyReplicas": counts.ready,
        "scheduledReplicas": counts.scheduled,
        "scheduleGatedReplicas": counts.gated,
        "updatedReplicas": counts.updated,
    }
    if judged.was_available is not None:
        wanted["wasAvailable"] = judged.was_available
    because = (judged.reason, *placement_of(judged).because)
    return _status(judged.clique.meta, judged.clique.status, wanted, conditions_of(judged, now), because)


def _group_status(judged: GroupJudgement) -> Status | None:
    wanted: dict[str, Json] = {
        "replicas": judged.group.replicas,
        "scheduledReplicas": judged.scheduled,
        "availableReplicas": judged.available,
    }
    reason = judged.because[0]
    condition = Condition(MIN_AVAILABLE_BREACHED, judged.breach, reason.rule.code, reason.sentence, judged.since)
    return _status(judged.group.meta, judged.group.status, wanted, (condition,), judged.because)


def _set_status(snapshot: Snapshot, judgement: Judgement) -> Status | None:
    root = snapshot.root
    if root.meta.deleting or not root.meta.uid:
        return None
    available = sum(replica.available for replica in judgement.replicas)
    wanted: dict[str, Json] = {"replicas": root.spec.replicas, "availableReplicas": available}
    because = Why.AVAILABLE_REPLICAS.because(root.ref, available=available, replicas=root.spec.replicas)
    return _status(root.meta, root.status, wanted, (), (because,))


def _status(
    meta: Meta,
    stored: StoredStatus,
    wanted: dict[str, Json],
    conditions: tuple[Condition, ...],
    because: tuple[Reason, ...],
) -> Status | None:
    """A status want for what differs; None where nothing does (PL-011)."""
    fields: FrozenMap = status_change(stored, wanted, conditions)
    return Status(meta.ref, meta.guard, fields, because) if fields else None
