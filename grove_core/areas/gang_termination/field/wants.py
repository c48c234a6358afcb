"""Turns judgements by the Go operator's rules into wants, and says when to look again (GF-060 to GF-085)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from grove_core.areas.gang_termination.clocks import first_of, wake_among
from grove_core.areas.gang_termination.deletions import ReplicaTermination, deletion_wants, replica_termination
from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.judge import FieldJudgement
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.field.status import statuses_of
from grove_core.areas.gang_termination.verdicts import Terminate
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Desired, Obstacle, Withheld
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


class Wants(NamedTuple):
    """Deletions of cliques, and statuses to write."""

    deletions: tuple[Absent, ...]
    statuses: Desired


def wants_of_field(snapshot: Snapshot, judgement: FieldJudgement, generation: Generation) -> Wants:
    """Return the deletions and statuses of the Go operator; none where the set cannot be judged."""
    if judgement.unknown:
        return Wants(
            (), Desired((), (Withheld(snapshot.root.ref, judgement.unknown, obstacle=Obstacle.SET_NOT_JUDGED),))
        )
    whole = _terminations_of(snapshot.root, judgement)
    causes = {index: tuple(ref for ref, _ in end.rests_on) for index, end in whole.items()}
    statuses = tuple(statuses_of(snapshot, judgement, generation, causes))
    return Wants(tuple(_absents(snapshot.root.ref, judgement, whole)), Desired(statuses))


def wake_of_field(judgement: FieldJudgement) -> datetime | None:
    """Return the earliest moment at which time alone changes a verdict (GF-085)."""
    return wake_among(
        ((replica.number, replica.fate) for replica in judgement.replicas),
        ((seen.group.replica_index, seen.fates.values()) for seen in judgement.groups),
    )


def _terminations_of(root: PodCliqueSet, judgement: FieldJudgement) -> Mapping[int, ReplicaTermination]:
    """Return the terminations of replicas of the set, by index."""
    due = [replica for replica in judgement.replicas if isinstance(replica.fate, Terminate)]
    if not due:
        return {}
    cliques = {seen.clique.ref: seen.clique for seen in judgement.cliques}
    groups = {
        seen.group.ref: (
            seen.group,
            [one.clique for one in seen.members if one.breached and not one.clique.deleting],
        )
        for seen in judgement.groups
    }
    return {
        replica.number: replica_termination(Why.DELAY_EXPIRED, first_of(replica.breaches), root, cliques, groups)
        for replica in due
    }


def _absents(root: Ref, judgement: FieldJudgement, whole: Mapping[int, ReplicaTermination]) -> Iterator[Absent]:
    """Yield the wanted deletion of every clique of a terminated replica that is not being deleted yet."""
    cliques = {seen.clique.ref: seen.clique for seen in judgement.cliques}
    parts = {
        (seen.group.uid, index): replica_termination(
            Why.GROUP_DELAY_EXPIRED, first_of(seen.acting[index]), seen.group, cliques, {}
        )
        for seen in judgement.groups
        for index, fate in seen.fates.items()
        if isinstance(fate, Terminate)
    }
    standing = (clique for clique in cliques.values() if not clique.deleting)
    return deletion_wants(root, standing, whole, parts, (Why.GANG_TERMINATED, Why.GROUP_REPLICA_TERMINATED))
