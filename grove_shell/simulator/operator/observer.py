"""Who follows what an operator of a run does."""

from typing import Protocol

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_shell.simulator.cluster.topologies import RoundSnapshot
from grove_shell.simulator.recording.history import Actor


class OperatorObserver(Protocol):
    """Who follows what an operator does: the storyteller, and the checks."""

    def on_start(self, actor: Actor, configuration: Configuration, objection: Reason | None) -> None:
        """A process began, or ended before its first look because of an objection."""
        ...

    def on_plan(self, actor: Actor, seen: RoundSnapshot, plan: Plan) -> None:
        """A plan was made, and will be tried now."""
        ...

    def on_write(self, actor: Actor, seen: RoundSnapshot, attempt: Attempt) -> None:
        """A step was tried."""
        ...

    def crashed(self, actor: Actor, writes: int) -> None:
        """The process ended, after so many writes of its last round."""
        ...
