"""The result of gang termination by the rules of the released Go operator."""

from collections.abc import Iterator, Mapping

from grove_core.areas.gang_termination.breach_delays import earliest_wake
from grove_core.areas.gang_termination.field.findings import (
    clique_and_group_warnings,
    go_operator_findings,
    running_set_warnings,
)
from grove_core.areas.gang_termination.field.judge import (
    GoOperatorJudgement,
    judge_by_go_operator,
    terminating_replicas_of,
)
from grove_core.areas.gang_termination.field.rule_generations import RuleGeneration
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.wanted_statuses import statuses_to_write
from grove_core.areas.gang_termination.termination_deletions import (
    ReplicaTermination,
    replica_termination,
    terminated_clique_deletions,
)
from grove_core.areas.gang_termination.termination_findings import PREDICTION
from grove_core.areas.gang_termination.termination_result import (
    TerminationResult,
    not_collected,
    unjudgeable_set_result,
)
from grove_core.areas.gang_termination.verdicts import Terminate
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges, ObjectToDelete
from grove_core.resources.podcliqueset import PlannedManifestChange, PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


def terminate_by_rule_generation(snapshot: Snapshot, generation: RuleGeneration) -> TerminationResult:
    """Return the result of gang termination for a set, by the rules of one generation of releases."""
    root, delay = snapshot.root, snapshot.root.shape.delay
    unknown = not_collected(snapshot, GoOperatorReason.NOT_COLLECTED)
    if unknown or delay is None:
        result = unjudgeable_set_result(root.ref, unknown or (GoOperatorReason.DELAY_MISSING.because(root.ref),))
        return result._replace(findings=(*result.findings, *running_set_warnings(root, None)))
    judgement = judge_by_go_operator(snapshot, generation)
    stored = judge_by_go_operator(snapshot, generation, looks=False)
    whole = _terminations_of(root, judgement)
    causes = {index: tuple(ref for ref, _ in end.rests_on) for index, end in whole.items()}
    return TerminationResult(
        statuses=DesiredChanges(tuple(statuses_to_write(snapshot, judgement, generation, causes))),
        deletions=tuple(_deletions(root.ref, judgement, whole)),
        findings=(
            *go_operator_findings(snapshot, judgement, stored),
            *running_set_warnings(root, delay),
            *clique_and_group_warnings(snapshot, judgement, delay),
        ),
        wake_at=earliest_wake(  # GF-085
            ((replica.number, replica.fate) for replica in judgement.replicas),
            ((seen.group.replica_index, seen.fates.values()) for seen in judgement.groups),
        ),
        terminating=terminating_replicas_of(judgement),
    )


def _terminations_of(root: PodCliqueSet, judgement: GoOperatorJudgement) -> Mapping[int, ReplicaTermination]:
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
        replica.number: replica_termination(GoOperatorReason.DELAY_EXPIRED, replica.breaches, root, cliques, groups)
        for replica in due
    }


def _deletions(
    root: Ref, judgement: GoOperatorJudgement, whole: Mapping[int, ReplicaTermination]
) -> Iterator[ObjectToDelete]:
    """Yield the wanted deletion of every clique of a terminated replica that is not being deleted yet."""
    cliques = {seen.clique.ref: seen.clique for seen in judgement.cliques}
    parts = {
        (seen.group.uid, index): replica_termination(
            GoOperatorReason.GROUP_DELAY_EXPIRED, seen.acting[index], seen.group, cliques, {}
        )
        for seen in judgement.groups
        for index, fate in seen.fates.items()
        if isinstance(fate, Terminate)
    }
    standing = (clique for clique in cliques.values() if not clique.deleting)
    return terminated_clique_deletions(
        root, standing, whole, parts, (GoOperatorReason.GANG_TERMINATED, GoOperatorReason.GROUP_REPLICA_TERMINATED)
    )


def unpredicted_behaviour_findings(snapshot: Snapshot, lags: bool) -> tuple[Finding, ...]:  # noqa: FBT001 - as a rule set has it
    """Return one finding on the set with a reason for each thing that is not predicted; empty if there is none.

    Args:
        lags: whether a PodClique or a pod has an old template.
    """
    root = snapshot.root
    is_updated = root.status.updating
    is_updated = is_updated or any(group.status.updating for group in snapshot.groups)
    is_updated = is_updated or any(clique.status.updating for clique in snapshot.cliques)
    happens = (
        (root.edit is PlannedManifestChange.OF_MORE, GoOperatorReason.EDIT_NOT_PREDICTED),
        (
            is_updated or (lags and root.edit is not PlannedManifestChange.OF_MORE),
            GoOperatorReason.UPDATE_NOT_PREDICTED,
        ),
        (root.deleting, GoOperatorReason.DELETION_NOT_PREDICTED),
    )
    because = tuple(why.because(root.ref) for is_so, why in happens if is_so)
    return (Finding(root.ref, PREDICTION, ConditionStatus.UNKNOWN.value, because),) if because else ()
