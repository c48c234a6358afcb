"""What the played world asks of whoever decides and of whoever keeps objects.

There are two of each. Those of ``grove converge`` look only at what a decision depends on, and remember decisions;
those of the tests carry out whole requests on an object server. Both come to the same run (CV-003).
"""

from dataclasses import dataclass
from enum import Enum, unique
from typing import Any, Final, Protocol

from grove_core.areas.domain_cliques.verdicts import ResultKind

CONTROLLER_NUMBER: Final = -1
"""Who writes, where it is no daemon."""
DOMAIN_NUMBER: Final = 0
"""The number of the domain among the objects; those of cliques follow."""


class CliqueSummary(Protocol):
    """One clique in an object, as one version of it shows it.

    Attributes:
        count: its entries.
        ready: how many of them are Ready.
        shared: whether two of them have one index.
    """

    @property
    def count(self) -> int: ...  # noqa: D102 - see the class

    @property
    def ready(self) -> int: ...  # noqa: D102 - see the class

    @property
    def shared(self) -> bool: ...  # noqa: D102 - see the class


@dataclass(slots=True, eq=False)
class ModelWrite:
    """A write of a daemon, or of the controller, as it is decided.

    Attributes:
        writer: number of the daemon, or ``CONTROLLER``.
        thing: number of the object.
        index, ready: of the daemon's entry.
        moves: it gives up an index for another.
        records: of cliques, in a write of the controller.
        base: the version that the object must still have, 0 for no object; None where any will do.
        content: what else whoever keeps the objects needs of it.
    """

    writer: int
    object_number: int
    index: int = 0
    ready: bool = False
    moves: bool = False
    records: int = 0
    base: int | None = None
    content: Any = None


@unique
class LocalAction(Enum):
    """What a daemon does without asking anybody."""

    START = "start"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Look again then, in microseconds."""

    until: int


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The answer to a write: after one that went well, version and view of the object as it made them."""

    kind: ResultKind
    version: int = 0
    view: Any = None


class DaemonModel(Protocol):
    """One daemon's memory and decisions. Moments are microseconds, ``jitter`` is a factor around 1."""

    def sees(self, version: int, view: Any, at: int, jitter: float) -> bool:  # noqa: ANN401 - a View of its store
        """An event, or its first list; the view is None where there is no object. Whether it has to look."""
        ...

    def answered(self, write: ModelWrite, told: WriteResult, at: int, jitter: float) -> None:
        """The answer to its write."""
        ...

    def started(self) -> None:
        """Its fabric daemon was started, or started anew, and is not ready yet."""
        ...

    def is_ready(self) -> None:
        """Its fabric daemon says that it is ready."""
        ...

    def looks(self, at: int) -> ModelWrite | LocalAction | WakeAt:
        """What it does next."""
        ...


class ControllerModel(Protocol):
    """The controller's view and decision."""

    def sees(self, object_number: int, version: int, clique: int | None, view: Any) -> None:  # noqa: ANN401 - as above
        """An event; ``clique`` is the one that changed, None where only the domain's own word did."""
        ...

    def looks(self, at: int) -> ModelWrite | None:
        """What it would write now; None for nothing."""
        ...

    def answered(self, write: ModelWrite, told: WriteResult) -> None:
        """The answer to its write."""
        ...


class ObjectStore(Protocol):
    """The objects, in their latest states."""

    @property
    def latest(self) -> int:
        """Version of the store as a whole."""
        ...

    def version(self, object_number: int) -> int:
        """Of an object; 0 where there is none."""
        ...

    def view(self, object_number: int, clique: int) -> Any:  # noqa: ANN401 - as above
        """A clique as an object shows it; None where there is no object."""
        ...

    def changes(self, write: ModelWrite) -> bool:
        """Whether a write would change anything."""
        ...

    def carry_out(self, write: ModelWrite) -> None:
        """Make the change, and a new version."""
        ...

    def says_ready(self) -> bool:
        """Whether the domain's status says Ready."""
        ...
