"""The result of gang termination by the rules of the released Go operator."""

from collections.abc import Iterator, Mapping

from grove_core.areas.gang_termination.clocks import first_of, wake_among
from grove_core.areas.gang_termination.deletions import ReplicaTermination, deletion_wants, replica_termination
from grove_core.areas.gang_termination.field.findings import findings_of_field, risks_of_parts, risks_of_set
from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.judge import FieldJudgement, judge_field, terminating_of
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.areas.gang_termination.field.status import statuses_of
from grove_core.areas.gang_termination.questions import PREDICTION
from grove_core.areas.gang_termination.result import TerminationResult, not_collected, not_judged
from grove_core.areas.gang_termination.verdicts import Terminate
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Desired
from grove_core.resources.podcliqueset import Edit, PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


def terminate_by_generation(snapshot: Snapshot, generation: Generation) -> TerminationResult:
    """Return the result of gang termination for a set, by the rules of one generation of releases."""
    root, delay = snapshot.root, snapshot.root.shape.delay
    unknown = not_collected(snapshot, Why.NOT_COLLECTED)
    if unknown or delay is None:
        result = not_judged(root.ref, unknown or (Why.DELAY_MISSING.because(root.ref),))
        return result._replace(findings=(*result.findings, *risks_of_set(root, None)))
    judgement = judge_field(snapshot, generation)
    stored = judge_field(snapshot, generation, looks=False)
    whole = _terminations_of(root, judgement)
    causes = {index: tuple(ref for ref, _ in end.rests_on) for index, end in whole.items()}
    return TerminationResult(
        statuses=Desired(tuple(statuses_of(snapshot, judgement, generation, causes))),
        deletions=tuple(_deletions(root.ref, judgement, whole)),
        findings=(
            *findings_of_field(snapshot, judgement, stored),
            *risks_of_set(root, delay),
            *risks_of_parts(snapshot, judgement, delay),
        ),
        wake_at=wake_among(  # GF-085
            ((replica.number, replica.fate) for replica in judgement.replicas),
            ((seen.group.replica_index, seen.fates.values()) for seen in judgement.groups),
        ),
        terminating=terminating_of(judgement),
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


def _deletions(root: Ref, judgement: FieldJudgement, whole: Mapping[int, ReplicaTermination]) -> Iterator[Absent]:
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


def unpredicted_in(snapshot: Snapshot, lags: bool) -> tuple[Finding, ...]:  # noqa: FBT001 - as a rule set has it
    """Return one finding on the set with a reason for each thing that is not predicted; empty if there is none.

    Args:
        lags: whether a PodClique or a pod has an old template.
    """
    root = snapshot.root
    is_updated = root.status.updating
    is_updated = is_updated or any(group.status.updating for group in snapshot.groups)
    is_updated = is_updated or any(clique.status.updating for clique in snapshot.cliques)
    happens = (
        (root.edit is Edit.OF_MORE, Why.EDIT_NOT_PREDICTED),
        (is_updated or (lags and root.edit is not Edit.OF_MORE), Why.UPDATE_NOT_PREDICTED),
        (root.deleting, Why.DELETION_NOT_PREDICTED),
    )
    because = tuple(why.because(root.ref) for is_so, why in happens if is_so)
    return (Finding(root.ref, PREDICTION, Truth.UNKNOWN.value, because),) if because else ()
