"""The wanted statuses of a judged set: counts, availability, conditions. No termination depends on them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from grove_core.areas.gang_termination.design.scaling_group_judgement import scaling_group_breach_reasons
from grove_core.areas.gang_termination.design.verdicts import CliqueJudgement, GroupJudgement, SetTerminationJudgement
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.gang_termination.status_counts import (
    PodCounts,
    count_clique_pods,
    scaling_group_status_counts,
    status_if_changed,
)
from grove_core.areas.gang_termination.verdicts import SetAvailability
from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of, next_transition_time
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import CLIQUE_SCHEDULED, GROUP_KIND, MIN_AVAILABLE_BREACHED
from grove_core.resources.naming_rules import member_clique_name, scaling_group_name, standalone_clique_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot


class ScheduledAndAvailableReplicas(NamedTuple):
    """Numbers of replicas of a scaling group that are scheduled, and that are available (GT-044)."""

    scheduled: int
    available: int


def _scheduled_condition_status(clique: PodClique, counts: PodCounts) -> Decision[ConditionStatus]:
    """Return whether enough pods of the clique are scheduled (GT-021, GT-022)."""
    placed = counts.scheduled >= clique.min_available
    why = TerminationReason.SUFFICIENT_SCHEDULED_PODS if placed else TerminationReason.INSUFFICIENT_SCHEDULED_PODS
    reason = why.because(clique.ref, scheduled=counts.scheduled, needed=clique.min_available)
    return Decision(ConditionStatus.TRUE if placed else ConditionStatus.FALSE, (reason,))


def _usable_replicas_of_group(
    group: ScalingGroup, members: Sequence[PodClique], counts: Mapping[Ref, PodCounts]
) -> ScheduledAndAvailableReplicas:
    """Return the usable replicas of a scaling group (GT-044); one with a missing clique is not usable (D6)."""
    by_replica: defaultdict[int, dict[str, PodClique]] = defaultdict(dict)
    for clique in members:
        if 0 <= clique.group_replica_index < group.replicas:
            by_replica[clique.group_replica_index][clique.ref.name] = clique
    scheduled = available = 0
    for index, found in by_replica.items():
        cliques = [found.get(member_clique_name(group.ref.name, index, short)) for short in group.clique_names]
        if all(clique and counts[clique.ref].scheduled >= clique.min_available for clique in cliques):
            scheduled += 1
            available += all(clique and counts[clique.ref].ready >= clique.min_available for clique in cliques)
    return ScheduledAndAvailableReplicas(scheduled, available)


class SetStatusCounts(Struct, frozen=True):
    """What both statuses and findings report, counted once.

    Attributes:
        counts, placements: pods, and whether enough are scheduled, by the address of the clique.
        usable: usable replicas by the name of the scaling group.
        missing: ``Kind/name`` of the missing constituents by the index of the replica of the set (GT-038).
        availability: of the set.
    """

    counts: FrozenDict[Ref, PodCounts]
    placements: FrozenDict[Ref, Decision[ConditionStatus]]
    usable: FrozenDict[str, ScheduledAndAvailableReplicas]
    missing: FrozenDict[int, tuple[str, ...]]
    availability: SetAvailability


def status_counts_of_set(snapshot: Snapshot, judgement: SetTerminationJudgement) -> SetStatusCounts:
    """Return the counts of a judged set. Linear."""
    counts, placements = dict[Ref, PodCounts](), dict[Ref, Decision[ConditionStatus]]()
    members: defaultdict[str, list[PodClique]] = defaultdict(list)
    there = {judged.group.ref.short for judged in judgement.groups}
    for judged in judgement.cliques:
        clique = judged.clique
        counts[clique.ref] = found = count_clique_pods(
            snapshot.pods_of.get(clique.uid, ()), clique.target_template_hash
        )
        placements[clique.ref] = _scheduled_condition_status(clique, found)
        members[clique.owner_uid].append(clique)
        there.add(clique.ref.short)
    usable = FrozenDict(
        (judged.group.ref.name, _usable_replicas_of_group(judged.group, members[judged.group.uid], counts))
        for judged in judgement.groups
    )
    missing = FrozenDict(
        (replica.number, _missing_constituents_of_replica(snapshot.root, replica.number, there))
        for replica in judgement.replicas
    )
    availability = _availability_of_set(snapshot.root, judgement, usable, missing)
    return SetStatusCounts(FrozenDict(counts), FrozenDict(placements), usable, missing, availability)


def _missing_constituents_of_replica(root: PodCliqueSet, index: int, there: AbstractSet[str]) -> tuple[str, ...]:
    """Return the constituents of a replica of the set that do not exist, as ``Kind/name`` (GT-038).

    Args:
        there: the existing ones as ``Kind/name``, because a clique and a group may have the same name.
    """
    set_name, shape = root.ref.name, root.shape
    wanted = (
        *(f"PodClique/{standalone_clique_name(set_name, index, short)}" for short in shape.standalone),
        *(f"{GROUP_KIND}/{scaling_group_name(set_name, index, short)}" for short in shape.groups),
    )
    return tuple(name for name in wanted if name not in there)


def _availability_of_set(
    root: PodCliqueSet,
    judgement: SetTerminationJudgement,
    usable: Mapping[str, ScheduledAndAvailableReplicas],
    missing: Mapping[int, Sequence[str]],
) -> SetAvailability:
    """Return how many replicas of the set are available (GT-044)."""
    standalone = {judged.clique.ref.name: judged for judged in judgement.cliques}
    needed = {judged.group.ref.name: judged.group.needed_replicas for judged in judgement.groups}
    available = 0
    for index, absent in missing.items():
        names = [standalone_clique_name(root.ref.name, index, short) for short in root.shape.standalone]
        groups = [scaling_group_name(root.ref.name, index, short) for short in root.shape.groups]
        available += (
            not absent
            and all(standalone[name].ready >= standalone[name].clique.min_available for name in names)
            and all(usable[name].available >= needed[name] for name in groups)
        )
    return SetAvailability(available, root.spec.replicas)


def wanted_conditions_of_clique(
    judged: CliqueJudgement, placement: Decision[ConditionStatus], snapshot: Snapshot
) -> tuple[Condition, ...]:
    """Return the two conditions that a judged clique should have (GT-011 to GT-022)."""
    (placed,) = placement.because
    stored = condition_of(judged.clique.status.conditions, CLIQUE_SCHEDULED)
    since = next_transition_time(stored, placement.verdict, snapshot.now)
    return (
        Condition(MIN_AVAILABLE_BREACHED, judged.breach, judged.why.code, judged.breach_reason.sentence, judged.since),
        Condition(CLIQUE_SCHEDULED, placement.verdict, placed.rule.code, placed.sentence, since),
    )


def statuses_to_write(
    snapshot: Snapshot, judgement: SetTerminationJudgement, tally: SetStatusCounts
) -> Iterator[StatusToWrite]:
    """Yield every wanted status that differs from the stored one."""
    for judged in judgement.cliques:
        yield from _clique_status(judged, tally, snapshot)
    for group in judgement.groups:
        yield from _group_status(group, tally.usable[group.group.ref.name])
    root = snapshot.root
    if root.uid and not root.deleting:
        because = tally.availability.as_reason(TerminationReason.AVAILABLE_REPLICAS, root.ref)
        yield from status_if_changed(root, tally.availability.as_status_fields, (), because)


def _clique_status(judged: CliqueJudgement, tally: SetStatusCounts, snapshot: Snapshot) -> Iterator[StatusToWrite]:
    wanted, placement = tally.counts[judged.clique.ref].as_status_fields, tally.placements[judged.clique.ref]
    if judged.was_available is not None:
        wanted["wasAvailable"] = judged.was_available
    conditions = wanted_conditions_of_clique(judged, placement, snapshot)
    because = (judged.breach_reason, *placement.because)
    yield from status_if_changed(judged.clique, wanted, conditions, because)


def _group_status(judged: GroupJudgement, usable: ScheduledAndAvailableReplicas) -> Iterator[StatusToWrite]:
    wanted = scaling_group_status_counts(judged.group, scheduled=usable.scheduled, available=usable.available)
    because = scaling_group_breach_reasons(judged)
    first = because[0]
    condition = Condition(MIN_AVAILABLE_BREACHED, judged.breach, first.rule.code, first.sentence, judged.since)
    yield from status_if_changed(judged.group, wanted, (condition,), because)
