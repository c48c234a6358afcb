"""Pods that are being deleted: when they are gone, and which PodCliques are breached then (GT-113, GT-114)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.questions import BREACH, LEAVING_PODS
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time, parse_time
from grove_core.resources.node_loss import NodesByName
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

_OVERDUE: Final = timedelta(minutes=1)


class LeavingPod(NamedTuple):
    """A pod that is being deleted, on a node that is not known to be lost.

    Attributes:
        at: when it is gone, at the time of the snapshot or later; None where that cannot be said.
    """

    clique: PodClique
    pod: Pod
    at: datetime | None


def leaving_pods(snapshot: Snapshot, nodes: NodesByName) -> Iterator[LeavingPod]:
    """Yield the pods that are being deleted, of PodCliques that are not. Linear in pods.

    Args:
        nodes: those of the input; pods of a node that does not answer are not yielded.
    """
    for clique, pod in snapshot.pods():
        if not pod.deleting or clique.deleting:
            continue
        shown, signs = nodes.get(pod.node), pod.node_signs
        is_lost = bool(shown.taint) if shown is not None else signs is not None and signs.written_for_node
        if not is_lost:
            end = parse_time(pod.deletion_time)
            is_known = end is not None and end + _OVERDUE >= snapshot.now
            yield LeavingPod(clique, pod, max(end, snapshot.now) if end is not None and is_known else None)


def snapshot_without_leaving_pods(snapshot: Snapshot, leaving: Iterable[LeavingPod]) -> Snapshot:
    """Return the snapshot as it is once these pods are gone, at the same time."""
    gone = {one.pod.uid for one in leaving}
    pods_of = {uid: tuple(pod for pod in pods if pod.uid not in gone) for uid, pods in snapshot.pods_of.items()}
    return replace(snapshot, pods_of=FrozenDict(pods_of))


def leaving_pods_findings(
    now: Iterable[Finding], after: Iterable[Finding], leaving: Iterable[LeavingPod], snapshot: Snapshot
) -> Iterator[Finding]:
    """Yield a finding on each PodClique that is breached once its pods that are being deleted are gone (GT-113).

    Args:
        now: the findings of the snapshot.
        after: those of :func:`snapshot_without_leaving_pods`.
        leaving: of the snapshot.
    """
    of_clique: defaultdict[Ref, list[LeavingPod]] = defaultdict(list)
    for one in leaving:
        of_clique[one.clique.ref].append(one)
    before = set(_breached(now))
    for subject, found in _breached(after).items():
        if subject in of_clique and subject not in before:
            yield _finding(found, of_clique[subject], snapshot)


def _breached(findings: Iterable[Finding]) -> dict[Ref, Finding]:
    breaches = (one for one in findings if one.question == BREACH and one.verdict == ConditionStatus.TRUE.value)
    return {one.subject: one for one in breaches}


def _finding(breach: Finding, leaving: Sequence[LeavingPod], snapshot: Snapshot) -> Finding:
    clique, ends = leaving[0].clique, [one.at for one in leaving]
    known = [end for end in ends if end is not None]
    until = f"by {format_time(max(known))}" if len(known) == len(ends) else "at any time"
    because = TerminationReason.PODS_LEAVE.because(clique.ref, pods=len(leaving), until=until)
    within = clique.enclosing_replicas(snapshot.root.ref)
    return Finding(clique.ref, LEAVING_PODS, "Leaving", (because, *breach.because), within=within)
