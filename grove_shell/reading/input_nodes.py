"""The Nodes of an input: their labels, whether they answer, and what is free on them (TP-131, GF-015)."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from grove_core.areas.topology.pod_placement import NodeLabels
from grove_core.resources.free_capacity import UNKNOWN_CAPACITY, FreeCapacity, free_capacity
from grove_core.resources.node import Node, node_with_known_amounts
from grove_core.resources.node_loss import NodeReadiness, NodesByName, node_readiness_from_json
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod import Pod

_NO_NODES: Final[Mapping[str, Any]] = MappingProxyType({})


class InputNodes(NamedTuple):
    """What the Nodes of an input show.

    Attributes:
        labels: name of each node -> its labels.
        readiness: name of each node whose status is in the input -> whether it answers (GF-015).
        capacity: what is free on the nodes; unknown where the amounts of one of them are.
    """

    labels: NodeLabels = _NO_NODES
    readiness: NodesByName = _NO_NODES
    capacity: FreeCapacity = UNKNOWN_CAPACITY


class CollectedNodes:
    """The nodes of one input. Mutable: it is filled while the input is read."""

    def __init__(self) -> None:
        self._labels: dict[str, dict[str, str]] = {}
        self._readiness: dict[str, NodeReadiness] = {}
        self._measured: dict[str, Node] = {}  # those whose amounts are known

    def add(self, raw: Mapping[str, Any]) -> None:
        """Take what a Node shows."""
        node = metadata_in(raw)
        self._labels[node.name] = {key: text for key, text in node.labels.items() if isinstance(text, str)}
        if (readiness := node_readiness_from_json(raw)) is not None:
            self._readiness[node.name] = readiness
        if (measured := node_with_known_amounts(raw)) is not None:
            self._measured[node.name] = measured

    def nodes_with(self, pods: Iterable[Pod]) -> InputNodes:
        """Return what the nodes show, and what is free on them beside these pods."""
        is_measured = len(self._measured) == len(self._labels)
        capacity = free_capacity(self._measured.values(), pods) if is_measured else UNKNOWN_CAPACITY
        return InputNodes(self._labels, self._readiness, capacity)
