"""The Nodes of an input: their labels, whether they answer, and what is free on them (TP-131, GF-015)."""

from collections.abc import Iterable, Mapping
from typing import Any

from grove_core.resources.free_capacity import UNKNOWN_CAPACITY, FreeCapacity, free_capacity
from grove_core.resources.node import Node, measured_node_in
from grove_core.resources.node_loss import NodeReadiness, node_readiness_from_json
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod import Pod


class CollectedNodes:
    """The nodes of one input. Mutable: it is filled while the input is read.

    Attributes:
        labels: name of a node -> its labels.
        readiness: name of a node that has a condition `Ready` -> whether it answers.
    """

    def __init__(self) -> None:
        self.labels: dict[str, dict[str, str]] = {}
        self.readiness: dict[str, NodeReadiness] = {}
        self._measured: dict[str, Node] = {}  # those whose amounts are known

    def add(self, raw: Mapping[str, Any]) -> None:
        """Take what a Node shows."""
        node = metadata_in(raw)
        self.labels[node.name] = {key: text for key, text in node.labels.items() if isinstance(text, str)}
        if (readiness := node_readiness_from_json(raw)) is not None:
            self.readiness[node.name] = readiness
        if (measured := measured_node_in(raw)) is not None:
            self._measured[node.name] = measured

    def capacity_beside(self, pods: Iterable[Pod]) -> FreeCapacity:
        """Return what is free on the nodes beside these pods; unknown where the amounts of a node are."""
        if len(self._measured) < len(self.labels):
            return UNKNOWN_CAPACITY
        return free_capacity(self._measured.values(), pods)
