"""The nodes of the tree of a set: replicas, scaling groups, PodCliques and rows of pods; also as JSON (CL-096)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, unique
from typing import Any

from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.document.step_writing import reason_as_json, ref_as_json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_shell.views.tree.object_states import ObjectState


@unique
class TreeNodeKind(StrEnum):
    """What a node of the tree stands for."""

    SET = "set"
    REPLICA = "replica"
    GROUP = "group"
    GROUP_REPLICA = "group replica"
    CLIQUE = "clique"


@dataclass(frozen=True, slots=True)
class PodRow:
    """One pod of the tree; ``trouble`` is why it is not ready, in the words of its status."""

    subject: Ref
    name: str
    state: ObjectState
    node: str = ""
    trouble: str = ""
    gpus: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """One object or replica of the tree.

    Attributes:
        subject: the object, or one replica of it.
        level: what it stands for; a PodClique has pods, every other node has children.
        ends_at: when it is terminated if nothing changes; None where no termination is planned.
        counts: such as ``2 of 3 pods ready, at least 2 needed``.
        present, wanted, needed: ready pods of a PodClique, available replicas of a group or of a set;
            how many its spec wants and needs at least; None where that is not known or not counted.
        because: the verdict on it; empty where it is well.
        state_is_from_below: whether the state is that of something inside it, and it has none of its own.
    """

    subject: Ref
    level: TreeNodeKind
    name: str
    state: ObjectState
    counts: str = ""
    ends_at: datetime | None = None
    present: int | None = None
    wanted: int | None = None
    needed: int | None = None
    because: tuple[Reason, ...] = ()
    pods: tuple[PodRow, ...] = ()
    children: tuple["TreeNode", ...] = ()
    state_is_from_below: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the page opens it at first."""
        return self.state.needs_attention

    @property
    def has_state_of_its_own(self) -> bool:
        """Whether the state is that of a PodClique, or of a replica or scaling group that is not well itself."""
        return self.level is TreeNodeKind.CLIQUE or not (self.state_is_from_below or self.state is ObjectState.READY)

    @property
    def every_state(self) -> Iterator[ObjectState]:
        """The states of PodCliques and pods in it, and those of replicas and groups that are not well themselves."""
        if self.has_state_of_its_own:
            yield self.state
        yield from (pod.state for pod in self.pods)
        for child in self.children:
            yield from child.every_state


def trees_as_json(document: PlanDocument, trees: list[TreeNode]) -> dict[str, Any]:
    """Return the trees of the sets of a plan as JSON, with the time and the rule set."""
    return {
        "rules": document.rules,
        "rulesFrom": rule_set_source_as_json(document.rules_from) if document.rules_from is not None else None,
        "asOf": format_time(document.as_of),
        **({"asOfFrom": document.as_of_from} if document.as_of_from else {}),
        "notCollected": list(document.not_collected),
        "sets": [_node_as_json(tree) for tree in trees],
    }


def _node_as_json(node: TreeNode) -> dict[str, Any]:
    parts = (
        {"pods": [_pod_as_json(pod) for pod in node.pods]}
        if node.level is TreeNodeKind.CLIQUE
        else {"children": [_node_as_json(child) for child in node.children]}
    )
    return {
        "level": node.level.value,
        "subject": ref_as_json(node.subject),
        "state": node.state.value,
        "stateIsFromBelow": node.state_is_from_below,
        "endsAt": format_time(node.ends_at) if node.ends_at is not None else None,
        "present": node.present,
        "wanted": node.wanted,
        "needed": node.needed,
        "because": [reason_as_json(why) for why in node.because],
        **parts,
    }


def _pod_as_json(pod: PodRow) -> dict[str, Any]:
    return {
        "name": pod.name,
        "state": pod.state.value,
        "node": pod.node or None,
        "gpus": pod.gpus,
        "trouble": pod.trouble or None,
    }
