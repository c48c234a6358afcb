"""How every daemon behaves towards a server and the time: its limits, and a clock that does not jump."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

REQUESTS_PER_SECOND: Final = 5.0
BURST: Final = 10
REQUEST_TIMEOUT_S: Final = 10.0


class MonotonicClock:
    """The time of day, which afterwards only goes on evenly: a clock that is set must not look like a delay."""

    def __init__(self) -> None:
        """Begin now."""
        self._start = datetime.now(UTC)
        self._at = time.monotonic()

    def __call__(self) -> datetime:
        """The time now."""
        return self._start + timedelta(seconds=time.monotonic() - self._at)
