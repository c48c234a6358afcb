"""The update of one scaling group: replicas are replaced while enough stay available (WL-218 to WL-221)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias

from grove_core.areas.workload.design.clique_update import NO_STEP, RolloutStep, outdated_pods
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.conditions import is_condition_true
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.pod import UNSCHEDULABLE, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of, set_hash_of_update, update_start_time_in_status
from grove_core.snapshot.expected_replicas import ExpectedScalingGroup

Undeletable: TypeAlias = AbstractSet[tuple[Ref, str]]


class GroupReplicaUpdateState(Struct, frozen=True):
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
    def has_outdated_clique(self) -> bool:
        """Whether one of them is old."""
        return bool(self.old)


def wanted_group_replicas(
    part: ExpectedScalingGroup, group: ScalingGroup, context: WorkloadContext
) -> Iterator[GroupReplicaUpdateState]:
    """Yield the replicas that the group wants, in order. Linear in their cliques."""
    delay = context.root.shape.groups.get(part.template.name)
    began = update_start_time_in_status(group.status.progress) if group.status.updating else None
    for index, members in part.cliques_by_replica:
        found = [(clique, member) for member in members if (clique := context.existing_clique(member)) is not None]
        pods = [context.snapshot.pods_of.get(clique.uid, ()) for clique, _ in found]
        old = tuple(
            clique
            for (clique, member), of in zip(found, pods, strict=True)
            if not context.revision.is_clique_current(clique, member) or _has_old_pods(clique, of)
        )
        there = tuple(clique for clique, _ in found)
        yield GroupReplicaUpdateState(
            index=index,
            cliques=there,
            old=old,
            due=()
            if old or not delay or not began
            else tuple(_suspended_terminations(there, context.ready, delay, began)),
            available=len(found) == len(members)
            and all(context.ready[clique.uid] >= clique.needed_ready_pods for clique, _ in found),
            has_no_room=any(pod.trouble == UNSCHEDULABLE for of in pods for pod in of),
        )


def _suspended_terminations(
    cliques: Sequence[PodClique], ready: Mapping[str, int], delay: timedelta, began: datetime
) -> Iterator[PodClique]:
    """Yield the cliques that were due when the update began, and stayed while others were created again (WL-239).

    Times are only compared with times of the same clock: breaches and updates are dated by the operator, creations by
    the API server. Under some rules a clique is breached from its creation on.
    """
    youngest = max(filter(None, (clique.created_at for clique in cliques)), default=began)
    for clique in cliques:
        breach, made = breach_condition_of(clique.status), clique.created_at
        if ready[clique.uid] >= clique.needed_ready_pods or breach is None or not is_condition_true(breach):
            continue
        if made and min(began - breach.last_transition_time, youngest - made) >= delay:
            yield clique


def _has_old_pods(clique: PodClique, pods: Sequence[Pod]) -> bool:
    """Return whether a pod of a member is of an old template, as after OnDelete. A cheap check comes first."""
    target = clique.template_hash
    return any(pod.template_hash != target for pod in pods) and bool(outdated_pods(clique, pods))


def group_rollout_step(
    group: ScalingGroup,
    replicas: Sequence[GroupReplicaUpdateState],
    extra: GroupReplicaUpdateState | None,
    generation: str,
    undeletable: Undeletable,
) -> RolloutStep:
    """Return one round of the update of a scaling group.

    Args:
        group: the scaling group.
        replicas: those that it wants.
        extra: the replica beyond them, if there is one.
        generation: the hash that its status names while the update runs (WL-224).
        undeletable: addresses and uids of objects that could not be deleted.
    """
    progress = _progress_of(group, replicas, extra)
    outdated, available = progress.outdated, progress.available
    is_shown = group.status.updating and set_hash_of_update(group.status.progress) == generation
    if not is_shown:
        runs = bool(outdated) or progress.extra_serves
        return RolloutStep(runs=runs, surge=progress.extra_serves, held=tuple(_reported(group, outdated, undeletable)))
    if not outdated and extra is None and available >= group.needed_replicas:
        return NO_STEP
    needs_extra = progress.extra_serves or (
        available >= group.needed_replicas and any(one.available for one in outdated)
    )
    deleted, why = _replicas_to_delete(group, progress)
    absents: list[ObjectToDelete] = []
    held = list(_wait(group, progress)) if not deleted else []
    for replica in deleted:
        because = why.because(group.ref, replica=replica.index)
        remaining = _undeletable_members(replica, undeletable)
        absents += [_deletion(clique, because) for clique in (replica.old if remaining else replica.cliques)]
        held += _kept_members(replica, remaining, because)
    absents += [
        _deletion(clique, WorkloadReason.TERMINATION_DUE_BEFORE_UPDATE.because(group.ref, replica=replica.index))
        for replica in replicas
        for clique in replica.due
    ]
    held += _reported(group, [replica for replica in outdated if replica not in deleted], undeletable)
    surge = needs_extra and group.needed_replicas == group.replicas
    return RolloutStep(runs=True, surge=surge, absents=tuple(absents), held=tuple(held))


class _Progress(NamedTuple):
    """How far the update of a scaling group is.

    Attributes:
        outdated, unavailable: of the replicas that the group wants.
        available: how many replicas are available, the extra one included.
        extra_serves: whether the extra replica stands in for one of them.
        extra_is_missed: whether the extra replica exists and is not available.
    """

    outdated: tuple[GroupReplicaUpdateState, ...]
    unavailable: tuple[GroupReplicaUpdateState, ...]
    available: int
    extra_serves: bool
    extra_is_missed: bool


def _progress_of(
    group: ScalingGroup, replicas: Sequence[GroupReplicaUpdateState], extra: GroupReplicaUpdateState | None
) -> _Progress:
    outdated = tuple(replica for replica in replicas if replica.has_outdated_clique)
    unavailable = tuple(replica for replica in replicas if not replica.available)
    return _Progress(
        outdated,
        unavailable,
        available=sum(replica.available for replica in (*replicas, *((extra,) if extra else ()))),
        extra_serves=group.status.updating and extra is not None and bool(outdated or unavailable),
        extra_is_missed=extra is not None and not extra.available,
    )


def _replicas_to_delete(
    group: ScalingGroup, progress: _Progress
) -> tuple[Sequence[GroupReplicaUpdateState], WorkloadReason]:
    """Return the outdated replicas that are not available, else one that can be spared; and why (WL-218, WL-219)."""
    broken = [replica for replica in progress.outdated if not replica.available]
    if broken:
        return broken, WorkloadReason.OUTDATED_NOT_AVAILABLE
    is_starting = progress.extra_is_missed or any(not replica.has_no_room for replica in progress.unavailable)
    can_spare = progress.available > group.needed_replicas and not is_starting
    return progress.outdated[:1] if can_spare else (), WorkloadReason.OUTDATED_REPLICA


def _wait(group: ScalingGroup, progress: _Progress) -> Iterator[Withheld]:
    """Yield the report that an update waits, and for which replica (WL-221, WL-227); nothing where it does not."""
    left, available = len(progress.outdated), progress.available
    awaited = [replica.index for replica in progress.unavailable] + [group.replicas] * progress.extra_is_missed
    if progress.outdated or progress.unavailable:
        waits = WorkloadReason.GROUP_UPDATE_WAITS.because(
            group.ref, left=left, available=available, needed=group.needed_replicas
        )
        blocking = (WorkloadReason.REPLICA_NOT_AVAILABLE.because(group.ref, replica=index) for index in awaited[:1])
        yield Withheld(group.ref, (waits, *blocking), obstacle=StepObstacle.UPDATE)


def _deletion(clique: PodClique, because: Reason) -> ObjectToDelete:
    return ObjectToDelete(clique.ref, clique.guard, (because,))


def _undeletable_members(replica: GroupReplicaUpdateState, undeletable: Undeletable) -> Sequence[PodClique]:
    return [clique for clique in replica.old if (clique.ref, clique.uid) in undeletable] if undeletable else ()


def _kept_members(
    replica: GroupReplicaUpdateState, remaining: Sequence[PodClique], because: Reason
) -> Iterator[Withheld]:
    """Yield the up-to-date members that are withheld while an old member of the replica cannot be deleted (WL-236)."""
    for clique in replica.cliques if remaining else ():
        if clique not in replica.old:
            member = remaining[0].ref.short
            yield Withheld(clique.ref, (WorkloadReason.MEMBER_REMAINS.because(clique.ref, member=member), because))


def _reported(
    group: ScalingGroup, replicas: Iterable[GroupReplicaUpdateState], undeletable: Undeletable
) -> Iterator[Withheld]:
    """Yield the old members that could not be deleted and are not tried now, so that they stay known (WL-238)."""
    for replica in replicas:
        for clique in _undeletable_members(replica, undeletable):
            yield Withheld(
                clique.ref, (WorkloadReason.OUTDATED_CLIQUE_REMAINS.because(clique.ref, group=group.ref.short),)
            )
