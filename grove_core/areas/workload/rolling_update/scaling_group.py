"""The update of one scaling group: replicas are replaced while enough stay available (WL-218 to WL-221)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.expected_replicas import ExpectedClique, ExpectedGroup
from grove_core.areas.workload.rolling_update.clique import NO_STEP, RolloutStep, outdated_pods
from grove_core.areas.workload.rules import Why
from grove_core.kernel.conditions import is_true
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Obstacle, Withheld
from grove_core.resources.pod import UNSCHEDULABLE, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import breach_condition_of, update_start_time

_Stuck: TypeAlias = AbstractSet[tuple[Ref, str]]


@dataclass(frozen=True, slots=True)
class GroupReplica:
    """The state of one replica of a scaling group.

    Attributes:
        index: of the replica.
        cliques: those that exist and are not being deleted.
        old: those that are not of the present template, or have pods that are not.
        due: if none is old, those whose termination the update suspended (WL-239).
        available: whether all cliques exist and have enough ready pods.
        has_no_room: whether a pod of it is unschedulable.
    """

    index: int
    cliques: tuple[PodClique, ...]
    old: tuple[PodClique, ...]
    available: bool
    has_no_room: bool = False
    due: tuple[PodClique, ...] = ()

    @property
    def outdated(self) -> bool:
        """Whether one of them is old."""
        return bool(self.old)


def group_replicas_of(part: ExpectedGroup, group: ScalingGroup, context: WorkloadContext) -> Iterator[GroupReplica]:
    """Return the replicas that the group wants, in order. Linear in their cliques."""
    delay = context.root.shape.groups.get(part.template.name)
    began = update_start_time(group.status.progress) if group.status.updating else None
    parts: dict[int, list[ExpectedClique]] = {}
    for member in part.cliques:
        parts.setdefault(member.group_replica, []).append(member)
    for index, members in parts.items():
        found = [(clique, member) for member in members if (clique := context.clique_of(member)) is not None]
        pods = [context.snapshot.pods_of.get(clique.uid, ()) for clique, _ in found]
        old = tuple(
            clique
            for (clique, member), of in zip(found, pods, strict=True)
            if not context.revision.is_current(clique, member) or _are_of_old(clique, of)
        )
        there = tuple(clique for clique, _ in found)
        yield GroupReplica(
            index=index,
            cliques=there,
            old=old,
            due=() if old or not delay or not began else tuple(_left_by_an_end(there, context.ready, delay, began)),
            available=len(found) == len(members)
            and all(context.ready[clique.uid] >= clique.needed for clique, _ in found),
            has_no_room=any(pod.trouble == UNSCHEDULABLE for of in pods for pod in of),
        )


def _left_by_an_end(
    cliques: Sequence[PodClique], ready: Mapping[str, int], delay: timedelta, began: datetime
) -> Iterator[PodClique]:
    """Return the cliques that were due when the update began, and stayed while others were created again (WL-239).

    Times are only compared with times of the same clock: breaches and updates are dated by the operator, creations by
    the API server. Under some rules a clique is breached from its creation on.
    """
    youngest = max(filter(None, (clique.created_at for clique in cliques)), default=began)
    for clique in cliques:
        breach, made = breach_condition_of(clique.status), clique.created_at
        if ready[clique.uid] >= clique.needed or breach is None or not is_true(breach):
            continue
        if made and min(began - breach.last_transition_time, youngest - made) >= delay:
            yield clique


def _are_of_old(clique: PodClique, pods: Sequence[Pod]) -> bool:
    """Return whether a pod of a member is of an old template, as after OnDelete. A cheap check comes first."""
    target = clique.template_hash
    return any(pod.template_hash != target for pod in pods) and bool(outdated_pods(clique, pods))


def group_rollout_step(
    group: ScalingGroup,
    replicas: Sequence[GroupReplica],
    extra: GroupReplica | None,
    generation: str,
    stuck: _Stuck,
) -> RolloutStep:
    """Return one round of the update of a scaling group.

    Args:
        group: the scaling group.
        replicas: those that it wants.
        extra: the replica beyond them, if there is one.
        generation: the hash that its status names while the update runs (WL-224).
        stuck: addresses and uids of objects that could not be deleted; up-to-date members stay with them (WL-236).
    """
    outdated = [replica for replica in replicas if replica.outdated]
    lacking = [replica for replica in replicas if not replica.available]
    needed = group.needed
    stands_in = group.status.updating and extra is not None and bool(outdated or lacking)
    is_open = group.status.updating and group.status.progress.get("podCliqueSetGenerationHash") == generation
    if not is_open:
        return RolloutStep(
            runs=bool(outdated) or stands_in, surge=stands_in, held=tuple(_waiting(group, outdated, stuck))
        )
    available = sum(replica.available for replica in replicas) + bool(extra and extra.available)
    if not outdated and extra is None and available >= needed:
        return NO_STEP
    ready_to_go = [replica for replica in outdated if replica.available]
    surge = needed == group.replicas and (stands_in or bool(ready_to_go and available >= needed))
    going, why = [replica for replica in outdated if not replica.available], Why.OUTDATED_NOT_AVAILABLE
    held: list[Withheld] = []
    if (ready_to_go or lacking) and not going:
        others = [replica for replica in lacking if not replica.outdated and not replica.has_no_room]
        is_extra_up = extra is None or extra.available
        if ready_to_go and available > needed and not others and is_extra_up:
            going, why = ready_to_go[:1], Why.OUTDATED_REPLICA
        else:
            waits = Why.GROUP_UPDATE_WAITS.because(group.ref, left=len(outdated), available=available, needed=needed)
            waited = [replica.index for replica in lacking if not replica.outdated] or (
                [group.replicas] if not is_extra_up else []
            )
            blocking = (Why.REPLICA_NOT_AVAILABLE.because(group.ref, replica=index) for index in waited[:1])
            held.append(Withheld(group.ref, (waits, *blocking), obstacle=Obstacle.UPDATE))
    absents: list[Absent] = []
    for replica in going:
        because = why.because(group.ref, replica=replica.index)
        remain = _remain_of(replica, stuck)
        absents += [Absent(one.ref, one.guard, (because,)) for one in (replica.old if remain else replica.cliques)]
        held += _staying(replica, remain, because)
    absents += [
        Absent(one.ref, one.guard, (Why.LEFT_BY_AN_END.because(group.ref, replica=replica.index),))
        for replica in replicas
        for one in replica.due
    ]
    held += _waiting(group, (replica for replica in outdated if replica not in going), stuck)
    return RolloutStep(runs=True, surge=surge, absents=tuple(absents), held=tuple(held))


def _remain_of(replica: GroupReplica, stuck: _Stuck) -> Sequence[PodClique]:
    return [one for one in replica.old if (one.ref, one.uid) in stuck] if stuck else ()


def _staying(replica: GroupReplica, remain: Sequence[PodClique], because: Reason) -> Iterator[Withheld]:
    """Return the up-to-date members that are withheld while an old member of the replica cannot be deleted (WL-236)."""
    for clique in replica.cliques if remain else ():
        if clique not in replica.old:
            yield Withheld(clique.ref, (Why.MEMBER_REMAINS.because(clique.ref, member=remain[0].ref.short), because))


def _waiting(group: ScalingGroup, replicas: Iterable[GroupReplica], stuck: _Stuck) -> Iterator[Withheld]:
    """Return the old members that could not be deleted and are not tried now, so that they stay known (WL-238)."""
    for replica in replicas:
        for clique in _remain_of(replica, stuck):
            yield Withheld(clique.ref, (Why.REMAINS.because(clique.ref, group=group.ref.short),))
