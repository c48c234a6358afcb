"""The result of gang termination by the rules of the released Go operator."""

from collections.abc import Iterator, Mapping

from grove_core.areas.gang_termination.breach_delays import earliest_wake, first_ending_delay
from grove_core.areas.gang_termination.deletions import ReplicaTermination, deletion_wants, replica_termination
from grove_core.areas.gang_termination.field.findings import findings_of_field, risks_of_parts, running_set_warnings
from grove_core.areas.gang_termination.field.generations import RuleGeneration
from grove_core.areas.gang_termination.field.judge import FieldJudgement, judge_field, terminating_of
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.status import statuses_of
from grove_core.areas.gang_termination.result import TerminationResult, not_collected, result_without_judgement
from grove_core.areas.gang_termination.termination_questions import PREDICTION
from grove_core.areas.gang_termination.verdicts import Terminate
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges, ObjectToDelete
from grove_core.resources.podcliqueset import ManifestEdit, PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


def terminate_by_generation(snapshot: Snapshot, generation: RuleGeneration) -> TerminationResult:
    """Return the result of gang termination for a set, by the rules of one generation of releases."""
    root, delay = snapshot.root, snapshot.root.shape.delay
    unknown = not_collected(snapshot, GoOperatorReason.NOT_COLLECTED)
    if unknown or delay is None:
        result = result_without_judgement(root.ref, unknown or (GoOperatorReason.DELAY_MISSING.because(root.ref),))
        return result._replace(findings=(*result.findings, *running_set_warnings(root, None)))
    judgement = judge_field(snapshot, generation)
    stored = judge_field(snapshot, generation, looks=False)
    whole = _terminations_of(root, judgement)
    causes = {index: tuple(ref for ref, _ in end.rests_on) for index, end in whole.items()}
    return TerminationResult(
        statuses=DesiredChanges(tuple(statuses_of(snapshot, judgement, generation, causes))),
        deletions=tuple(_deletions(root.ref, judgement, whole)),
        findings=(
            *findings_of_field(snapshot, judgement, stored),
            *running_set_warnings(root, delay),
            *risks_of_parts(snapshot, judgement, delay),
        ),
        wake_at=earliest_wake(  # GF-085
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
        replica.number: replica_termination(
            GoOperatorReason.DELAY_EXPIRED, first_ending_delay(replica.breaches), root, cliques, groups
        )
        for replica in due
    }


def _deletions(
    root: Ref, judgement: FieldJudgement, whole: Mapping[int, ReplicaTermination]
) -> Iterator[ObjectToDelete]:
    """Yield the wanted deletion of every clique of a terminated replica that is not being deleted yet."""
    cliques = {seen.clique.ref: seen.clique for seen in judgement.cliques}
    parts = {
        (seen.group.uid, index): replica_termination(
            GoOperatorReason.GROUP_DELAY_EXPIRED, first_ending_delay(seen.acting[index]), seen.group, cliques, {}
        )
        for seen in judgement.groups
        for index, fate in seen.fates.items()
        if isinstance(fate, Terminate)
    }
    standing = (clique for clique in cliques.values() if not clique.deleting)
    return deletion_wants(
        root, standing, whole, parts, (GoOperatorReason.GANG_TERMINATED, GoOperatorReason.GROUP_REPLICA_TERMINATED)
    )


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
        (root.edit is ManifestEdit.OF_MORE, GoOperatorReason.EDIT_NOT_PREDICTED),
        (is_updated or (lags and root.edit is not ManifestEdit.OF_MORE), GoOperatorReason.UPDATE_NOT_PREDICTED),
        (root.deleting, GoOperatorReason.DELETION_NOT_PREDICTED),
    )
    because = tuple(why.because(root.ref) for is_so, why in happens if is_so)
    return (Finding(root.ref, PREDICTION, ConditionStatus.UNKNOWN.value, because),) if because else ()
