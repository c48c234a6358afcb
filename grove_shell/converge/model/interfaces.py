"""Interfaces between the simulated processes and the models that decide and store objects.

Each interface has two implementations. The fast ones of ``grove converge`` look only at what a decision depends on and
cache decisions. The full ones of the tests execute whole requests on an object server. Both lead to the same run
(CV-003).
"""

from dataclasses import dataclass
from enum import Enum, unique
from typing import Any, Final, Protocol

from grove_core.areas.domain_cliques.verdicts import ResultKind

CONTROLLER_NUMBER: Final = -1
"""The number of the controller among the writers; daemons are numbered from 0."""
DOMAIN_NUMBER: Final = 0
"""The number of the domain among the objects; cliques are numbered from 1."""


class CliqueSummary(Protocol):
    """One clique at one version of its registry.

    Attributes:
        count: number of entries.
        ready: number of Ready entries.
        has_duplicates: whether two entries have one index.
    """

    @property
    def count(self) -> int: ...  # noqa: D102 - see the class

    @property
    def ready(self) -> int: ...  # noqa: D102 - see the class

    @property
    def has_duplicates(self) -> bool: ...  # noqa: D102 - see the class


@dataclass(slots=True, eq=False)
class ModelWrite:
    """A write of a daemon or of the controller.

    Attributes:
        writer: number of the daemon, or ``CONTROLLER_NUMBER``.
        object_number: of the object.
        index, ready: of the daemon's entry.
        moves: whether the daemon changes its index.
        records: number of clique records, in a write of the controller.
        base: the version that the object must have, 0 if it must not exist; None for any.
        content: what else the object store needs.
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
    """An action of a daemon without a request."""

    START = "start"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Decide again at this time, in microseconds."""

    until: int


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of a write; after a success with the version and a view of the written object."""

    kind: ResultKind
    version: int = 0
    view: Any = None


class DaemonModel(Protocol):
    """State and decisions of one daemon. Times are in microseconds; ``jitter`` is a factor around 1."""

    def on_event(self, version: int, view: Any, at: int, jitter: float) -> bool:  # noqa: ANN401 - a view of its store
        """Apply a watch event or the first list; the view is None if there is no object.

        Returns:
            Whether the daemon has to decide.
        """
        ...

    def on_result(self, write: ModelWrite, result: WriteResult, at: int, jitter: float) -> None:
        """Apply the result of the daemon's write."""
        ...

    def on_fabric_start(self) -> None:
        """Note that its fabric daemon was started or restarted, and is not ready yet."""
        ...

    def on_fabric_ready(self) -> None:
        """Note that its fabric daemon is ready."""
        ...

    def decide(self, at: int) -> ModelWrite | LocalAction | WakeAt:
        """Return the next action."""
        ...


class ControllerModel(Protocol):
    """State and decisions of the controller."""

    def on_event(self, object_number: int, version: int, clique: int | None, view: Any) -> None:  # noqa: ANN401 - as above
        """Apply a watch event; ``clique`` is the changed one, None if only the status of the domain changed."""
        ...

    def decide(self, at: int) -> ModelWrite | None:
        """Return the next write; None if there is nothing to write."""
        ...

    def on_result(self, write: ModelWrite, result: WriteResult) -> None:
        """Apply the result of its write."""
        ...


class ObjectStore(Protocol):
    """The stored objects, each in its latest state."""

    @property
    def latest(self) -> int:
        """The latest version of the whole store."""
        ...

    def version(self, object_number: int) -> int:
        """Return the version of an object; 0 if it does not exist."""
        ...

    def view(self, object_number: int, clique: int) -> Any:  # noqa: ANN401 - as above
        """Return a clique as an object shows it; None if the object does not exist."""
        ...

    def changes(self, write: ModelWrite) -> bool:
        """Return whether a write changes anything."""
        ...

    def apply(self, write: ModelWrite) -> None:
        """Store a write as a new version."""
        ...

    def is_domain_ready(self) -> bool:
        """Return whether the stored status of the domain is Ready."""
        ...
