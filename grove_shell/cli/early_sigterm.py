"""SIGTERM before a server command has installed its own handler."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from grove_shell.exits import DONE


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Exit with 0 on SIGTERM, until the command installs its own handler (OP-094).

    The kernel drops SIGTERM for the first process of a container while it has no handler, so the kubelet would wait
    for the grace period and then kill it.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Exit at once: nothing was started, and a normal exit would wait for a thread in a DNS lookup."""
    os._exit(DONE)
