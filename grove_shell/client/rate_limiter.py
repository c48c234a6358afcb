"""A token bucket: so many requests a second, and so many at once after a rest."""

import asyncio
from collections.abc import Awaitable, Callable


class RateLimiter:
    """Tokens that come back with time; whoever takes one too many waits for it."""

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin full.

        Args:
            rate: tokens a second.
            burst: how many there are at most.
            clock, sleep: of the event loop, unless somebody else's time counts.
        """
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._sleep = sleep
        self._left = float(burst)
        self._at: float | None = None

    async def take(self) -> None:
        """Take one token, and wait until it is there."""
        now = self._clock() if self._clock is not None else asyncio.get_running_loop().time()
        if self._at is not None:
            self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        self._left -= 1
        if self._left < 0:
            await self._sleep(-self._left / self._rate)
