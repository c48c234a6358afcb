"""The processor of the server: jobs in the order in which they come, so many at once as there are cores."""

from collections import deque
from collections.abc import Callable
from functools import partial

from grove_shell.simulator.event_queue import EventQueue

Begin = Callable[[], int]
Done = Callable[[], None]


class Processor:
    """Cores that work off jobs. What a job costs is found out when it begins, for it may depend on what is there then.

    Attributes:
        busy_us: processor time spent so far.
    """

    def __init__(self, agenda: EventQueue, cores: int | None) -> None:
        """Begin idle.

        Args:
            agenda: in microseconds.
            cores: None for as many as there are jobs.
        """
        self.busy_us = 0
        self._agenda = agenda
        self._idle = cores
        self._queue: deque[tuple[Begin, Done]] = deque()

    def submit(self, begin: Begin, done: Done) -> None:
        """Have a job done.

        Args:
            begin: called when a core takes it; says how many microseconds it takes.
            done: called when it is finished.
        """
        if self._idle is None:
            self._take(begin, done)
        elif self._idle:
            self._idle -= 1
            self._take(begin, done)
        else:
            self._queue.append((begin, done))

    def _take(self, begin: Begin, done: Done) -> None:
        cost = begin()
        self.busy_us += cost
        self._agenda.schedule_after(cost, partial(self._finished, done))

    def _finished(self, done: Done) -> None:
        if self._queue:
            self._take(*self._queue.popleft())
        elif self._idle is not None:
            self._idle += 1
        done()
