"""Pods of nodes that do not answer: what they count as, and when they are evicted (GF-015 to GF-019)."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.status_counts import count_clique_pods
from grove_core.areas.gang_termination.termination_result import LostNodeResult
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import LOST_NODE
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.node_loss import UNREACHABLE, NodeReadiness, NodesByName
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot


class LostPod(NamedTuple):
    """A pod whose node does not answer.

    Attributes:
        since: since when the node does not answer.
        evicted_at: when the pod is evicted; None for never.
    """

    clique: PodClique
    pod: Pod
    since: datetime
    evicted_at: datetime | None


def pods_on_lost_nodes(snapshot: Snapshot, nodes: NodesByName) -> Iterator[LostPod]:
    """Yield the pods whose nodes do not answer, by the Nodes of the input; without its Node by the pod itself. Linear.

    Args:
        nodes: those of the input; a node that is ready has no lost pods.
    """
    for clique, pod in snapshot.pods():
        signs = pod.node_signs
        if signs is None or pod.deleting or pod.phase in FINISHED_PHASES:
            continue
        shown = nodes.get(pod.node)
        if shown is None and signs.written_for_node:
            shown = NodeReadiness(UNREACHABLE)
        if shown is None or not shown.taint:
            continue
        since = shown.since or signs.since or snapshot.now
        yield LostPod(clique, pod, since, signs.evicted_at(shown.taint, since))


def lost_node_evictions(snapshot: Snapshot, nodes: NodesByName) -> LostNodeResult:
    """Return a finding on each PodClique with pods on nodes that do not answer, and the evictions."""
    found: defaultdict[Ref, list[LostPod]] = defaultdict(list)
    for lost in pods_on_lost_nodes(snapshot, nodes):
        found[lost.clique.ref].append(lost)
    every = [one for alike in found.values() for one in alike]
    return LostNodeResult(
        tuple(_finding(snapshot, alike) for alike in found.values()),
        tuple((one.evicted_at, one.pod) for one in every if one.evicted_at is not None),
    )


def _finding(snapshot: Snapshot, lost: list[LostPod]) -> Finding:
    clique = lost[0].clique
    within = clique.enclosing_replicas(snapshot.root.ref)
    return Finding(clique.ref, LOST_NODE, "Lost", tuple(_reasons(snapshot, clique, lost)), within=within)


def _reasons(snapshot: Snapshot, clique: PodClique, lost: list[LostPod]) -> Iterator[Reason]:
    by_node: defaultdict[tuple[str, bool], list[LostPod]] = defaultdict(list)
    for one in lost:
        by_node[one.pod.node, _counts_as_healthy(one.pod)].append(one)
    for (node, healthy), alike in sorted(by_node.items()):
        facts = {
            "node": node,
            "since": format_time(min(one.since for one in alike)),
            "counted": "healthy" if healthy else "unhealthy",
            "names": _names(alike),
        }
        yield GoOperatorReason.POD_OF_LOST_NODE.because(clique.ref, **facts)
    by_time: defaultdict[datetime | None, list[LostPod]] = defaultdict(list)
    for one in lost:
        by_time[one.evicted_at].append(one)
    for at, alike in by_time.items():
        names = _names(alike)
        yield (
            GoOperatorReason.NEVER_EVICTED.because(clique.ref, names=names)
            if at is None
            else GoOperatorReason.EVICTED.because(clique.ref, names=names, until=format_time(at))
        )
    pods, gone = snapshot.pods_of.get(clique.uid, ()), {one.pod.uid for one in lost}
    left = count_clique_pods((pod for pod in pods if pod.uid not in gone), "").scheduled
    if left < clique.min_available:
        yield GoOperatorReason.BREACHED_WITHOUT_LOST_PODS.because(clique.ref, left=left, needed=clique.min_available)


def _counts_as_healthy(pod: Pod) -> bool:
    return pod.scheduled and not pod.crashed and not pod.unready


def _names(lost: list[LostPod]) -> str:
    return name_list_text(one.pod.name for one in lost)
