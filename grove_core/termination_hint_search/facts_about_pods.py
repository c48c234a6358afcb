"""What the input shows about the pods of a replica that is terminated or waits for it.

Of its pods that are not ready: nodes that do not answer, and messages of the scheduler. Of all of them: whether its
gangs find room again once its own pods are gone (PL-045).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.areas.workload.set_too_large import set_too_large_reason
from grove_core.kernel.refs import Ref
from grove_core.plan.termination_hints import LostNodeOfPods, RoomForReplacement, SchedulerMessage
from grove_core.resources.free_capacity import FreeCapacity
from grove_core.resources.node_loss import UNREACHABLE, NodeReadiness, NodesByName
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from grove_core.areas.topology.fit_check import GangFit

_FEW: Final = 3
"""More nodes are not one cause."""


def lost_nodes_of_pods(pods: Sequence[Pod], nodes: NodesByName) -> tuple[LostNodeOfPods, ...]:
    """Return the nodes that do not answer, if all pods with a node are on at most three of these; else nothing.

    Args:
        pods: pods that are not ready.
        nodes: those of the input; without its Node an unready pod shows by itself that its node does not answer.
    """
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.node:
            found[pod.node].append(pod)
    if len(found) > _FEW:
        return ()
    lost = [_lost_node(node, alike, nodes) for node, alike in sorted(found.items())]
    return tuple(one for one in lost if one is not None) if None not in lost else ()


def _lost_node(node: str, pods: Sequence[Pod], nodes: NodesByName) -> LostNodeOfPods | None:
    signs = [pod.node_signs for pod in pods if pod.node_signs is not None]
    shown = nodes.get(node)
    if shown is None and any(one.written_for_node for one in signs):
        shown = NodeReadiness(UNREACHABLE, min((one.since for one in signs if one.since is not None), default=None))
    return LostNodeOfPods(node, shown.taint, shown.since, len(pods)) if shown is not None and shown.taint else None


def scheduler_messages_about_pods(pods: Sequence[Pod]) -> tuple[SchedulerMessage, ...]:
    """Return the messages of the scheduler about pods, the most frequent first."""
    counts = Counter(pod.unplaced_because for pod in pods if pod.unplaced_because)
    return tuple(SchedulerMessage(text, counts[text]) for text in sorted(counts, key=lambda one: (-counts[one], one)))


def room_for_replica(
    snapshot: Snapshot, subject: Ref, pods: Iterable[Pod], capacity: FreeCapacity
) -> RoomForReplacement:
    """Return whether the gangs of a replica fit on the nodes of the input, with the counting of `topology check`.

    Pods that the input lacks can only take more room: without them no room is still a fact, and room is not (PL-050).

    Args:
        pods: of the replica, which are deleted with it.
        capacity: of the nodes of the input.
    """
    nodes = capacity.without_pods(pods)
    if not nodes:
        return RoomForReplacement.NODES_MISSING
    from grove_core.gang_fit import check_replica_fit, contains_whole_gang  # noqa: PLC0415 - most dumps have no nodes (P11)

    fit = check_replica_fit(snapshot, subject, nodes)
    if fit is None:
        is_part = set_too_large_reason(snapshot) is None and not contains_whole_gang(snapshot, subject)
        return RoomForReplacement.PART_OF_GANG if is_part else RoomForReplacement.UNDECIDED
    if any(_cannot_start(gang) for gang in fit.gangs):
        return RoomForReplacement.CANNOT
    if fit.result.verdict is not FitVerdict.FITS:
        return RoomForReplacement.UNDECIDED
    return RoomForReplacement.FITS if capacity.lists_other_pods else RoomForReplacement.PODS_MISSING


def _cannot_start(gang: "GangFit") -> bool:
    """Return whether not even the pods that a gang needs to start fit."""
    return (gang.minimum_result or gang.result).verdict is FitVerdict.CANNOT
