"""The model as an engine: every run a function of its point and the costs."""

from dataclasses import dataclass

from grove_shell.converge.engine import Engine, EngineOptions
from grove_shell.converge.model.costs import Costs
from grove_shell.converge.model.model_run import WORLD, run_point, setting_of
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run


@dataclass(frozen=True, slots=True)
class ModelEngine:
    """Plays points in virtual time."""

    costs: Costs
    at_once: int

    @property
    def world(self) -> str:
        """The word that its runs carry."""
        return WORLD

    @property
    def setting(self) -> str:
        """What its runs say of where they were run."""
        return setting_of(self.costs)

    def run(self, point: Point) -> Run:
        """Play one point."""
        return run_point(point, self.costs)


def engine_for(wishes: EngineOptions) -> Engine:
    """The engine of this world."""
    return ModelEngine(wishes.costs, wishes.jobs)
