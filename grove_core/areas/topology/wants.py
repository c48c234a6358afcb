"""The condition and the findings about a set's topology (TP-030, TP-031)."""

from collections.abc import Iterator, Mapping, Sequence

from grove_core.areas.topology.judge import topology_condition_reason
from grove_core.areas.topology.pod_placement import (
    NodeLabels,
    is_active_pod,
    pod_placements_by_constraint,
    required_labels_of_gang,
)
from grove_core.areas.topology.rules import TopologyReason
from grove_core.areas.topology.verdicts import NoTopology, TopologyJudgement, UnknownTopology
from grove_core.kernel.conditions import REMOVED, Condition, ConditionStatus, condition_of, next_transition_time
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.questions import MISPLACEMENT, TOPOLOGY
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges, StatusToWrite
from grove_core.resources.api_names import GROVE, TOPOLOGY_IN_SYNC
from grove_core.resources.naming_rules import name_list_text, pod_count_text
from grove_core.resources.status_comparison import changed_status_fields
from grove_core.snapshot.snapshot import Snapshot


def result_of_topology(snapshot: Snapshot, judgement: TopologyJudgement, misplaced: Sequence[str] | None) -> AreaResult:
    """Return the wants and the findings on the topology of a judged set.

    Args:
        judgement, misplaced: as of :func:`desired_topology_condition`.
    """
    return AreaResult(
        desired_topology_condition(snapshot, judgement, misplaced), tuple(findings_of_topology(snapshot, judgement))
    )


def desired_topology_condition(
    snapshot: Snapshot, judgement: TopologyJudgement, misplaced: Sequence[str] | None
) -> DesiredChanges:
    """Return the wanted change of the set's condition, which exists exactly while its topology is not usable.

    Args:
        misplaced: names of the PodGangs whose constraints differ from the topology (TP-026); None if unknown.
    """
    root = snapshot.root
    if root.deleting or not root.uid or isinstance(judgement, UnknownTopology):
        return DesiredChanges()
    stored = condition_of(root.status.conditions, TOPOLOGY_IN_SYNC)
    trouble = topology_condition_reason(judgement, sorted(misplaced or ()))
    if trouble is None:
        if stored is None or misplaced is None:
            return DesiredChanges()
        removed = FrozenMap({REMOVED: (TOPOLOGY_IN_SYNC,)})
        return DesiredChanges(
            (StatusToWrite(root.ref, root.guard, removed, (TopologyReason.TOPOLOGY_HOLDS.because(root.ref),)),)
        )
    reason, message = trouble
    since = next_transition_time(stored, ConditionStatus.FALSE, snapshot.now)
    condition = Condition(TOPOLOGY_IN_SYNC, ConditionStatus.FALSE, reason, message, since)
    fields = changed_status_fields(root.status, {}, (condition,))
    if not fields:
        return DesiredChanges()
    return DesiredChanges(
        (
            StatusToWrite(
                root.ref, root.guard, fields, (TopologyReason.TOPOLOGY_TROUBLE.because(root.ref, why=message),)
            ),
        )
    )


def findings_of_topology(snapshot: Snapshot, judgement: TopologyJudgement) -> Iterator[Finding]:
    """Yield which topology applies and why; nothing if none applies and topology-aware scheduling is off."""
    if not isinstance(judgement, NoTopology) or snapshot.configuration.topology.enabled:
        yield Finding(snapshot.root.ref, TOPOLOGY, judgement.resolution.value, judgement.because)


def misplaced_gang_findings(snapshot: Snapshot, nodes: NodeLabels) -> Iterator[Finding]:
    """Yield a finding for each PodGang with pods in several domains of a required constraint, or in none. Linear.

    Args:
        nodes: the known nodes; pods on other nodes are ignored.
    """
    broken: dict[Ref, list[Reason]] = {}
    for one in pod_placements_by_constraint(snapshot, nodes):
        if one.is_broken:
            clique = Ref(GROVE, "PodClique", one.gang.namespace, one.cliques[0])
            subject = one.gang if len(one.cliques) > 1 else clique
            why = TopologyReason.PODS_APART.because(subject, key=one.key, where=_domains_text(one.domains))
            broken.setdefault(one.gang, []).append(why)
    for gang, because in broken.items():
        yield Finding(gang, MISPLACEMENT, "Broken", tuple(because))


def is_misplacement_undecidable(snapshot: Snapshot, nodes: NodeLabels) -> bool:
    """Return whether a required constraint cannot be judged because a pod is on an unknown node (TP-131)."""
    if not any(key for gang in snapshot.gangs for key, _ in required_labels_of_gang(gang)):
        return False
    return any(pod.node and pod.node not in nodes and is_active_pod(pod) for _, pod in snapshot.pods())


def _domains_text(domains: Mapping[str, tuple[str, ...]]) -> str:
    (first, most), *others = sorted(domains.items(), key=lambda one: (-len(one[1]), one[0]))
    words = [f"{pod_count_text(len(most))} in {domain_text(first)}"]
    words += [f"{name_list_text(names)} in {domain_text(value)}" for value, names in others]
    return "; ".join(words)


def domain_text(value: str) -> str:
    """Return a domain for a sentence; none where the value is empty."""
    return value or "none (the node has no such label)"
