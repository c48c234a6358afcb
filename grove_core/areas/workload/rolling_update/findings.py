"""Reports which cliques and pods are of an old template (WL-228, WL-229)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.rolling_update.clique import outdated_pods
from grove_core.areas.workload.rolling_update.judge import Rollout
from grove_core.areas.workload.rules import Why
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason

UPDATE: Final = "update"


def findings_of_update(context: WorkloadContext, rollout: Rollout) -> Iterator[Finding]:
    """Return a finding for each clique that is of an old template, or has pods of one. Linear in those replicas."""
    root = context.root.ref
    lagging = [state for state in rollout.states if state.outdated]
    left = sum(state.part.index != rollout.current for state in lagging)
    waits = (Why.ROLLOUT_WAITS.because(root.at_replica(rollout.current), left=left),) if rollout.current >= 0 else ()
    for state in lagging:
        turn: tuple[Reason, ...] = () if state.part.index == rollout.current else waits
        for part in state.part.all_cliques:
            clique = context.clique_of(part)
            if clique is None:
                continue
            if part.name not in rollout.updated:
                yield Finding(clique.ref, UPDATE, "Outdated", (Why.OLD_TEMPLATE.because(clique.ref), *turn))
                continue
            pods = context.snapshot.pods_of.get(clique.uid, ())
            outdated = len(outdated_pods(clique, pods))
            if outdated:
                because = Why.OLD_PODS.because(clique.ref, outdated=outdated, pods=len(pods))
                yield Finding(clique.ref, UPDATE, "PodsOutdated", (because, *turn))
