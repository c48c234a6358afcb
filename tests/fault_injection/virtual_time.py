"""An event loop with sockets on which waiting takes no time."""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta, tzinfo
from time import sleep
from typing import Any, Final, Self, TypeVar
from unittest import mock

from grove_shell.operator import event_recorder, json_log, reconcile_loop

BEGIN: Final = datetime(2026, 11, 20, 8, 0, 0, tzinfo=UTC)
_UNDER_WAY: Final = 0.0005  # seconds: bytes on the loopback are there at once, or a moment later
_PASSED_THE_TIME: Final = (reconcile_loop, event_recorder, json_log)

Result = TypeVar("Result")


class _Selector(selectors.DefaultSelector):
    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What came; where nothing did, the time that the loop would wait is over."""
        found = super().select(0)
        if found or timeout == 0:
            return found
        sleep(_UNDER_WAY)  # a selector would wait for a whole millisecond
        found = super().select(0)
        if not found:
            assert timeout is not None, "nothing would ever happen again"
            self.skipped += timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _Selector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.skipped


class _Clock(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(now().timestamp(), tz)


def seconds() -> float:
    """Of the clock of the loop that runs."""
    return asyncio.get_running_loop().time()


def now() -> datetime:
    """The same as a moment."""
    return BEGIN + timedelta(seconds=seconds())


def run_in_virtual_time(scenario: Coroutine[Any, Any, Result]) -> Result:
    """What a scenario comes to, the clocks of the operator showing the time of its loop."""
    clocks = [mock.patch.object(module, "datetime", _Clock) for module in _PASSED_THE_TIME]
    for clock in clocks:
        clock.start()
    try:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            return runner.run(scenario)
    finally:
        for clock in clocks:
            clock.stop()
