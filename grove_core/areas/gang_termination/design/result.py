"""The result of gang termination by the design: statuses, deletions of PodCliques, and when to look again."""

from collections.abc import Callable, Iterator
from datetime import datetime

from grove_core.areas.gang_termination.clocks import first_of, wake_among
from grove_core.areas.gang_termination.deletions import deletion_wants, replica_termination
from grove_core.areas.gang_termination.design.findings import findings_of_termination
from grove_core.areas.gang_termination.design.judge import judge_by_design
from grove_core.areas.gang_termination.design.statuses import count_set, statuses_of
from grove_core.areas.gang_termination.result import TerminationResult, not_collected, not_judged
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import Judgement, Terminate, terminating_of
from grove_core.kernel.wants import Absent, Desired
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


def wake_of_termination(judgement: Judgement) -> datetime | None:
    """Return the earliest moment at which a waiting breach becomes due that its level can act on (GT-060)."""
    return wake_among(
        ((replica.index, replica.fate) for replica in judgement.replicas),
        ((judged.group.replica_index, judged.replica_fates.values()) for judged in judgement.groups),
    )


def deletions_of_termination(root: PodCliqueSet, judgement: Judgement) -> Iterator[Absent]:
    """Yield the wanted deletion of every clique of a terminated replica, with the reason of each level. Linear.

    GT-033, GT-036, GT-050, GT-054.
    """
    cliques = {judged.clique.ref: judged.clique for judged in judgement.cliques}
    groups = {
        judged.group.ref: (judged.group, [one.clique for found in judged.breached.values() for one in found])
        for judged in judgement.groups
    }
    whole = {
        replica.index: replica_termination(Why.DELAY_EXPIRED, first_of(replica.breaches), root, cliques, groups)
        for replica in judgement.replicas
        if isinstance(replica.fate, Terminate)
    }
    parts = {
        (judged.group.uid, index): replica_termination(
            Why.GROUP_DELAY_EXPIRED, first_of(judged.acting[index]), judged.group, cliques, {}
        )
        for judged in judgement.groups
        for index, fate in judged.replica_fates.items()
        if isinstance(fate, Terminate)
    }
    return deletion_wants(root.ref, cliques.values(), whole, parts, (Why.GANG_TERMINATED, Why.GROUP_REPLICA_TERMINATED))


def terminate_by_design(
    snapshot: Snapshot, judge: Callable[[Snapshot], Judgement] = judge_by_design
) -> TerminationResult:
    """Return the result of gang termination for a set.

    Args:
        judge: judges the cliques, groups and replicas of the set.
    """
    unknown = not_collected(snapshot, Why.NOT_COLLECTED)
    if unknown:
        return not_judged(snapshot.root.ref, unknown)
    judgement = judge(snapshot)
    counts = count_set(snapshot, judgement)
    return TerminationResult(
        statuses=Desired(tuple(statuses_of(snapshot, judgement, counts))),
        deletions=tuple(deletions_of_termination(snapshot.root, judgement)),
        findings=tuple(findings_of_termination(snapshot, judgement, counts)),
        wake_at=wake_of_termination(judgement),
        terminating=terminating_of(judgement),
    )
