"""A token bucket: a rate of requests per second, and a burst."""

import asyncio
from collections.abc import Awaitable, Callable


class RateLimiter:
    """Limits requests per second; a caller waits for its token."""

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Start with a full bucket.

        Args:
            rate: tokens per second.
            burst: the most tokens.
            clock, sleep: those of the event loop by default; others for virtual time.
        """
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._sleep = sleep
        self._left = float(burst)
        self._at: float | None = None

    async def take_token(self) -> None:
        """Take one token; wait until there is one."""
        now = self._clock() if self._clock is not None else asyncio.get_running_loop().time()
        if self._at is not None:
            self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        self._left -= 1
        if self._left < 0:
            await self._sleep(-self._left / self._rate)
