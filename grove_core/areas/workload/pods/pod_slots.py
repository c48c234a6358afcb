"""Indices of the pods of one clique: free slots; excess, duplicate and finished pods, and their deletion."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final, NamedTuple

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.wants import ObjectToDelete, Withheld
from grove_core.resources.pod import FINISHED_PHASES, Pod, active_pods
from grove_core.resources.podclique import PodClique

_PHASES: Final = ("Pending", "Unknown", "Running")


class FreePodSlot(NamedTuple):
    """An index at which a pod is missing.

    Attributes:
        index: of the pod.
        before: uids of pods that had the index and still exist, sorted; their names are taken (WL-085).
        is_surge: whether the pod is beyond the clique's replicas.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used here
    before: tuple[str, ...]
    is_surge: bool


def is_finished_pod(pod: Pod) -> bool:
    """Return whether the pod has succeeded or failed; it never becomes ready again."""
    return pod.phase in FINISHED_PHASES


def has_all_wanted_pods(pods: Sequence[Pod], wanted: int) -> bool:
    """Return whether there are exactly as many pods as wanted and all are active: the usual case, without any work."""
    return len(pods) == wanted and not any(pod.deleting or pod.phase in FINISHED_PHASES for pod in pods)


def free_pod_slots(pods: Iterable[Pod], replicas: int, surge: int) -> Iterator[FreePodSlot]:
    """Yield the lowest indices that no active pod has, as many as pods are missing (WL-085). Linear."""
    taken: set[int] = set()
    alive, inactive_uids = 0, defaultdict[int, list[str]](list)
    for pod in pods:
        if pod.deleting or pod.phase in FINISHED_PHASES:
            inactive_uids[pod.index].append(pod.uid)
        else:
            taken.add(pod.index)
            alive += 1
    wanted = replicas + surge
    free = (index for index in range(len(taken) + wanted) if index not in taken)
    for index in islice(free, max(0, wanted - alive)):
        yield FreePodSlot(index, tuple(sorted(inactive_uids.get(index, ()))), index >= replicas)


def excess_pods(pods: Iterable[Pod], wanted: int, target_hash: str) -> list[Pod]:
    """Return the pods beyond the wanted number, in the order of deletion (WL-203).

    The order is: not scheduled, not running, not ready, of another template, sharing an index, highest index. Pods that
    are being deleted count as deleted.
    """
    alive = active_pods(pods)
    surplus = len(alive) - wanted
    if surplus <= 0:
        return []
    duplicates = {pod.uid for pod in duplicate_pods(alive, target_hash)}
    first = sorted(alive, key=lambda pod: _usefulness(pod, target_hash, duplicates))[:surplus]
    return [pod for pod in first if pod.uid]  # a pod that was just created has no uid yet


def duplicate_pods(pods: Iterable[Pod], target_hash: str) -> list[Pod]:
    """Return active pods whose index a better pod has too, in the order of deletion (WL-205). Linear."""
    alive = [pod for pod in active_pods(pods) if pod.index >= 0 and pod.uid]
    if len({pod.index for pod in alive}) == len(alive):
        return []  # the usual case
    least_first = sorted(alive, key=lambda pod: _usefulness(pod, target_hash))
    best = {pod.index: pod.uid for pod in least_first}
    return [pod for pod in least_first if best[pod.index] != pod.uid]


def _usefulness(
    pod: Pod, target_hash: str, duplicates: AbstractSet[str] = frozenset()
) -> tuple[bool, int, bool, bool, bool, int, str]:
    phase = _PHASES.index(pod.phase) if pod.phase in _PHASES else 0
    is_current, is_alone = pod.template_hash == target_hash, pod.uid not in duplicates
    return (pod.scheduled, phase, pod.ready, is_current, is_alone, -pod.index, pod.name)


def pods_to_delete(clique: PodClique, pods: Sequence[Pod], wanted: int) -> Iterator[ObjectToDelete | Withheld]:
    """Yield the deletions of finished, excess and duplicate pods of a clique (WL-203 to WL-206)."""
    for pod in pods:
        if is_finished_pod(pod) and not pod.deleting and pod.uid:
            yield ObjectToDelete(pod.ref, pod.guard, (WorkloadReason.ENDED_POD.because(clique.ref, phase=pod.phase),))
    for pod in excess_pods(pods, wanted, clique.template_hash):
        yield ObjectToDelete(pod.ref, pod.guard, (WorkloadReason.EXCESS_POD.because(clique.ref, wanted=wanted),))
    duplicates = duplicate_pods(pods, clique.template_hash)
    if duplicates and len(active_pods(pods)) <= wanted:
        yield from _duplicate_deletion(clique, pods, duplicates)


def _duplicate_deletion(
    clique: PodClique, pods: Sequence[Pod], duplicates: Sequence[Pod]
) -> Iterator[ObjectToDelete | Withheld]:
    """Yield the deletion of one duplicate pod; withheld if it is ready and the clique needs it (WL-205, WL-206)."""
    duplicate, ready = duplicates[0], sum(pod.ready for pod in active_pods(pods))
    if duplicate.ready and ready <= clique.needed_ready_pods:
        because = WorkloadReason.DOUBLE_IS_NEEDED.because(
            clique.ref, index=duplicate.index, ready=ready, needed=clique.needed_ready_pods
        )
        yield Withheld(duplicate.ref, (because,))
    else:
        yield ObjectToDelete(
            duplicate.ref, duplicate.guard, (WorkloadReason.DOUBLED_POD.because(clique.ref, index=duplicate.index),)
        )
