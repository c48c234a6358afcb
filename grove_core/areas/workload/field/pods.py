"""The pods of one clique: which are created, and which are deleted as too many (WF-030 to WF-033).

Every pod that exists counts, also one that has failed or succeeded. A pod that is being deleted counts as deleted.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Final

from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.kernel.wants import ObjectToDelete, Withheld
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.pod import Pod, active_pods
from grove_core.resources.podclique import PodClique
from grove_core.resources.status_comparison import pod_hash_of_update, set_hash_of_update

_PHASES: Final = ("Pending", "Unknown", "Running")


def missing_pod_indices(pods: Sequence[Pod], replicas: int) -> Sequence[int]:
    """Return the index of each pod that is created now: the lowest that no active pod has (WF-030). Linear."""
    missing = replicas - sum(not pod.deleting for pod in pods)
    if missing <= 0:
        return ()
    taken = {pod.index for pod in active_pods(pods)}
    return tuple(islice((index for index in count() if index not in taken), missing))


def repeated_pod_index(pods: Iterable[Pod]) -> int | None:
    """Return an index that two active pods have; None where there is none. No pod is created then (WF-031)."""
    seen: set[int] = set()
    for pod in active_pods(pods):
        if pod.index in seen:
            return pod.index
        seen.add(pod.index)
    return None


def pod_creation_obstacle(clique: PodClique, pods: Sequence[Pod]) -> Withheld | None:
    """Return why no pod of a clique is created although some are missing; None where nothing prevents it (WF-031)."""
    index = repeated_pod_index(pods)
    if index is None:
        return None
    return Withheld(clique.ref, (GoOperatorWorkloadReason.POD_INDEX_TAKEN_TWICE.because(clique.ref, index=index),))


def excess_pod_deletions(
    clique: PodClique, pods: Sequence[Pod], template_hash: str, release: WorkloadBehaviourOfRelease
) -> Iterator[ObjectToDelete | Withheld]:
    """Yield the deletions of pods beyond the clique's replicas (WF-032).

    A release may pick pods that are being deleted already; as many others then stay for now (WF-033).

    Args:
        clique: the clique.
        pods: its pods, those being deleted included.
        template_hash: other pods are deleted first.
        release: of the operator.
    """
    excess = sum(not pod.deleting for pod in pods) - clique.replicas
    if excess <= 0:
        return
    candidates = [pod for pod in pods if release.picks_deleted_pods or not pod.deleting]
    newest_first = sorted(candidates, key=lambda pod: (pod.created, pod.name), reverse=True)
    picked = sorted(newest_first, key=lambda pod: _usefulness(pod, template_hash))[:excess]
    for pod in picked:
        if not pod.deleting:
            because = GoOperatorWorkloadReason.EXCESS_POD_OF_CLIQUE.because(clique.ref, wanted=clique.replicas)
            yield ObjectToDelete(pod.ref, pod.guard, (because,))
    leaving = [pod.name for pod in picked if pod.deleting]
    if leaving:
        because = GoOperatorWorkloadReason.DELETED_POD_PICKED.because(
            clique.ref, names=name_list_text(leaving), left=len(leaving)
        )
        yield Withheld(clique.ref, (because,))


def _usefulness(pod: Pod, template_hash: str) -> tuple[bool, int, bool, bool]:
    """Return the rank of a pod, the least useful first; finished phases count like Pending."""
    phase = _PHASES.index(pod.phase) if pod.phase in _PHASES else 0
    return (bool(pod.node), phase, pod.ready, pod.template_hash == template_hash)


def hash_of_wanted_pods(clique: PodClique, generation: str) -> str:
    """Return the template hash that the clique's pods should have by its stored status, else by its label (WF-032)."""
    progress = clique.status.progress
    if progress and generation and set_hash_of_update(progress) == generation:
        return pod_hash_of_update(progress) or ""
    return clique.template_hash
