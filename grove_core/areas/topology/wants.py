"""The condition and the findings about a set's topology (TP-030, TP-031)."""

from collections.abc import Iterator, Sequence
from typing import Final

from grove_core.areas.topology.judge import condition_reason
from grove_core.areas.topology.rules import Why
from grove_core.areas.topology.verdicts import TopologyJudgement, TopologyResolution
from grove_core.kernel.area_result import AreaResult
from grove_core.kernel.conditions import REMOVED, Condition, Truth, condition_of, transition_time
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.wants import Desired, Status
from grove_core.resources.api_names import TOPOLOGY_IN_SYNC
from grove_core.resources.statuses import status_change
from grove_core.snapshot.snapshot import Snapshot

QUESTION: Final = "topology"


def result_of_topology(snapshot: Snapshot, judgement: TopologyJudgement, misplaced: Sequence[str] | None) -> AreaResult:
    """Return the wants and the findings on the topology of a judged set; arguments as of wants_of_topology."""
    return AreaResult(
        wants_of_topology(snapshot, judgement, misplaced), tuple(findings_of_topology(snapshot, judgement))
    )


def wants_of_topology(snapshot: Snapshot, judgement: TopologyJudgement, misplaced: Sequence[str] | None) -> Desired:
    """Return the wanted change of the set's condition, which exists exactly while its topology is not usable.

    Args:
        snapshot: of the set.
        judgement: of its topology.
        misplaced: names of the PodGangs whose constraints differ from the topology (TP-026); None if unknown.
    """
    root = snapshot.root
    if root.deleting or not root.uid or judgement.resolution is TopologyResolution.UNKNOWN:
        return Desired()
    stored = condition_of(root.status.conditions, TOPOLOGY_IN_SYNC)
    trouble = condition_reason(judgement, sorted(misplaced or ()))
    if trouble is None:
        if stored is None or misplaced is None:
            return Desired()
        removed = FrozenMap({REMOVED: (TOPOLOGY_IN_SYNC,)})
        return Desired((Status(root.ref, root.guard, removed, (Why.TOPOLOGY_HOLDS.because(root.ref),)),))
    reason, message = trouble
    since = transition_time(stored, Truth.FALSE, snapshot.now)
    condition = Condition(TOPOLOGY_IN_SYNC, Truth.FALSE, reason, message, since)
    fields = status_change(root.status, {}, (condition,))
    if not fields:
        return Desired()
    return Desired((Status(root.ref, root.guard, fields, (Why.TOPOLOGY_TROUBLE.because(root.ref, why=message),)),))


def findings_of_topology(snapshot: Snapshot, judgement: TopologyJudgement) -> Iterator[Finding]:
    """Yield which topology applies and why; nothing if none applies and topology-aware scheduling is off."""
    if judgement.resolution is not TopologyResolution.NONE or snapshot.configuration.topology.enabled:
        yield Finding(snapshot.root.ref, QUESTION, judgement.resolution.value, judgement.because)
