"""A slow, literal transcription of the Go operator's rules; it uses only the data types of the core.

A change of a rule is made here as well, in other words; the two must agree on every snapshot.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from grove_core.kernel.conditions import Condition
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.testing import RandomCluster

BREACHED: Final = "MinAvailableBreached"
SCHEDULED: Final = "PodCliqueScheduled"
FLAG: Final = "GangTerminationInProgress"


@dataclass
class State:
    """A condition: its status, and since when."""

    status: str
    since: datetime


@dataclass
class Verdict:
    """The verdicts on one generated cluster; conditions by name of the object, then by type."""

    conditions: dict[str, dict[str, State]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    deletes: set[str] = field(default_factory=set)
    flagged: set[str] = field(default_factory=set)
    wakes: list[datetime] = field(default_factory=list)
    ready: dict[str, int] = field(default_factory=dict)


def stored(conditions: tuple[Condition, ...]) -> dict[str, State]:
    return {one.type: State(one.status.value, one.last_transition_time) for one in conditions}


def written(before: dict[str, State], type_: str, status: str, now: datetime) -> State:
    old = before.get(type_)
    return State(status, old.since if old is not None and old.status == status else now)


def verdict_of(generated: RandomCluster, generation: str) -> Verdict:
    verdict, delay = Verdict(), generated.root.spec.template.termination_delay
    if not delay:
        return verdict
    for clique in generated.cliques:
        check_clique(generated, clique, generation, verdict)
    for group in generated.groups:
        judge_group_as_released(generated, group, generation, verdict)
    ended = {
        replica
        for replica in range(generated.root.spec.replicas)
        if set_ends(generated, replica, delay, generation, verdict)
    }
    for group in generated.groups:
        if not group.deleting:
            group_ends(generated, group, delay, generation, verdict, silent=group.replica_index in ended)
    for clique in generated.cliques:
        if clique.deleting:
            verdict.deletes.discard(clique.ref.name)
    return verdict


def check_clique(generated: RandomCluster, clique: PodClique, generation: str, verdict: Verdict) -> None:
    name, before = clique.ref.name, stored(clique.status.conditions)
    pods = [pod for pod in generated.pods if pod.owner_uid == clique.uid]
    verdict.ready[name] = len([pod for pod in pods if pod.ready])
    if clique.deleting:
        verdict.ready[name] = clique.status.ready or 0
    if clique.deleting or clique.status.observed is None:
        verdict.conditions[name] = before
        return
    scheduled = len([pod for pod in pods if pod.scheduled])
    bad = len([pod for pod in pods if not pod.ready and (pod.crashed or pod.unready)])
    needed = clique.min_available
    if clique.status.updating:
        truth, reason = "Unknown", "UpdateInProgress"
    elif scheduled < needed:
        is_breach = scheduled > 0 or generation == "F3"
        truth = "True" if is_breach else "False"
        reason = "ScheduledReplicasBelowMinAvailable" if is_breach else "InsufficientScheduledPods"
    elif scheduled - bad < needed:
        truth, reason = "True", "InsufficientReadyPods"
    else:
        truth, reason = "False", "SufficientReadyPods"
    verdict.reasons[name] = reason
    verdict.conditions[name] = {
        **before,
        BREACHED: written(before, BREACHED, truth, generated.now),
        SCHEDULED: written(before, SCHEDULED, "True" if scheduled >= needed else "False", generated.now),
    }


def is_true(verdict: Verdict, name: str, type_: str) -> bool:
    state = verdict.conditions[name].get(type_)
    return state is not None and state.status == "True"


def members_of(generated: RandomCluster, group: ScalingGroup) -> list[PodClique]:
    return [clique for clique in generated.cliques if clique.owner_uid == group.uid]


def judge_group_as_released(generated: RandomCluster, group: ScalingGroup, generation: str, verdict: Verdict) -> None:
    name, before = group.ref.name, stored(group.status.conditions)
    verdict.conditions[name] = before
    if group.deleting:
        return
    all_members = members_of(generated, group)
    replicas: list[list[PodClique]] = []
    for index in range(group.replicas):
        names = [f"{name}-{index}-{short}" for short in group.clique_names]
        replicas.append([one for one in all_members if one.group_replica_index == index and one.ref.name in names])
    whole = [found for found in replicas if len([one for one in found if not one.deleting]) == len(group.clique_names)]
    scheduled = len([found for found in whole if all(is_true(verdict, one.ref.name, SCHEDULED) for one in found)])
    if generation == "F3":
        good = len([found for found in whole if not any(is_true(verdict, one.ref.name, BREACHED) for one in found)])
    else:
        counted = [one for found in replicas for one in found]
        bad = {one.group_replica_index for one in counted if is_true(verdict, one.ref.name, BREACHED)}
        good = scheduled - len(bad)
    needed = group.min_available
    if group.status.updating:
        truth, reason = "Unknown", "UpdateInProgress"
    elif generation != "F3" and scheduled < needed:
        some = scheduled > 0
        truth = "True" if some else "False"
        reason = "ScheduledReplicasBelowMinAvailable" if some else "InsufficientScheduledPodCliqueScalingGroupReplicas"
    elif good < needed:
        truth, reason = "True", "InsufficientAvailablePodCliqueScalingGroupReplicas"
    else:
        truth, reason = "False", "SufficientAvailablePodCliqueScalingGroupReplicas"
    verdict.reasons[name] = reason
    verdict.conditions[name] = {**before, BREACHED: written(before, BREACHED, truth, generated.now)}


def turned_late(state: State, created: datetime | None) -> bool:
    return created is None or (state.since - created).total_seconds() > 5


def clique_asks(clique: PodClique, generation: str, verdict: Verdict) -> datetime | None:
    """Return since when a clique has a breach that counts."""
    held = verdict.conditions[clique.ref.name]
    if not is_true(verdict, clique.ref.name, BREACHED):
        return None
    placed = held.get(SCHEDULED)
    known = placed is not None and (placed.status == "True" or turned_late(placed, clique.created_at))
    return held[BREACHED].since if known or generation != "F3" else None


def group_asks(group: ScalingGroup, generation: str, verdict: Verdict) -> datetime | None:
    """Return since when a scaling group has a breach that counts."""
    held = verdict.conditions[group.ref.name]
    if not is_true(verdict, group.ref.name, BREACHED):
        return None
    if generation == "F3" and (FLAG in held and held[FLAG].status == "True"):
        return None
    if generation == "F3" and not turned_late(held[BREACHED], group.created_at):
        return None
    return held[BREACHED].since


def set_ends(generated: RandomCluster, replica: int, delay: timedelta, generation: str, verdict: Verdict) -> bool:
    template = generated.root.spec.template
    grouped = [name for config in template.pod_clique_scaling_groups for name in config.clique_names]
    expected = [
        f"{generated.root.ref.name}-{replica}-{one.name}" for one in template.cliques if one.name not in grouped
    ]
    there = {clique.ref.name: clique for clique in generated.cliques}
    if generated.root.deleting or any(name not in there for name in expected):
        return False
    asking = [clique_asks(there[name], generation, verdict) for name in expected]
    groups = [group for group in generated.groups if group.replica_index == replica]
    asking += [group_asks(group, generation, verdict) for group in groups]
    dues = [since + delay for since in asking if since is not None]
    if not any(due <= generated.now for due in dues):
        verdict.wakes += dues
        return False
    verdict.deletes |= {clique.ref.name for clique in generated.cliques if clique.replica_index == replica}
    verdict.flagged |= {group.ref.name for group in groups if not group.deleting}
    return True


def group_ends(
    generated: RandomCluster, group: ScalingGroup, delay: timedelta, generation: str, verdict: Verdict, *, silent: bool
) -> None:
    asking: dict[int, list[datetime]] = {}
    for clique in members_of(generated, group):
        since = clique_asks(clique, generation, verdict)
        if since is not None:
            asking.setdefault(clique.group_replica_index, []).append(since + delay)
    if group.status.updating or group.replicas - len(asking) < group.min_available:
        return
    for index, dues in asking.items():
        if min(dues) <= generated.now:
            verdict.deletes |= {
                one.ref.name for one in members_of(generated, group) if one.group_replica_index == index
            }
        elif not silent:
            verdict.wakes.append(min(dues))
