"""Rolling the pods of one standalone clique, so that enough of them are ready all the time (WL-214 to WL-217)."""

from collections.abc import Sequence

from grove_core.areas.workload.crew import living
from grove_core.areas.workload.roll import NOTHING, Roll
from grove_core.areas.workload.rules import Why
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Absent, HeldBack
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique


def outdated_in(clique: PodClique, pods: Sequence[Pod]) -> list[Pod]:
    """The living pods of another template than the clique holds; none where one of the two does not say which."""
    target = clique.template_hash
    return [pod for pod in living(pods) if pod.template_hash not in {"", target}] if target else []


def roll_clique(clique: PodClique, pods: Sequence[Pod]) -> Roll:
    """One round of the update of a clique that holds the present template already. Linear in its pods.

    Nothing is done before the clique's status says that an update runs (WL-224), nor while pods are too many anyway.
    """
    outdated, alive = outdated_in(clique, pods), living(pods)
    wanted, needed = clique.replicas, min(clique.min_available, clique.replicas)
    ready = [pod for pod in alive if pod.ready]
    has_more = len(alive) > wanted
    is_open = clique.status.updating and clique.status.update_hash == clique.template_hash
    misplaced = clique.status.updating and needed == wanted and _one_stands_in(ready, alive, wanted)
    if not is_open:
        return Roll(runs=bool(outdated or misplaced), surge=misplaced)
    if not outdated and not misplaced and not has_more:
        return NOTHING
    old_and_ready = [pod for pod in outdated if pod.ready]
    surge = needed == wanted and (
        misplaced or bool(old_and_ready and len(ready) >= needed) or bool(outdated and has_more)
    )
    if len(alive) > wanted + surge:
        return Roll(runs=True, surge=surge)
    absents = [_absent(clique, pod, Why.OUTDATED_NOT_READY) for pod in outdated if not pod.ready and pod.uid]
    waiting = [pod for pod in alive if not pod.ready]
    held: tuple[HeldBack, ...] = ()
    if (old_and_ready or waiting) and not absents:
        if old_and_ready and len(ready) > needed and not waiting:
            absents.append(_absent(clique, max(old_and_ready, key=lambda pod: (pod.index, pod.name)), Why.OUTDATED_POD))
        else:
            waits = Why.UPDATE_WAITS.because(clique.ref, left=len(outdated), ready=len(ready), needed=needed)
            held = (HeldBack(clique.ref, (waits, *(_trouble(clique, pod) for pod in waiting[:1]))),)
    return Roll(runs=True, surge=surge, absents=tuple(absents), held=held)


def stands_in(clique: PodClique, pods: Sequence[Pod]) -> bool:
    """Whether the one pod more of an update that was given up still serves for one that does not (WL-216)."""
    alive = living(pods)
    return clique.status.updating and _one_stands_in([pod for pod in alive if pod.ready], alive, clique.replicas)


def _one_stands_in(ready: Sequence[Pod], alive: Sequence[Pod], wanted: int) -> bool:
    """Whether a pod beyond the wanted ones is there, and not all of those are ready."""
    in_place = {pod.index for pod in ready if pod.index < wanted}
    return len(in_place) < wanted and any(pod.index >= wanted for pod in alive)


def _absent(clique: PodClique, pod: Pod, why: Why) -> Absent:
    return Absent(pod.ref, pod.guard, (why.because(clique.ref),))


def _trouble(clique: PodClique, pod: Pod) -> Reason:
    return Why.POD_NOT_READY.because(clique.ref, pod=pod.name, trouble=pod.trouble or pod.phase or "unknown")
