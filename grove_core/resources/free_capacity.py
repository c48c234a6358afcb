"""What is free on the nodes of an input, with the requests of all pods on them subtracted (PL-045)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct, replace
from grove_core.resources.node import Node
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.pod_requests import Amounts

_NO_AMOUNTS: Final[FrozenDict[str, int]] = FrozenDict()
_NOTHING: Final[FrozenDict[str, FrozenDict[str, int]]] = FrozenDict()


class FreeCapacity(Struct, frozen=True):
    """The nodes of an input and what their pods take.

    Attributes:
        nodes: with the amounts that they can allocate; empty where what is free on them is not known.
        taken: name of a node -> thousandths of each resource that the pods of the input on it request.
        lists_other_pods: whether the input has a pod of no PodGang on each node. Every node of a usual cluster has
            one, so without it pods were left out of the input.
    """

    nodes: tuple[Node, ...] = ()
    taken: FrozenDict[str, FrozenDict[str, int]] = _NOTHING
    lists_other_pods: bool = False

    def without_pods(self, pods: Iterable[Pod]) -> tuple[Node, ...] | None:
        """Return the nodes with the amounts that are free once some pods are gone.

        Returns:
            None where this is not known: a pod is on another node, or its requests were not read.
        """
        released: defaultdict[str, Counter[str]] = defaultdict(Counter)
        known = {node.name for node in self.nodes}
        for pod in pods_using_node_capacity(pods):
            if pod.node not in known or pod.requests is None:
                return None
            released[pod.node].update(pod.requests)
        return tuple(self._free_node(node, released[node.name]) for node in self.nodes)

    def _free_node(self, node: Node, released: Counter[str]) -> Node:
        taken = self.taken.get(node.name, _NO_AMOUNTS)
        free = {key: amount - taken.get(key, 0) + released[key] for key, amount in node.amounts.items()}
        return replace(node, amounts=FrozenDict({key: max(0, amount) for key, amount in free.items()}))


UNKNOWN_CAPACITY: Final = FreeCapacity()
"""Nothing is known of what is free."""


def free_capacity(nodes: Collection[Node], pods: Iterable[Pod]) -> FreeCapacity:
    """Return what is free on nodes; unknown where the requests of a pod on them were not read. Linear."""
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    alike: dict[int, Amounts] = {}
    others = set[str]()
    for pod in pods_using_node_capacity(pods) if nodes else ():
        if pod.requests is None:
            return UNKNOWN_CAPACITY
        counts[pod.node][id(pod.requests)] += 1
        alike[id(pod.requests)] = pod.requests
        if not pod.gang:
            others.add(pod.node)
    taken = FrozenDict({node: FrozenDict(_sum_of_requests(found, alike)) for node, found in counts.items()})
    return FreeCapacity(tuple(nodes), taken, all(node.name in others for node in nodes))


def pods_using_node_capacity(pods: Iterable[Pod]) -> Iterable[Pod]:
    """Return the pods that take something of a node."""
    return (pod for pod in pods if pod.node and pod.phase not in FINISHED_PHASES)


def _sum_of_requests(counts: Mapping[int, int], alike: Mapping[int, Amounts]) -> Amounts:
    total = Counter[str]()
    for identity, count in counts.items():
        for resource, amount in alike[identity].items():
            total[resource] += amount * count
    return total
