"""The engine that runs points in the model; a run is a function of its point and the costs."""

from dataclasses import dataclass

from grove_shell.converge.engine import Engine, EngineOptions
from grove_shell.converge.model.costs import Costs
from grove_shell.converge.model.model_run import WORLD, run_point, setting_of
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run


@dataclass(frozen=True, slots=True)
class ModelEngine:
    """See :class:`Engine`."""

    costs: Costs
    max_parallel: int

    @property
    def world(self) -> str:
        """See :class:`Engine`."""
        return WORLD

    @property
    def setting(self) -> str:
        """See :class:`Engine`."""
        return setting_of(self.costs)

    def run(self, point: Point) -> Run:
        """See :class:`Engine`."""
        return run_point(point, self.costs)


def engine_for(options: EngineOptions) -> Engine:
    """Return the engine of the model."""
    return ModelEngine(options.costs, options.jobs)
