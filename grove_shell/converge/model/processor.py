"""The processor of the server: jobs in order of arrival, as many at once as there are cores."""

from collections import deque
from collections.abc import Callable
from functools import partial

from grove_shell.simulator.event_queue import EventQueue

CostOf = Callable[[], int]
OnDone = Callable[[], None]


class Processor:
    """Cores that work off jobs. The cost of a job is computed when it starts, since it may depend on the state then.

    Attributes:
        busy_us: processor time spent so far, in microseconds.
    """

    def __init__(self, queue: EventQueue, cores: int | None) -> None:
        """Start idle.

        Args:
            queue: of events, in microseconds.
            cores: None for as many as there are jobs.
        """
        self.busy_us = 0
        self._queue = queue
        self._idle = cores
        self._jobs: deque[tuple[CostOf, OnDone]] = deque()

    def submit(self, cost_of: CostOf, on_done: OnDone) -> None:
        """Queue a job.

        Args:
            cost_of: called when a core starts the job; returns its microseconds.
            on_done: called when the job is finished.
        """
        if self._idle is None:
            self._start(cost_of, on_done)
        elif self._idle:
            self._idle -= 1
            self._start(cost_of, on_done)
        else:
            self._jobs.append((cost_of, on_done))

    def _start(self, cost_of: CostOf, on_done: OnDone) -> None:
        cost = cost_of()
        self.busy_us += cost
        self._queue.schedule_after(cost, partial(self._finish, on_done))

    def _finish(self, on_done: OnDone) -> None:
        if self._jobs:
            self._start(*self._jobs.popleft())
        elif self._idle is not None:
            self._idle += 1
        on_done()
