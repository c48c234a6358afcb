"""The update of one scaling group by the Go operator, replica by replica (WF-020 to WF-026).

Replicas of an old template that do not serve are deleted at once, all together. Of those that are available one at a
time is deleted, the lowest index first. Their PodCliques are created again from the present template.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.kernel.frozen import EMPTY, FrozenDict, FrozenMap, Json, list_at, object_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.api_names import UPDATE_ENDED, UPDATE_SET_HASH, UPDATE_STARTED
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup

_SELECTED: Final = "readyReplicaIndicesSelectedToUpdate"
_CURRENT: Final = "current"
_COMPLETED: Final = "completed"


class GroupReplica(Struct, frozen=True):
    """The existing PodCliques of one replica of a scaling group.

    Attributes:
        index: of the replica.
        cliques: those that exist, also while they are being deleted, in the order of ``cliqueNames``.
        wanted: how many the replica should have.
        hashes: name of a clique -> template hash of its present template.
    """

    index: int
    cliques: tuple[PodClique, ...]
    wanted: int
    hashes: FrozenDict[str, str]

    @property
    def is_of_present_template(self) -> bool:
        """Whether no existing clique has another template hash."""
        return all(clique.template_hash == self.hashes.get(clique.ref.name) for clique in self.cliques)

    @property
    def is_gone(self) -> bool:
        """Whether every clique is gone or being deleted."""
        return all(clique.deleting for clique in self.cliques)

    def is_complete(self, generation: str) -> bool:
        """Return whether its update is complete: every clique exists and its status shows it (WF-025)."""
        return len(self.cliques) == self.wanted and all(
            is_clique_updated(clique, self.hashes.get(clique.ref.name, ""), generation) for clique in self.cliques
        )

    @property
    def state_if_not_serving(self) -> str:
        """What makes it no available replica, by the stored statuses; empty for an available one (WF-022)."""
        return next(filter(None, map(state_if_clique_not_serving, self.cliques)), "")


def state_if_clique_not_serving(clique: PodClique) -> str:
    """Return what makes the replica of a clique no available one, by its stored status; empty if nothing does."""
    if (clique.status.scheduled or 0) < clique.min_available:
        return f"{clique.ref.name} has too few scheduled pods"
    if (clique.status.ready or 0) < clique.min_available:
        return f"{clique.ref.name} has too few ready pods"
    return ""


def is_clique_updated(clique: PodClique, template_hash: str, generation: str) -> bool:
    """Return whether a clique's label and status show that enough of its pods are new and ready (WF-005, WF-025)."""
    status, needed = clique.status, clique.min_available
    hashes = {clique.template_hash, status.current_hash}
    is_new = bool(template_hash) and hashes == {template_hash} and status.set_hash == generation
    return is_new and (status.updated or 0) >= needed and (status.ready or 0) >= needed


class GroupUpdateStep(Struct, frozen=True):
    """What one reconcile of a scaling group does for its update.

    Attributes:
        progress: ``updateProgress`` of its status afterwards; as stored where nothing of it changes.
        because: why the progress changes; empty where it does not.
        deletions: of PodCliques of old replicas.
        withheld: the report of what the update waits for.
        awaited: index of the selected replica, whose update is not complete (WF-024); None where none is awaited.
    """

    progress: FrozenMap = EMPTY
    because: tuple[Reason, ...] = ()
    deletions: tuple[ObjectToDelete, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    awaited: int | None = None


def initial_group_update_progress(generation: str, now: str) -> FrozenMap:
    """Return the progress of an update that begins ``now``."""
    return FrozenMap({UPDATE_STARTED: now, UPDATE_SET_HASH: generation})


def group_update_step(
    group: ScalingGroup, replicas: Sequence[GroupReplica], progress: FrozenMap, generation: str, now: str
) -> GroupUpdateStep:
    """Return what one reconcile does for a running update. Linear.

    Args:
        group: the scaling group.
        replicas: those that it wants, by index.
        progress: of its update; it has just begun, or is the stored one.
        generation: hash in the status of its set.
        now: the time of the reconcile, as statuses have it.
    """
    began = (GoOperatorWorkloadReason.GROUP_UPDATE_BEGINS.because(group.ref, hash=generation),)
    because = began if progress != group.status.progress else ()
    selected = object_under_key(progress, _SELECTED)
    current = selected.get(_CURRENT) if selected else None
    old = [one for one in replicas if _is_pending(one, current)]
    not_serving = [(one, state) for one in old if (state := one.state_if_not_serving)]
    available = [one for one in old if not one.state_if_not_serving]
    deletions = [
        deletion
        for one, state in not_serving
        for deletion in _deletions(
            one,
            GoOperatorWorkloadReason.OLD_REPLICA_NOT_SERVING.because(group.ref, replica=one.index, state=state),
        )
    ]
    if isinstance(current, int) and not _is_replaced(replicas, current, generation):
        waits = GoOperatorWorkloadReason.REPLICA_NOT_UPDATED_YET.because(
            group.ref, replica=current, left=len(available)
        )
        return GroupUpdateStep(progress, because, tuple(deletions), (_waiting(group, waits),), current)
    if not available:
        ended = FrozenMap({**{key: progress[key] for key in progress if key != _SELECTED}, UPDATE_ENDED: now})
        ends = GoOperatorWorkloadReason.GROUP_UPDATE_ENDS.because(group.ref)
        return GroupUpdateStep(ended, (*because, ends), tuple(deletions))
    stored = group.status.available or 0
    if stored < group.min_available:
        waits = GoOperatorWorkloadReason.TOO_FEW_AVAILABLE_FOR_UPDATE.because(
            group.ref, available=stored, needed=group.min_available, left=len(available)
        )
        return GroupUpdateStep(progress, because, tuple(deletions), (_waiting(group, waits),))
    chosen = available[0]
    why = GoOperatorWorkloadReason.OLD_REPLICA_SELECTED.because(
        group.ref, replica=chosen.index, available=stored, needed=group.min_available
    )
    wanted = FrozenMap({**progress, _SELECTED: _selection(selected, current, chosen.index)})
    return GroupUpdateStep(wanted, (*because, why), (*deletions, *_deletions(chosen, why)))


def _is_pending(replica: GroupReplica, current: Json) -> bool:
    """Return whether a replica is of an old template and not selected yet.

    Once a replica is selected, one that is gone is not pending any more.
    """
    if current is not None and (replica.index == current or replica.is_gone):
        return False
    return not replica.is_of_present_template


def _is_replaced(replicas: Sequence[GroupReplica], current: int, generation: str) -> bool:
    """Return whether the selected replica is complete; nothing is waited for if the group no longer wants it."""
    found = next((one for one in replicas if one.index == current), None)
    return found is None or found.is_complete(generation)


def _selection(before: FrozenMap, current: Json, index: int) -> FrozenMap:
    """Return the selection of the next replica, with the one before among the completed."""
    completed = (*list_at(before, _COMPLETED), current) if before else ()
    return FrozenMap({_CURRENT: index, **({_COMPLETED: completed} if completed else {})})


def _deletions(replica: GroupReplica, because: Reason) -> Iterator[ObjectToDelete]:
    return (ObjectToDelete(clique.ref, clique.guard, (because,)) for clique in replica.cliques if not clique.deleting)


def _waiting(group: ScalingGroup, because: Reason) -> Withheld:
    return Withheld(group.ref, (because,), obstacle=StepObstacle.UPDATE)
