"""Commands that run until they are told to stop, told so before they listen for it."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from grove_shell.exits import DONE


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Leave with 0 where SIGTERM comes, until the command itself listens for it (OP-094).

    The first process of a container has no default for signals: the end would be passed over, and come with a kill.
    """
    if threading.current_thread() is not threading.main_thread():  # whose signals are none of its business
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """At once: nothing was begun, and a thread that looks up a name would be waited for."""
    os._exit(DONE)
