"""Collects what ``grove topology check`` needs in addition: nodes, the pods on them, and levels of topologies."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import CORE
from grove_core.resources.cluster_topology import cluster_topology_from_json, level_problems
from grove_core.resources.node import Node, node_from_json
from grove_core.resources.pod_demand import PodOnNode, read_pod_on_node
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem, Problem, item_problem_as_fault
from grove_shell.reading.input_sources import item_display_name
from grove_shell.reading.input_topologies import is_topology

_NODE: Final = "Node"


class NodeCollector:
    """Nodes and pods of an input; ``take`` is called with every item.

    Attributes:
        nodes: by name.
        pods_on_nodes: the pods that are on some node.
        with_pods: whether there is any pod: pods are listed completely or not at all.
        faults: problems of nodes and of levels of topologies.
    """

    def __init__(self, count: Callable[[InputItem], None] | None = None) -> None:
        """Begin empty; ``count`` is called for every item too."""
        self.nodes: dict[str, Node] = {}
        self.pods_on_nodes: list[PodOnNode] = []
        self.with_pods = False
        self.faults: list[InputFault] = []
        self._count = count

    def take(self, item: InputItem) -> None:
        """Take one item."""
        if self._count is not None:
            self._count(item)
        kind, version = item.value.get("kind"), item.value.get("apiVersion")
        if (kind, version) == (_NODE, CORE):
            self._take_node(item)
        elif (kind, version) == ("Pod", CORE):
            self.with_pods = True
            self._take_pod(item)
        elif is_topology(item.value):
            self.faults += [_fault(item, *problem) for problem in _level_faults(item.value)]

    def _take_pod(self, item: InputItem) -> None:
        try:
            pod = read_pod_on_node(item.value)
        except MalformedObject as fault:
            self.faults += [_fault(item, one.path, one.expected, one.got) for one in fault.problems]
            return
        self.pods_on_nodes += [] if pod is None else [pod]

    def _take_node(self, item: InputItem) -> None:
        try:
            node = node_from_json(item.value)
        except MalformedObject as fault:
            self.faults += [_fault(item, one.path, one.expected, one.got) for one in fault.problems]
            return
        if self.nodes.setdefault(node.name, node) != node:
            self.faults.append(_fault(item, "metadata.name", "one node of this name", "another one that differs"))


def _level_faults(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the levels of a topology that can be parsed otherwise (IN-032)."""
    try:
        levels = cluster_topology_from_json(raw).levels
    except MalformedObject:
        return  # reported by the reader of all objects
    for problem in level_problems(levels):
        yield f"spec.levels{problem.path}", problem.expected, problem.got


def _fault(item: InputItem, path: str, expected: str, got: str) -> InputFault:
    return item_problem_as_fault(item, item_display_name(item), (path, expected, got), None, lost=False)
