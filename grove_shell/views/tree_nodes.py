"""The nodes of the tree of a set: replicas, scaling groups, PodCliques, and rows of pods."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_shell.views.object_states import ObjectState


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
        level: ``set``, ``replica``, ``group``, ``group replica`` or ``clique``.
        ends_at: when it is terminated if nothing changes; None where no termination is planned.
        counts: such as ``2 of 3 pods ready, at least 2 needed``.
        present, wanted, needed: ready pods of a PodClique, available replicas of a group or of a set;
            how many its spec wants and needs at least; None where that is not known or not counted.
        because: the verdict on it; empty where it is well.
        state_is_from_below: whether the state is that of something inside it, and it has none of its own.
    """

    subject: Ref
    level: str
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
        return self.level == "clique" or not (self.state_is_from_below or self.state is ObjectState.READY)

    @property
    def every_state(self) -> Iterator[ObjectState]:
        """The states of PodCliques and pods in it, and those of replicas and groups that are not well themselves."""
        if self.has_state_of_its_own:
            yield self.state
        yield from (pod.state for pod in self.pods)
        for child in self.children:
            yield from child.every_state
