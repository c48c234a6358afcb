"""The result of gang termination by the design: statuses, deletions of PodCliques, and when to look again."""

from collections.abc import Callable, Iterator
from itertools import chain

from grove_core.areas.gang_termination.breach_delays import earliest_breach_wake_time
from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design, replica_fate_reasons
from grove_core.areas.gang_termination.design.run_time_scaling import below_minimum_findings
from grove_core.areas.gang_termination.design.scaling_group_judgement import (
    scaling_group_breach_reasons,
    scaling_group_replica_fate_reasons,
    whole_group_fate_reasons,
)
from grove_core.areas.gang_termination.design.verdicts import SetTerminationJudgement
from grove_core.areas.gang_termination.design.wanted_statuses import (
    SetStatusCounts,
    status_counts_of_set,
    statuses_to_write,
)
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.termination_deletions import (
    RulesByLevel,
    gang_terminations_among_fates,
    terminated_clique_deletions,
)
from grove_core.areas.gang_termination.termination_findings import termination_finding
from grove_core.areas.gang_termination.termination_result import (
    TerminationResult,
    reasons_for_uncollected_kinds,
    unjudgeable_set_result,
)
from grove_core.areas.gang_termination.verdicts import GroupReplicaFates, SetReplicaFates
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import ExistingAndWantedCounts, Finding, SubjectHealth
from grove_core.kernel.questions import AVAILABILITY, BREACH, SCHEDULED
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges
from grove_core.snapshot.snapshot import Snapshot


def gang_termination_findings(
    snapshot: Snapshot, judgement: SetTerminationJudgement, tally: SetStatusCounts
) -> Iterator[Finding]:
    """Yield the findings on a set.

    They are about the set (availability), each clique (breach, scheduled), each scaling group (breach, termination),
    and each replica of the set (termination).
    """
    root, now = snapshot.root.ref, snapshot.now
    found = tally.availability
    share = ExistingAndWantedCounts(found.available, found.replicas)
    because = found.as_reason(TerminationReason.AVAILABLE_REPLICAS, root)
    yield Finding(root, AVAILABILITY, found.as_finding_verdict, because, share=share)
    around: dict[tuple[str, int, int], tuple[Ref, ...]] = {}  # one value for the cliques of one replica
    for judged in judgement.cliques:
        clique = judged.clique
        place = (clique.owner_uid, clique.replica_index, clique.group_replica_index)
        within = around.get(place) or around.setdefault(place, clique.enclosing_replicas(root))
        because, health = (judged.breach_reason,), judged.health
        yield Finding(clique.ref, BREACH, judged.breach.value, because, health=health, within=within)
        placement = tally.placements[clique.ref]
        health = SubjectHealth.HEALTHY if placement.verdict is ConditionStatus.TRUE else SubjectHealth.LACKING
        yield Finding(clique.ref, SCHEDULED, placement.verdict.value, placement.because, health=health, within=within)
    for leaving in judgement.leaving:
        yield Finding(leaving.ref, BREACH, "Skip", (TerminationReason.CLIQUE_BEING_DELETED.because(leaving.ref),))
    for group in judgement.groups:
        ref = group.group.ref
        breached = tuple(clique.ref for clique in group.breached_cliques)
        yield Finding(ref, BREACH, group.breach.value, scaling_group_breach_reasons(group), causes=breached)
        acting = [*chain.from_iterable(group.acting.values())]
        yield termination_finding(ref, group.fate, whole_group_fate_reasons(group, now), acting, now)
        for index, fate in group.fates.items():
            because, acting = scaling_group_replica_fate_reasons(group, index, now), [*group.acting.get(index, ())]
            yield termination_finding(ref.at_replica(index), fate, because, acting, now)
    for replica in judgement.replicas:
        missing = tally.missing[replica.number]
        because = replica_fate_reasons(snapshot.root, replica, missing, now, judgement.guard)
        finding = termination_finding(root.at_replica(replica.number), replica.fate, because, replica.breaches, now)
        yield finding._replace(health=SubjectHealth.LACKING) if missing else finding


def replica_fates_by_design(judgement: SetTerminationJudgement) -> SetReplicaFates:
    """Return the fates in a judgement; a group without breached cliques has none."""
    groups = tuple(
        GroupReplicaFates(one.group, one.breached_cliques, one.acting, one.fates)
        for one in judgement.groups
        if one.breached
    )
    return SetReplicaFates(judgement.replicas, groups)


def gang_termination_by_design(
    snapshot: Snapshot, judge: Callable[[Snapshot], SetTerminationJudgement] = judge_gang_termination_by_design
) -> TerminationResult:
    """Return the result of gang termination for a set."""
    unknown = reasons_for_uncollected_kinds(snapshot, TerminationReason.NOT_COLLECTED)
    if unknown:
        return unjudgeable_set_result(snapshot.root.ref, unknown)
    judgement, root = judge(snapshot), snapshot.root
    counts, fates = status_counts_of_set(snapshot, judgement), replica_fates_by_design(judgement)
    cliques = {judged.clique.ref: judged.clique for judged in judgement.cliques}
    ends = gang_terminations_among_fates(
        fates, root, cliques, RulesByLevel(TerminationReason.DELAY_EXPIRED, TerminationReason.GROUP_DELAY_EXPIRED)
    )
    reasons = RulesByLevel(TerminationReason.GANG_TERMINATED, TerminationReason.GROUP_REPLICA_TERMINATED)
    return TerminationResult(
        statuses=DesiredChanges(tuple(statuses_to_write(snapshot, judgement, counts))),
        deletions=tuple(terminated_clique_deletions(root.ref, cliques.values(), ends, reasons)),
        findings=(
            *gang_termination_findings(snapshot, judgement, counts),
            *below_minimum_findings(root, judgement, fates),
        ),
        wake_at=earliest_breach_wake_time(fates),
        terminating=fates.replicas_to_terminate,
    )
