"""Who can run a point: the seam between the model and a real API server."""

from dataclasses import dataclass
from typing import Protocol

from grove_shell.converge.model.costs import Costs
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a user may ask of an engine besides points; each takes what concerns it.

    Attributes:
        costs: of the model.
        jobs: how many runs at once, where runs do not disturb each other.
        kubeconfig: of a cluster.
        store: where the metrics of its store are; empty where nobody can read them.
    """

    costs: Costs
    jobs: int
    kubeconfig: str | None = None
    store: str = ""


class Engine(Protocol):
    """Runs points. It is handed to other processes, so it can be pickled."""

    @property
    def world(self) -> str:
        """The word that its runs carry: ``model`` or ``cluster``."""
        ...

    @property
    def setting(self) -> str:
        """What its runs say of where they were run; runs of another setting are not compared with them."""
        ...

    @property
    def at_once(self) -> int:
        """How many runs may be under way at once, each in a process of its own; 1 is in this process."""
        ...

    def run(self, point: Point) -> Run:
        """Run one point to its end; never raises because a run did not converge."""
        ...
