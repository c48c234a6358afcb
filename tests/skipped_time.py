"""An event loop that skips the time in which it would only wait: pauses are exact, however busy the machine is."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Skipping(selectors.DefaultSelector):
    """Skips waiting.

    Attributes:
        skipped: how many seconds the loop would have waited so far.
    """

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing would ever happen again"
        self.skipped += max(timeout, 0)
        return super().select(0)


class SkippingLoop(asyncio.SelectorEventLoop):
    """Its clock goes on by what it skips and by nothing else; only for what does without sockets and threads."""

    def __init__(self) -> None:
        self._skipping = Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.skipped


def run_skipping_time(scenario: Coroutine[Any, Any, Result]) -> Result:
    """What a scenario comes to on a loop of its own, at moment 0."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(scenario)


def now() -> float:
    """Seconds of the clock of the loop that runs."""
    return asyncio.get_running_loop().time()
