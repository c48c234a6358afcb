"""A clock of wall time that never jumps."""

import time
from datetime import UTC, datetime, timedelta


class MonotonicClock:
    """Returns the wall time at its creation plus the monotonic time since, so that setting the clock delays nothing."""

    def __init__(self) -> None:
        """Read both clocks."""
        self._start = datetime.now(UTC)
        self._started = time.monotonic()

    def __call__(self) -> datetime:
        """Return the present time, aware UTC."""
        return self._start + timedelta(seconds=time.monotonic() - self._started)
