"""A slow, literal transcription of specs/gang_termination.md; it uses only the data types of the core.

A change of a rule is made here too, independently; both must agree on every drawn cluster.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.refs import Ref
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot


@dataclass(frozen=True)
class TerminatingBreach:
    """A breach that terminates a replica.

    Attributes:
        ref: the PodClique or scaling group that is breached.
        deadline: when its delay ends.
        cliques: the breached PodCliques behind it.
    """

    ref: Ref
    deadline: datetime
    cliques: frozenset[Ref]


@dataclass
class RequiredVerdicts:
    """The verdicts on one snapshot by the specification.

    Attributes:
        breach: the status of MinAvailableBreached, by PodClique and scaling group.
        rule_ids: the number of the rule that gives that status.
        since: the transition time of that status.
        available: ``wasAvailable`` of each PodClique.
        deletes: the PodCliques that are deleted.
        of_set: replica of the set -> all breaches it is terminated or waited for.
        of_groups: (scaling group, replica) -> the same.
        ends: the replicas of both kinds that are terminated.
        wakes: the ends of all delays that are waited for.
    """

    breach: dict[Ref, ConditionStatus] = field(default_factory=dict)
    rule_ids: dict[Ref, str] = field(default_factory=dict)
    since: dict[Ref, datetime] = field(default_factory=dict)
    available: dict[Ref, bool | None] = field(default_factory=dict)
    deletes: set[Ref] = field(default_factory=set)
    of_set: dict[int, list[TerminatingBreach]] = field(default_factory=dict)
    of_groups: dict[tuple[Ref, int], list[TerminatingBreach]] = field(default_factory=dict)
    ends: set[int | tuple[Ref, int]] = field(default_factory=set)
    wakes: list[datetime] = field(default_factory=list)

    def is_breached(self, ref: Ref) -> bool:
        """Return whether a PodClique or scaling group is breached."""
        return self.breach.get(ref) is ConditionStatus.TRUE


def missing_kinds(snapshot: Snapshot) -> list[str]:
    """Return the kinds that the set has and that were not collected (GT-024)."""
    has = ["Pod", "PodClique"]
    if snapshot.root.spec.template.pod_clique_scaling_groups:
        has.append("PodCliqueScalingGroup")
    return [kind for kind in has if kind in snapshot.not_collected]


def verdicts_required_by_specification(snapshot: Snapshot) -> RequiredVerdicts:
    """Return the verdicts that the specification requires; none of them where a kind was not collected (GT-024)."""
    verdicts, root = RequiredVerdicts(), snapshot.root
    if missing_kinds(snapshot):
        return verdicts
    for clique in snapshot.cliques:
        if not clique.deleting:
            _judge_clique(snapshot, clique, verdicts)
    for group in snapshot.groups:
        if not group.deleting:
            _judge_group(snapshot, group, verdicts)
    if root.deleting or not root.spec.template.termination_delay:
        return verdicts
    for replica in range(root.spec.replicas):
        _judge_replica(snapshot, replica, verdicts)
    for group in snapshot.groups:
        if not group.deleting and group.replica_index < root.spec.replicas:
            _judge_group_replicas(snapshot, group, verdicts)
    return verdicts


def _since(conditions: Iterable[Condition], truth: ConditionStatus, now: datetime) -> datetime:
    for condition in conditions:
        if condition.type == "MinAvailableBreached" and condition.status is truth:
            return condition.last_transition_time
    return now.replace(microsecond=0)


def _judge_clique(snapshot: Snapshot, clique: PodClique, verdicts: RequiredVerdicts) -> None:
    status, needed = clique.status, clique.min_available
    ready = len([pod for pod in snapshot.pods_of.get(clique.uid, ()) if pod.ready])
    was: bool | None = status.was_available if status.recorded else False
    if ready >= needed > 0 and not status.updating:
        was = True
    truth, rule = ConditionStatus.TRUE, "GT-014"
    if ready >= needed:
        truth, rule = ConditionStatus.FALSE, "GT-011"
    elif was is None:
        truth, rule = ConditionStatus.FALSE, "GT-015"
    elif not was:
        truth, rule = ConditionStatus.FALSE, "GT-012"
    elif status.updating:
        truth, rule = ConditionStatus.UNKNOWN, "GT-013"
    verdicts.available[clique.ref] = was
    verdicts.breach[clique.ref], verdicts.rule_ids[clique.ref] = truth, rule
    verdicts.since[clique.ref] = _since(status.conditions, truth, snapshot.now)


def breached_cliques_by_group_replica(
    snapshot: Snapshot, group: ScalingGroup, verdicts: RequiredVerdicts
) -> dict[int, list[PodClique]]:
    """Return the breached PodCliques of a scaling group by replica, without surplus replicas (GT-040)."""
    found: dict[int, list[PodClique]] = {}
    for clique in snapshot.cliques:
        index = clique.group_replica_index
        if clique.owner_uid == group.uid and verdicts.is_breached(clique.ref) and index < group.replicas:
            found.setdefault(index, []).append(clique)
    return found


def _deleted_replicas(snapshot: Snapshot, group: ScalingGroup, verdicts: RequiredVerdicts) -> int:
    """Return how many replicas of a group count as breached because a termination has begun (GT-066).

    It has begun if the stored breach is past its delay and only breached cliques of the group are left of the replica.
    """
    delay = termination_delay_of(snapshot, group)
    stored = [one for one in group.status.conditions if one.type == "MinAvailableBreached"]
    is_due = delay is not None and [one.status for one in stored] == [ConditionStatus.TRUE]
    if not is_due or delay is None or snapshot.now - stored[0].last_transition_time < delay or group.status.updating:
        return 0
    breached = breached_cliques_by_group_replica(snapshot, group, verdicts)
    of_replica = (one for one in snapshot.cliques if one.replica_index == group.replica_index and not one.deleting)
    left = {one.ref for one in of_replica}
    if not left or left != {one.ref for members in breached.values() for one in members}:
        return 0
    return group.replicas - len(breached)


def _can_spare(snapshot: Snapshot, group: ScalingGroup, verdicts: RequiredVerdicts) -> bool:
    breached = len(breached_cliques_by_group_replica(snapshot, group, verdicts)) + _deleted_replicas(
        snapshot, group, verdicts
    )
    return group.replicas - breached >= min(group.min_available, group.replicas)


def _judge_group(snapshot: Snapshot, group: ScalingGroup, verdicts: RequiredVerdicts) -> None:
    truth, rule = ConditionStatus.TRUE, "GT-042"
    if group.status.updating:
        truth, rule = ConditionStatus.UNKNOWN, "GT-041"
    elif _can_spare(snapshot, group, verdicts):
        truth, rule = ConditionStatus.FALSE, "GT-043"
    verdicts.breach[group.ref], verdicts.rule_ids[group.ref] = truth, rule
    verdicts.since[group.ref] = _since(group.status.conditions, truth, snapshot.now)


def termination_delay_of(snapshot: Snapshot, part: PodClique | ScalingGroup) -> timedelta | None:
    """Return the delay of a scaling group, or of a PodClique by its scaling group or set (GT-030); None for none."""
    template = snapshot.root.spec.template
    name = part.ref.name if isinstance(part, ScalingGroup) else part.owner_name
    for config in template.pod_clique_scaling_groups if template.termination_delay else ():
        is_group = isinstance(part, ScalingGroup) or part.is_in_scaling_group
        if is_group and name == f"{snapshot.root.ref.name}-{part.replica_index}-{config.name}":
            return config.termination_delay or template.termination_delay
    return template.termination_delay or None


def _cause(
    snapshot: Snapshot, part: PodClique | ScalingGroup, cliques: Sequence[PodClique], verdicts: RequiredVerdicts
) -> TerminatingBreach:
    delay = termination_delay_of(snapshot, part)
    assert delay is not None  # noqa: S101 - only sets with a delay get here
    return TerminatingBreach(part.ref, verdicts.since[part.ref] + delay, frozenset(one.ref for one in cliques))


def _judge_replica(snapshot: Snapshot, replica: int, verdicts: RequiredVerdicts) -> None:
    template = snapshot.root.spec.template
    grouped = {name for config in template.pod_clique_scaling_groups for name in config.clique_names}
    alone = {f"{snapshot.root.ref.name}-{replica}-{one.name}" for one in template.cliques if one.name not in grouped}
    named = {f"{snapshot.root.ref.name}-{replica}-{one.name}" for one in template.pod_clique_scaling_groups}
    causes = [
        _cause(snapshot, one, [one], verdicts)
        for one in snapshot.cliques
        if not one.is_in_scaling_group and one.ref.name in alone and verdicts.is_breached(one.ref)
    ]
    for group in snapshot.groups:
        if group.ref.name in named and verdicts.is_breached(group.ref):
            members = [
                one for of in breached_cliques_by_group_replica(snapshot, group, verdicts).values() for one in of
            ]
            causes.append(_cause(snapshot, group, members, verdicts))
    if causes:
        verdicts.of_set[replica] = causes
    if any(cause.deadline <= snapshot.now for cause in causes):
        verdicts.ends.add(replica)
        of_replica = (one for one in snapshot.cliques if one.replica_index == replica and not one.deleting)
        verdicts.deletes |= {one.ref for one in of_replica}
    else:
        verdicts.wakes.extend(cause.deadline for cause in causes)


def _judge_group_replicas(snapshot: Snapshot, group: ScalingGroup, verdicts: RequiredVerdicts) -> None:
    if verdicts.breach[group.ref] is not ConditionStatus.FALSE:
        return
    for index, members in breached_cliques_by_group_replica(snapshot, group, verdicts).items():
        causes = [_cause(snapshot, one, [one], verdicts) for one in members]
        verdicts.of_groups[group.ref, index] = causes
        if any(cause.deadline <= snapshot.now for cause in causes):
            verdicts.ends.add((group.ref, index))
            own = (one for one in snapshot.cliques if one.owner_uid == group.uid and one.group_replica_index == index)
            verdicts.deletes |= {one.ref for one in own if not one.deleting}
        elif group.replica_index not in verdicts.ends:
            verdicts.wakes.append(min(cause.deadline for cause in causes))
