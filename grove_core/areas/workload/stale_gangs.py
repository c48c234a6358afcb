"""PodCliques whose scheduled pods kai-scheduler evicts, because their gang is below its minimum (WL-257)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.verdicts import STALE_GANG
from grove_core.kernel.decisions import Finding
from grove_core.resources.pod import active_pods
from grove_core.snapshot.snapshot import Snapshot

_KAI_SCHEDULER: Final = "kai-scheduler"


def stale_gang_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding on each PodClique of kai-scheduler with scheduled pods, but fewer than its minimum. Linear."""
    for clique in snapshot.cliques:
        if clique.pod_spec.get("schedulerName") != _KAI_SCHEDULER or clique.deleting:
            continue
        scheduled = sum(pod.scheduled for pod in active_pods(snapshot.pods_of.get(clique.uid, ())))
        if 0 < scheduled < clique.min_available:
            needed = clique.min_available
            because = WorkloadReason.STALE_GANG.because(clique.ref, scheduled=scheduled, needed=needed)
            yield Finding(
                clique.ref, STALE_GANG, "Risk", (because,), within=clique.enclosing_replicas(snapshot.root.ref)
            )
