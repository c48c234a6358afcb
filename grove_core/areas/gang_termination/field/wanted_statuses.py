"""The statuses that the Go operator would write; only those that differ from the stored ones (GF-022 to GF-037)."""

from collections.abc import Iterator, Mapping

from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.scaling_group_judgement import set_replica_terminated_condition
from grove_core.areas.gang_termination.field.verdicts import (
    GoOperatorCliqueJudgement,
    GoOperatorGroupJudgement,
    GoOperatorJudgement,
    GoOperatorReplicaJudgement,
)
from grove_core.areas.gang_termination.status_counts import scaling_group_status_counts, status_if_changed
from grove_core.areas.gang_termination.verdicts import SetAvailability
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import TerminationStatusReport
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from grove_core.resources.naming_rules import scaling_group_name
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.status_comparison import changed_status_fields
from grove_core.snapshot.snapshot import Snapshot


def statuses_to_write(
    snapshot: Snapshot,
    judgement: GoOperatorJudgement,
    generation: GoOperatorRuleGeneration,
    ends: Mapping[int, tuple[Ref, ...]],
) -> Iterator[StatusToWrite]:
    """Yield every wanted status that differs from the stored one; flags only in generations with them (GF-101).

    Args:
        ends: index of each terminated replica of the set -> the causes of its termination.
    """
    for seen in judgement.cliques:
        if not seen.clique.deleting:
            yield from _clique_status(seen)
    for group in judgement.groups:
        if not group.group.deleting:
            causes = ends.get(group.group.replica_index, ()) if generation.requires_breach_history else None
            yield from _group_status(group, snapshot, causes)
    root = snapshot.root
    if root.uid and not root.deleting:
        availability = available_replicas_of_set(root, judgement)
        because = availability.as_reason(GoOperatorReason.AVAILABLE_REPLICAS, root.ref)
        yield from status_if_changed(root, availability.as_status_fields, (), because)


def _clique_status(seen: GoOperatorCliqueJudgement) -> Iterator[StatusToWrite]:
    conditions = tuple(condition for condition in (seen.breach, seen.placed) if condition is not None)
    yield from status_if_changed(seen.clique, seen.counts.as_status_fields, conditions, seen.condition_reasons)


def _group_status(
    seen: GoOperatorGroupJudgement, snapshot: Snapshot, causes: tuple[Ref, ...] | None
) -> Iterator[StatusToWrite]:
    """Yield the status of a group; one with a new flag is written after the deletions (GF-075, PL-028).

    Args:
        causes: of the termination of its replica of the set, empty if it is not terminated; None in generations
            without flags.
    """
    group, index = seen.group, seen.group.replica_index
    wanted = scaling_group_status_counts(group, scheduled=seen.scheduled, available=seen.available)
    conditions = [seen.breach] if seen.breach is not None else []
    because: tuple[Reason, ...] = (seen.breach_reason,)
    removed = tuple[str, ...]()
    flagged_for = _flagged_for(seen, causes)
    if flagged_for:
        left = changed_status_fields(group.status, wanted, tuple(conditions))
        report = TerminationStatusReport(flagged_for, left, because)
        conditions.append(set_replica_terminated_condition(group, snapshot.now))
        because = (*because, GoOperatorReason.GANG_TERMINATION_ACTIVE.because(group.ref, replica=index))
        for status in status_if_changed(group, wanted, tuple(conditions), because):
            yield replace(status, report=report)
        return
    if (
        causes == ()
        and seen.flag is not None
        and seen.breach is not None
        and seen.breach.status is ConditionStatus.FALSE
    ):
        removed = (TERMINATION_IN_PROGRESS,)
    yield from status_if_changed(group, wanted, tuple(conditions), because, removed)


def _flagged_for(seen: GoOperatorGroupJudgement, causes: tuple[Ref, ...] | None) -> tuple[Ref, ...]:
    """Return the causes of the termination that a new flag records, also one that was not written before (GF-092)."""
    if seen.unwritten_flag_causes:
        return causes or seen.unwritten_flag_causes
    return causes if causes and not seen.has_termination_flag else ()


def available_replicas_of_set(root: PodCliqueSet, judgement: GoOperatorJudgement) -> SetAvailability:
    """Return how many replicas of the set are available (GF-037)."""
    return SetAvailability(sum(_is_available(root, replica) for replica in judgement.replicas), root.spec.replicas)


def _is_available(root: PodCliqueSet, replica: GoOperatorReplicaJudgement) -> bool:
    """Return whether all its constituents exist and have enough ready pods or available replicas."""
    there = {found.group.ref.name: found for found in replica.groups}
    groups = [there.get(scaling_group_name(root.ref.name, replica.number, short)) for short in root.shape.groups]
    return (
        not replica.absent
        and all(not seen.clique.deleting and seen.counts.ready >= seen.clique.min_available for seen in replica.cliques)
        and all(
            found is not None and not found.group.deleting and found.available >= found.group.min_available
            for found in groups
        )
    )
