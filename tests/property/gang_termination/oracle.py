"""A slow, literal transcription of the design document; it uses only the data types of the core.

A change of a rule is made here too, independently; both must agree on every generated cluster.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from tests.property.strategies.worlds import RandomCluster


@dataclass
class Verdict:
    """The verdicts on one generated cluster by the document."""

    breach: dict[str, ConditionStatus] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)
    available: dict[str, bool | None] = field(default_factory=dict)
    deletes: set[str] = field(default_factory=set)
    wakes: list[datetime] = field(default_factory=list)


def since_of(conditions: tuple[Condition, ...], truth: ConditionStatus, now: datetime) -> datetime:
    for condition in conditions:
        if condition.type == "MinAvailableBreached" and condition.status is truth:
            return condition.last_transition_time
    return now


def verdict_of(generated: RandomCluster) -> Verdict:
    verdict = Verdict()
    template = generated.root.spec.template
    for clique in generated.cliques:
        if not clique.deleting:
            judge_clique(generated, clique, verdict)
    for group in generated.groups:
        if not group.deleting:
            judge_group(generated, group, verdict)
    if generated.root.deleting or not template.termination_delay:
        return verdict
    ended: set[int] = set()
    for replica in range(generated.root.spec.replicas):
        if replica_is_due(generated, replica, verdict):
            ended.add(replica)
            verdict.deletes |= {
                clique.ref.name
                for clique in generated.cliques
                if clique.replica_index == replica and not clique.deleting
            }
    for group in generated.groups:
        if not group.deleting and group.replica_index < generated.root.spec.replicas:
            end_replicas_of(generated, group, verdict, silent=group.replica_index in ended)
    return verdict


def judge_clique(generated: RandomCluster, clique: PodClique, verdict: Verdict) -> None:
    name, status, needed = clique.ref.name, clique.status, clique.min_available
    ready = len([pod for pod in generated.pods if pod.owner_uid == clique.uid and pod.ready])
    if not status.recorded:
        was: bool | None = False
    else:
        was = status.was_available
    if ready >= needed > 0 and not status.updating:
        was = True
    if ready >= needed or not was:
        truth = ConditionStatus.FALSE
    elif status.updating:
        truth = ConditionStatus.UNKNOWN
    else:
        truth = ConditionStatus.TRUE
    verdict.available[name] = was
    verdict.breach[name] = truth
    verdict.since[name] = since_of(status.conditions, truth, generated.now)


def breached_replicas(generated: RandomCluster, group: ScalingGroup, verdict: Verdict) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for clique in generated.cliques:
        name, index = clique.ref.name, clique.group_replica_index
        if (
            clique.owner_uid == group.uid
            and verdict.breach.get(name) is ConditionStatus.TRUE
            and index < group.replicas
        ):
            found.setdefault(index, []).append(name)
    return found


def lost_replicas(generated: RandomCluster, group: ScalingGroup, verdict: Verdict) -> list[int]:
    """Return the replicas of a group that count as breached because a termination has begun (GT-066).

    It has begun if the stored breach is past its delay and only breached cliques of the group are left of the replica.
    """
    breached = breached_replicas(generated, group, verdict)
    stored = [one for one in group.status.conditions if one.type == "MinAvailableBreached"]
    was = [one.status for one in stored]
    if not generated.root.spec.template.termination_delay:
        return []
    if any(generated.now - one.last_transition_time < delay_of(generated, group) for one in stored):
        return []
    left = {one.ref.name for one in generated.cliques if one.replica_index == group.replica_index and not one.deleting}
    if (
        was != [ConditionStatus.TRUE]
        or group.status.updating
        or not left
        or left != {n for of in breached.values() for n in of}
    ):
        return []
    return [replica for replica in range(group.replicas) if replica not in breached]


def judge_group(generated: RandomCluster, group: ScalingGroup, verdict: Verdict) -> None:
    healthy = (
        group.replicas
        - len(breached_replicas(generated, group, verdict))
        - len(lost_replicas(generated, group, verdict))
    )
    truth = ConditionStatus.TRUE if healthy < min(group.min_available, group.replicas) else ConditionStatus.FALSE
    if group.status.updating:
        truth = ConditionStatus.UNKNOWN
    verdict.breach[group.ref.name] = truth
    verdict.since[group.ref.name] = since_of(group.status.conditions, truth, generated.now)


def delay_of(generated: RandomCluster, group: ScalingGroup) -> timedelta:
    template = generated.root.spec.template
    assert template.termination_delay is not None
    for config in template.pod_clique_scaling_groups:
        if group.ref.name == f"{generated.root.ref.name}-{group.replica_index}-{config.name}":
            return config.termination_delay or template.termination_delay
    return template.termination_delay


def replica_is_due(generated: RandomCluster, replica: int, verdict: Verdict) -> bool:
    template = generated.root.spec.template
    assert template.termination_delay is not None
    grouped = [name for config in template.pod_clique_scaling_groups for name in config.clique_names]
    waits = []
    for clique in template.cliques:
        name = f"{generated.root.ref.name}-{replica}-{clique.name}"
        if clique.name not in grouped and verdict.breach.get(name) is ConditionStatus.TRUE:
            waits.append(verdict.since[name] + template.termination_delay)
    waits += [
        verdict.since[group.ref.name] + delay_of(generated, group)
        for group in generated.groups
        if group.replica_index == replica and verdict.breach.get(group.ref.name) is ConditionStatus.TRUE
    ]
    if any(moment <= generated.now for moment in waits):
        return True
    verdict.wakes.extend(waits)
    return False


def end_replicas_of(generated: RandomCluster, group: ScalingGroup, verdict: Verdict, *, silent: bool) -> None:
    breached = breached_replicas(generated, group, verdict)
    healthy = group.replicas - len(breached) - len(lost_replicas(generated, group, verdict))
    if group.status.updating or healthy < min(group.min_available, group.replicas):
        return
    for index, names in breached.items():
        first = min(verdict.since[name] + delay_of(generated, group) for name in names)
        if first <= generated.now:
            verdict.deletes |= {
                clique.ref.name
                for clique in generated.cliques
                if clique.owner_uid == group.uid and clique.group_replica_index == index and not clique.deleting
            }
        elif not silent:
            verdict.wakes.append(first)
