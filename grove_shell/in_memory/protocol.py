"""What every world offers to a loop that plays rounds in it: trying, and looking.

A round is a look, a plan, and an attempt for each step of it that may be tried. Whoever writes another world implements
these two classes; a loop that has to wait for answers tries steps without them (``execute_concurrently``).
"""

from datetime import datetime
from typing import Protocol

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Step
from grove_core.snapshot.snapshot import Snapshot


class Executor(Protocol):
    """Where steps can be tried."""

    def attempt(self, step: Step) -> Attempt:
        """Try one write and say how the world answered.

        Called at most once for each step of a plan, one call after the other, in the order of the plan's stages. A step
        may never come: what rests on one that failed is left alone in its round (``controller/execute_plan.py``:
        PL-014, PL-021, PL-023). The same step may come again in a later round, made of a later look.

        Args:
            step: as it was planned. Who changes or deletes something names the uid and the version that were judged,
                and a world that has another one by now answers with a conflict.

        Returns:
            The step with its outcome. What the world refuses, or does not answer, is an outcome; nothing is raised.
        """
        ...


class ClusterAccess(Executor, Protocol):
    """Observe a root, and try steps on it."""

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """What the root can see now; None if it is gone.

        Called once in each round, after its steps were tried, by whoever has the plan of the round before. It may lag
        behind what was attempted: an accepted write that it does not show yet counts by its attempt (PL-018).

        Args:
            root: whose part of the world is asked for.
            now: the clock of the look; never earlier than that of the one before.
            attempts: what was not refused in the last round, and everything refused so far; the snapshot has them all.
        """
        ...
