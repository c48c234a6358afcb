"""What pods that are not ready show about the cause: nodes that do not answer, and messages of the scheduler."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from grove_core.plan.termination_hints import LostNodeOfPods, SchedulerMessage
from grove_core.resources.node_loss import UNREACHABLE, NodeReadiness, NodesByName
from grove_core.resources.pod import Pod

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
