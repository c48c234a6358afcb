"""The update of one standalone PodClique by the Go operator (WF-010 to WF-016).

Pods of an old template that do not serve are deleted at once, whatever the minimum is. Of those that are ready one at a
time is deleted, the oldest first, before its successor exists.
"""

from collections.abc import Sequence
from typing import Final

from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, list_at, object_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.api_names import UPDATE_ENDED, UPDATE_POD_HASH, UPDATE_SET_HASH, UPDATE_STARTED
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.status_comparison import set_hash_of_update

_SELECTED: Final = "readyPodsSelectedToUpdate"
_CURRENT: Final = "current"
_COMPLETED: Final = "completed"


class CliqueUpdateStep(Struct, frozen=True):
    """What one reconcile of a PodClique does for its update.

    Attributes:
        progress: ``updateProgress`` of its status afterwards; as stored where nothing of it changes.
        because: why the progress changes; empty where it does not.
        deletions: of old pods.
        withheld: the report of what the update waits for.
        awaits_successor: whether the selected pod is gone, and its successor is not ready (WF-013).
    """

    progress: FrozenMap = EMPTY
    because: tuple[Reason, ...] = ()
    deletions: tuple[ObjectToDelete, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    awaits_successor: bool = False


def update_begins_for(clique: PodClique, generation: str) -> bool:
    """Return whether an update of a clique begins, given the generation hash that its set's status has (WF-010).

    A new clique without any progress and hash begins one too; it ends in the same reconcile.
    """
    status = clique.status
    if not status.progress:
        return status.set_hash != generation
    return set_hash_of_update(status.progress) != generation


def begun_progress(generation: str, template_hash: str, now: str) -> FrozenMap:
    """Return the progress of an update that begins ``now``."""
    return FrozenMap({UPDATE_STARTED: now, UPDATE_SET_HASH: generation, UPDATE_POD_HASH: template_hash})


def clique_update_step(
    clique: PodClique, pods: Sequence[Pod], progress: FrozenMap, template_hash: str, now: str
) -> CliqueUpdateStep:
    """Return what one reconcile does for a running update. Linear but for sorting.

    Args:
        clique: a standalone clique.
        pods: its pods, those being deleted included.
        progress: of its update; it has just begun, or is the stored one.
        template_hash: of the present template; pods with any other are old, and those without one are not.
        now: the time of the reconcile, as statuses have it.
    """
    began = (GoOperatorWorkloadReason.CLIQUE_UPDATE_BEGINS.because(clique.ref, hash=template_hash),)
    because = began if progress != clique.status.progress else ()
    old = [pod for pod in pods if pod.template_hash not in {"", template_hash} and not pod.deleting]
    not_serving = [(pod, state) for pod in old if (state := state_of_unready_pod(pod))]
    ready = [pod for pod in old if not state_of_unready_pod(pod)]
    deletions = [
        _deletion(pod, GoOperatorWorkloadReason.OLD_POD_NOT_SERVING.because(clique.ref, state=state))
        for pod, state in not_serving
    ]
    selected = object_under_key(progress, _SELECTED)
    current = str(selected.get(_CURRENT) or "")
    updated = sum(pod.template_hash == template_hash and pod.ready for pod in pods)
    if current and not _is_replaced(current, len(list_at(selected, _COMPLETED)) + 1, updated, pods):
        kept = [pod for pod in ready if pod.name == current]
        again = GoOperatorWorkloadReason.SELECTED_POD_REMAINS.because(clique.ref)
        deletions += [_deletion(pod, again) for pod in kept]
        waits = GoOperatorWorkloadReason.SUCCESSOR_NOT_READY.because(clique.ref, pod=current, left=len(ready))
        return CliqueUpdateStep(progress, because, tuple(deletions), (_waiting(clique, waits),), not kept)
    if not ready:
        ended = FrozenMap({**{key: progress[key] for key in progress if key != _SELECTED}, UPDATE_ENDED: now})
        ends = GoOperatorWorkloadReason.CLIQUE_UPDATE_ENDS.because(clique.ref, hash=template_hash)
        return CliqueUpdateStep(ended, (*because, ends), tuple(deletions))
    stored = clique.status.ready or 0
    if stored < clique.min_available:
        waits = GoOperatorWorkloadReason.TOO_FEW_READY_FOR_UPDATE.because(
            clique.ref, ready=stored, needed=clique.min_available, left=len(ready)
        )
        return CliqueUpdateStep(progress, because, tuple(deletions), (_waiting(clique, waits),))
    chosen = min(ready, key=lambda pod: (pod.created, pod.name))
    why = GoOperatorWorkloadReason.OLD_POD_SELECTED.because(clique.ref, ready=stored, needed=clique.min_available)
    wanted = {**progress, _SELECTED: _selection(selected, current, chosen.name)}
    return CliqueUpdateStep(FrozenMap(wanted), (*because, why), (*deletions, _deletion(chosen, why)))


def _selection(before: FrozenMap, current: str, pod: str) -> FrozenMap:
    """Return the selection of the next pod, with the one before among the completed."""
    completed: tuple[Json, ...] = (*list_at(before, _COMPLETED), current) if before else ()
    return FrozenMap({_CURRENT: pod, **({_COMPLETED: completed} if completed else {})})


def _is_replaced(selected: str, count: int, updated: int, pods: Sequence[Pod]) -> bool:
    """Return whether the selected pod is gone or being deleted, and enough new pods are ready."""
    remains = any(pod.name == selected and not pod.deleting for pod in pods)
    return not remains and updated >= count


def state_of_unready_pod(pod: Pod) -> str:
    """Return in which state an old pod is that is deleted at once; empty for one that is ready (WF-011)."""
    if pod.phase == "Pending":
        return "Pending"
    if pod.crashed or pod.crashed_earlier:
        return "a container of it ended with an error earlier"
    if pod.unready:
        return "started and not ready"
    return "" if pod.ready else "not ready"


def _deletion(pod: Pod, because: Reason) -> ObjectToDelete:
    return ObjectToDelete(pod.ref, pod.guard, (because,))


def _waiting(clique: PodClique, because: Reason) -> Withheld:
    return Withheld(clique.ref, (because,), obstacle=StepObstacle.UPDATE)
