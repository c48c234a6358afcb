"""The result of gang termination by the rules of the released Go operator."""

from grove_core.areas.gang_termination.breach_delays import earliest_breach_wake_time
from grove_core.areas.gang_termination.field.go_operator_findings import (
    clique_and_group_findings,
    go_operator_termination_findings,
    warnings_about_running_set,
)
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import (
    judge_gang_termination_by_go_operator,
    replica_fates_by_go_operator,
)
from grove_core.areas.gang_termination.field.late_pod_starts import late_pod_start_findings
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.run_time_scaling import scaled_clique_findings_by_go_operator
from grove_core.areas.gang_termination.field.wanted_statuses import statuses_to_write
from grove_core.areas.gang_termination.termination_deletions import (
    RulesByLevel,
    gang_terminations_among_fates,
    terminated_clique_deletions,
)
from grove_core.areas.gang_termination.termination_result import (
    TerminationResult,
    reasons_for_uncollected_kinds,
    unjudgeable_set_result,
)
from grove_core.kernel.wants import DesiredChanges
from grove_core.snapshot.snapshot import Snapshot


def gang_termination_by_go_operator(snapshot: Snapshot, generation: GoOperatorRuleGeneration) -> TerminationResult:
    """Return the result of gang termination for a set, by the rules of one generation of releases."""
    root, delay = snapshot.root, snapshot.root.shape.delay
    unknown = reasons_for_uncollected_kinds(snapshot, GoOperatorReason.NOT_COLLECTED)
    if unknown or delay is None:
        result = unjudgeable_set_result(root.ref, unknown or (GoOperatorReason.DELAY_MISSING.because(root.ref),))
        return result._replace(findings=(*result.findings, *warnings_about_running_set(root, None)))
    judgement = judge_gang_termination_by_go_operator(snapshot, generation)
    stored = judge_gang_termination_by_go_operator(snapshot, generation, looks=False)
    fates = replica_fates_by_go_operator(judgement)
    cliques = {seen.clique.ref: seen.clique for seen in judgement.cliques}
    ends = gang_terminations_among_fates(
        fates, root, cliques, RulesByLevel(GoOperatorReason.DELAY_EXPIRED, GoOperatorReason.GROUP_DELAY_EXPIRED)
    )
    causes = {index: tuple(ref for ref, _ in end.rests_on) for index, end in ends.of_set.items()}
    existing = (clique for clique in snapshot.cliques if not clique.deleting)
    reasons = RulesByLevel(GoOperatorReason.GANG_TERMINATED, GoOperatorReason.GROUP_REPLICA_TERMINATED)
    lingering = {replica.number for replica in judgement.replicas if replica.lingers}
    return TerminationResult(
        statuses=DesiredChanges(tuple(statuses_to_write(snapshot, judgement, generation, causes))),
        deletions=tuple(terminated_clique_deletions(root.ref, existing, ends, reasons)),
        findings=(
            *go_operator_termination_findings(snapshot, judgement, stored),
            *warnings_about_running_set(root, delay),
            *clique_and_group_findings(snapshot, judgement, delay),
            *scaled_clique_findings_by_go_operator(snapshot, judgement),
            *late_pod_start_findings(snapshot, judgement, stored, delay),
        ),
        wake_at=earliest_breach_wake_time(fates),  # GF-085
        terminating=fates.replicas_to_terminate._replace(replicas=fates.replicas_to_terminate.replicas | lingering),
    )
