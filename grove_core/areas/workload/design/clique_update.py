"""The update of one standalone clique: its pods are replaced while enough of them stay ready (WL-214 to WL-217)."""

from collections.abc import Sequence
from typing import Final

from grove_core.areas.workload.pods.pod_slots import duplicate_pods
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToDelete, StepObstacle, Withheld
from grove_core.resources.pod import UNSCHEDULABLE, Pod, active_pods
from grove_core.resources.podclique import PodClique


class RolloutStep(Struct, frozen=True):
    """One round of the update of a clique or scaling group.

    Attributes:
        runs: whether the update is not complete; the status shows it (WL-224).
        surge: whether there is one additional pod or replica.
        absents: what is deleted.
        held: what is withheld.
    """

    runs: bool = False
    surge: bool = False
    absents: tuple[ObjectToDelete, ...] = ()
    held: tuple[Withheld, ...] = ()


NO_STEP: Final = RolloutStep()


def outdated_pods(clique: PodClique, pods: Sequence[Pod]) -> list[Pod]:
    """Return the active pods of another template than the clique holds (WL-043).

    A pod without a template hash counts as of the last template that all pods were of. If that is not known either, it
    is not outdated.
    """
    target, before = clique.template_hash, clique.status.current_hash
    return [pod for pod in active_pods(pods) if (pod.template_hash or before) not in {"", target}] if target else []


def clique_rollout_step(clique: PodClique, pods: Sequence[Pod]) -> RolloutStep:
    """Return one round of the update of a clique that holds the present template. Linear in its pods.

    Nothing is deleted before the clique's status shows the update (WL-224), nor while the clique has excess pods.
    """
    outdated, alive = outdated_pods(clique, pods), active_pods(pods)
    wanted, needed = clique.replicas, clique.needed_ready_pods
    ready = [pod for pod in alive if pod.ready]
    is_open = clique.status.updating and clique.status.update_hash == clique.template_hash
    surge_is_needed = needed == wanted and surge_pod_replaces_unready_pod(clique, pods)
    if not is_open:
        return RolloutStep(runs=bool(outdated) or surge_is_needed, surge=surge_is_needed)
    if not outdated and not surge_is_needed and len(alive) <= wanted and len(ready) >= needed:
        return NO_STEP
    old_and_ready = [pod for pod in outdated if pod.ready]
    surge = needed == wanted and (
        surge_is_needed or bool(old_and_ready and len(ready) >= needed) or bool(outdated and len(alive) > wanted)
    )
    if len(alive) > wanted + surge:
        return RolloutStep(runs=True, surge=surge)
    absents = [_absent(clique, pod, WorkloadReason.OUTDATED_NOT_READY) for pod in outdated if not pod.ready and pod.uid]
    lacking = [pod for pod in alive if not pod.ready]
    starting = [
        pod for pod in lacking if pod.trouble != UNSCHEDULABLE
    ]  # an unschedulable pod says nothing about the new version
    held: tuple[Withheld, ...] = ()
    if (old_and_ready or lacking) and not absents:
        spare = len(ready) > needed and not duplicate_pods(
            pods, clique.template_hash
        )  # of which one may go now (WL-205)
        if old_and_ready and spare and not starting and len(alive) >= wanted:
            absents.append(
                _absent(clique, max(old_and_ready, key=lambda pod: (pod.index, pod.name)), WorkloadReason.OUTDATED_POD)
            )
        else:
            waits = WorkloadReason.UPDATE_WAITS.because(clique.ref, left=len(outdated), ready=len(ready), needed=needed)
            held = (
                Withheld(
                    clique.ref,
                    (waits, *(_why_not_ready(clique, pod) for pod in lacking[:1])),
                    obstacle=StepObstacle.UPDATE,
                ),
            )
    return RolloutStep(runs=True, surge=surge, absents=tuple(absents), held=held)


def surge_pod_replaces_unready_pod(clique: PodClique, pods: Sequence[Pod]) -> bool:
    """Return whether the surge pod replaces a wanted pod that is missing or not ready (WL-216).

    It does not where no slot is left for the wanted pod: then the surge pod is deleted first.
    """
    alive, wanted = active_pods(pods), clique.replicas
    if not clique.status.updating or not any(pod.index >= wanted for pod in alive):
        return False
    in_place = [pod for pod in alive if pod.index < wanted]
    if len({pod.index for pod in in_place}) < wanted:
        return len(alive) <= wanted
    return not all(pod.ready for pod in in_place)


def _absent(clique: PodClique, pod: Pod, why: WorkloadReason) -> ObjectToDelete:
    return ObjectToDelete(pod.ref, pod.guard, (why.because(clique.ref),))


def _why_not_ready(clique: PodClique, pod: Pod) -> Reason:
    return WorkloadReason.POD_NOT_READY.because(clique.ref, pod=pod.name, trouble=pod.trouble or pod.phase or "unknown")
