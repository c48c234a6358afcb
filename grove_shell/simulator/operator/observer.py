"""The callbacks of an operator in a run."""

from typing import Protocol

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_shell.simulator.cluster.topologies import RoundSnapshot
from grove_shell.simulator.recording.history import Actor


class OperatorObserver(Protocol):
    """Gets the actions of an operator; the timeline recorder and the checks are observers."""

    def on_start(self, actor: Actor, configuration: Configuration, objection: Reason | None) -> None:
        """A process started, or exited before its first round because of an objection."""
        ...

    def on_plan(self, actor: Actor, seen: RoundSnapshot, plan: Plan) -> None:
        """A plan was made; its steps are executed next."""
        ...

    def on_write(self, actor: Actor, seen: RoundSnapshot, attempt: Attempt) -> None:
        """A step was executed or failed."""
        ...

    def on_crash(self, actor: Actor, writes: int) -> None:
        """The process crashed after this number of writes in its last round."""
        ...
