"""The client's limiter in virtual time: so many requests a second, and so many at once after a rest."""

from grove_shell.converge.points import Point

_SECOND = 1_000_000


class VirtualLimiter:
    """Tokens of one client, in microseconds; full at the start. Without a rate there is always one."""

    __slots__ = ("_due", "_every", "_slack")

    def __init__(self, point: Point) -> None:
        self._every = round(_SECOND / point.rate) if point.rate else 0
        self._slack = (point.burst - 1) * self._every
        self._due = 0

    def take(self, now: int) -> int:
        """The moment at which a request that is built now may be sent."""
        sent = max(now, self._due - self._slack)
        self._due = max(self._due, now) + self._every
        return sent
