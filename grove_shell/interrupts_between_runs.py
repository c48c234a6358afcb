"""Interrupts (SIGINT) that wait for the end of a run."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_between_runs() -> Iterator[Callable[[], bool]]:
    """Within the block the first SIGINT ends no run; the second one raises KeyboardInterrupt at once.

    Only for the main thread, as all signal handlers in Python.

    Yields:
        A function that returns whether there was an interrupt.
    """
    interrupted = False

    def note(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    earlier = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: interrupted
    finally:
        signal.signal(signal.SIGINT, earlier)
