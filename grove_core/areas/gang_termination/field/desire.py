"""What the existing operator would do about a judged set, and when time alone would change that (GF-060 to GF-085)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from grove_core.areas.gang_termination.deadline import deadline, timing_reason
from grove_core.areas.gang_termination.endings import End, absents_of
from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.group import GroupSighting
from grove_core.areas.gang_termination.field.judge import FieldJudgement
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.field.status import statuses_of
from grove_core.areas.gang_termination.verdicts import Breach, Terminate, Wait
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Desired, HeldBack
from grove_core.resources.meta import Resource
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot

_NAMED: Final = 8  # breached cliques of a scaling group that a deletion rests on: enough to notice, few enough to carry


def wants_of_field(snapshot: Snapshot, judgement: FieldJudgement, generation: Generation) -> Desired:
    """Which cliques would be gone, and which statuses would change; nothing where nothing can be said."""
    if judgement.unknown:
        return Desired((), (HeldBack(snapshot.root.ref, judgement.unknown),))
    absents = tuple(_absents(snapshot.root, judgement))
    doomed = {absent.target for absent in absents}
    statuses = (status for status in statuses_of(snapshot, judgement, generation) if status.target not in doomed)
    return Desired((*absents, *statuses))


def wake_of_field(snapshot: Snapshot, judgement: FieldJudgement) -> datetime | None:
    """The earliest moment at which time alone changes the answer (GF-085).

    A replica that is ended now has nothing left to wait for, nor have the groups in it; a replica of a group waits
    also beside others that end now.
    """
    now = snapshot.now
    waits = [
        moment
        for replica in judgement.replicas
        if isinstance(replica.fate, Wait)
        for breach in replica.breaches
        if (moment := deadline(breach.since, breach.delay)) > now
    ]
    ended = {replica.number for replica in judgement.replicas if isinstance(replica.fate, Terminate)}
    standing = (seen for seen in judgement.groups if seen.group.replica_index not in ended)
    waits += [fate.until for seen in standing for fate in seen.fates.values() if isinstance(fate, Wait)]
    return min(waits, default=None)


def _absents(root: PodCliqueSet, judgement: FieldJudgement) -> Iterator[Absent]:
    """Every clique that goes with what ends; one that is on its way already is not deleted again."""
    cliques = {seen.clique.ref: seen.clique for seen in judgement.cliques}
    groups = {seen.group.ref: seen for seen in judgement.groups}
    whole = {
        replica.number: _end_of_replica(_first(replica.breaches), root, cliques, groups)
        for replica in judgement.replicas
        if isinstance(replica.fate, Terminate)
    }
    parts = {
        (seen.group.uid, index): (
            seen.group.ref.short,
            _end_by_clique(Why.GROUP_DELAY_EXPIRED, _first(seen.acting[index]), seen.group, cliques),
        )
        for seen in judgement.groups
        for index, fate in seen.fates.items()
        if isinstance(fate, Terminate)
    }
    standing = (clique for clique in cliques.values() if not clique.deleting)
    return absents_of(standing, whole, parts, (Why.GANG_TERMINATED, Why.GROUP_REPLICA_TERMINATED))


def _first(breaches: Iterable[Breach]) -> Breach:
    """The breach whose delay ends first; by name among equals."""
    return min(breaches, key=lambda breach: (breach.since, breach.ref.sort_key))


def _end_of_replica(
    cause: Breach, root: PodCliqueSet, cliques: Mapping[Ref, PodClique], groups: Mapping[Ref, GroupSighting]
) -> End:
    """The end of a replica of the set; its cause is a standalone clique or a scaling group."""
    if cause.ref in cliques:
        return _end_by_clique(Why.DELAY_EXPIRED, cause, root, cliques)
    seen = groups[cause.ref]
    breached = [one.clique for one in seen.members if one.breached and not one.clique.deleting]
    named = tuple((clique.ref, clique.guard) for clique in breached[:_NAMED])
    reason = timing_reason(Why.DELAY_EXPIRED, *cause)
    return End(cause.ref, reason, ((cause.ref, seen.group.guard), *named), {clique.uid for clique in breached})


def _end_by_clique(why: Why, cause: Breach, owner: Resource, cliques: Mapping[Ref, PodClique]) -> End:
    """The end for a clique; one that is on its way out is gone before its companions, so these rest on its owner."""
    clique, reason = cliques[cause.ref], timing_reason(why, *cause)
    if clique.deleting:
        return End(cause.ref, reason, ((owner.ref, owner.guard),), frozenset())
    return End(cause.ref, reason, ((cause.ref, clique.guard),), {clique.uid})
