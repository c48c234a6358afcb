"""What is to happen, in the order in which it happens; nothing sleeps."""

from collections.abc import Callable
from heapq import heappop, heappush


class EventQueue:
    """A heap of things to do, each at a moment; those of one moment in the order in which they were noted.

    Attributes:
        now: the current moment since the start, in milliseconds, or in whatever unit all moments are.
    """

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._serial = 0

    def schedule(self, moment: int, act: Callable[[], None]) -> None:
        """Note something for a moment; for now, if that has passed."""
        self._serial += 1
        heappush(self._heap, (max(moment, self.now), self._serial, act))

    def schedule_after(self, span: int, act: Callable[[], None]) -> None:
        """Note something for a while from now."""
        self.schedule(self.now + span, act)

    @property
    def next_at(self) -> int | None:
        """The next moment at which something happens; None if nothing will."""
        return self._heap[0][0] if self._heap else None

    def run_next(self) -> None:
        """Go to the next moment and do everything that is noted for it by then."""
        moment = self._heap[0][0]
        self.now = moment
        while self._heap and self._heap[0][0] == moment:
            heappop(self._heap)[2]()
