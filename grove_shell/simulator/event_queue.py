"""The queue of future events of a simulation; nothing sleeps."""

from collections.abc import Callable
from heapq import heappop, heappush


class EventQueue:
    """Callbacks by time; those of the same time run in the order in which they were scheduled.

    Attributes:
        now: the current time since the start, in the unit of all scheduled times (milliseconds in the simulator).
    """

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._serial = 0

    def schedule(self, at: int, callback: Callable[[], None]) -> None:
        """Schedule a callback at a time; at the current time, if that has passed."""
        self._serial += 1
        heappush(self._heap, (max(at, self.now), self._serial, callback))

    def schedule_after(self, span: int, callback: Callable[[], None]) -> None:
        """Schedule a callback after a span."""
        self.schedule(self.now + span, callback)

    @property
    def next_at(self) -> int | None:
        """The time of the next callback; None for an empty queue."""
        return self._heap[0][0] if self._heap else None

    def run_next(self) -> None:
        """Advance to the next time, and run all callbacks of that time."""
        self.now = self._heap[0][0]
        while self._heap and self._heap[0][0] == self.now:
            heappop(self._heap)[2]()
