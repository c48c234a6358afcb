"""What every world offers, be it files, memory or a real API server."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Step
from grove_core.snapshot.snapshot import Snapshot


class Attempting(Protocol):
    """Where steps can be tried."""

    def attempt(self, step: Step) -> Attempt:
        """Try one write and say how the world answered; nothing is raised for what the world refuses."""
        ...


class World(Attempting, Protocol):
    """Observe a root, and try steps on it."""

    def roots(self) -> Iterable[Ref]:
        """Every root there is, sorted."""
        ...

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """What the root can see now; None if it is gone."""
        ...
