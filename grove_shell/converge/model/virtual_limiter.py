"""The rate limiter of a client, in virtual time."""

from grove_shell.converge.points import Point

_SECOND = 1_000_000


class VirtualLimiter:
    """A token bucket of one client, in microseconds; full at the start, and unlimited if the point has no rate."""

    __slots__ = ("_due", "_interval", "_slack")

    def __init__(self, point: Point) -> None:
        self._interval = round(_SECOND / point.rate) if point.rate else 0
        self._slack = (point.burst - 1) * self._interval
        self._due = 0

    def take(self, now: int) -> int:
        """Take a token; return when a request that is built now may be sent."""
        sent_at = max(now, self._due - self._slack)
        self._due = max(self._due, now) + self._interval
        return sent_at
