"""Which cliques and pods are of an old template, said of those that are (WL-228, WL-229)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.rolling_clique import outdated_in
from grove_core.areas.workload.rollout import Rollout
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scene import Scene
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason

UPDATE: Final = "update"


def findings_of_update(scene: Scene, rollout: Rollout) -> Iterator[Finding]:
    """Each clique that is of an old template, or has pods of one. Linear in the replicas that have such."""
    root = scene.root.ref
    lagging = [state for state in rollout.states if state.outdated]
    for state in lagging:
        index = state.part.index
        turn: tuple[Reason, ...] = ()
        if rollout.current not in {-1, index}:
            left = sum(other.part.index != rollout.current for other in lagging)
            turn = (Why.ROLLOUT_WAITS.because(root.at_replica(rollout.current), left=left),)
        for part in state.part.all_cliques:
            clique = scene.clique_of(part)
            if clique is None:
                continue
            if part.name not in rollout.updated:
                yield Finding(clique.ref, UPDATE, "Outdated", (Why.OLD_TEMPLATE.because(clique.ref), *turn))
                continue
            pods = scene.snapshot.pods_of.get(clique.uid, ())
            outdated = len(outdated_in(clique, pods))
            if outdated:
                because = Why.OLD_PODS.because(clique.ref, outdated=outdated, pods=len(pods))
                yield Finding(clique.ref, UPDATE, "PodsOutdated", (because, *turn))
