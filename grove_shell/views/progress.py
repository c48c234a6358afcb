"""A line that counts, for work that takes long; on a terminal only, and not before there is something to wait for."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from grove_shell.page import is_stderr_terminal, overwrite_line

_PATIENCE: Final = 0.7
_EVERY: Final = 500


@contextmanager
def progress_counter(doing: str, what: str) -> Iterator[Callable[[Any], None] | None]:
    """Count calls and show the number on standard error; yields None where nobody would see it."""
    if not is_stderr_terminal():
        yield None
        return
    seen, start, drawn = 0, time.monotonic(), False

    def count(_item: object) -> None:
        nonlocal seen, drawn
        seen += 1
        if seen % _EVERY == 0 and time.monotonic() - start > _PATIENCE:
            overwrite_line(f"{doing}: {seen:,} {what}")
            drawn = True

    try:
        yield count
    finally:
        if drawn:
            overwrite_line("")
