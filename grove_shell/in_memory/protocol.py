"""The interface of a cluster that a loop plans and writes on: observe, and execute steps.

A round is a snapshot, a plan, and an attempt of each step that may be tried. Another model of a cluster implements
these two classes. A loop that waits for responses executes steps without them (``execute_concurrently``).
"""

from datetime import datetime
from typing import Protocol

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Step
from grove_core.snapshot.snapshot import Snapshot


class Executor(Protocol):
    """Executes steps."""

    def attempt(self, step: Step) -> Attempt:
        """Execute a step, and return its outcome.

        Called at most once for each step of a plan, one call after the other, in the order of the plan's stages. A step
        may not be called at all: what depends on a failed step is skipped in its round (``controller/execute_plan.py``:
        PL-014, PL-021, PL-023). The same step may come again in a later round.

        Args:
            step: of the plan. A change or deletion names the uid and version that were judged; the outcome is a
                conflict where the object has another one by now.

        Returns:
            The step with its outcome. A refusal and a missing response are outcomes; nothing is raised.
        """
        ...


class ClusterAccess(Executor, Protocol):
    """Returns snapshots of a root, and executes steps."""

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set now; None if it does not exist.

        Called once in each round, after the steps of the round before. It may lag behind: an accepted write that it
        does not show yet counts by its attempt (PL-018).

        Args:
            root: the address of the set.
            now: the clock of the snapshot; never earlier than that of the one before.
            attempts: the attempts of the last round that were not refused, and all refused ones; put into the snapshot.
        """
        ...
