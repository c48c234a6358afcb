"""Who follows what an operator of a run does."""

from typing import Protocol

from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_shell.simulator.cluster.topologies import Sight
from grove_shell.simulator.recording.history import Actor


class Follower(Protocol):
    """Who follows what an operator does: the storyteller, and the checks."""

    def began(self, actor: Actor, configuration: Configuration, objection: Reason | None) -> None:
        """A process began, or ended before its first look because of an objection."""
        ...

    def planned(self, actor: Actor, seen: Sight, plan: Plan) -> None:
        """A plan was made, and will be tried now."""
        ...

    def wrote(self, actor: Actor, seen: Sight, attempt: Attempt) -> None:
        """A step was tried."""
        ...

    def crashed(self, actor: Actor, writes: int) -> None:
        """The process ended, after so many writes of its last round."""
        ...
