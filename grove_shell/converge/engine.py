"""The interface of engines, which run points: the model and a real API server."""

from dataclasses import dataclass
from typing import Protocol

from grove_shell.converge.model.costs import Costs
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options of engines; each engine reads those it needs.

    Attributes:
        costs: of the model.
        jobs: parallel runs of the model.
        kubeconfig: of the cluster.
        store: URL of the metrics of its etcd; empty if they are not accessible.
    """

    costs: Costs
    jobs: int
    kubeconfig: str | None = None
    store: str = ""


class Engine(Protocol):
    """Runs points. It is sent to other processes, so it must be picklable."""

    @property
    def world(self) -> str:
        """Where its runs take place: ``model`` or ``cluster``."""
        ...

    @property
    def setting(self) -> str:
        """Machine, versions or constants; runs with different settings are not comparable."""
        ...

    @property
    def max_parallel(self) -> int:
        """The most parallel runs, each in a process of its own; with 1 they run in this process."""
        ...

    def run(self, point: Point) -> Run:
        """Run one point; a run that does not converge is a result, not an error."""
        ...
