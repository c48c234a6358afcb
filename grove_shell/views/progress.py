"""A progress line with a count, on terminals only, for work that takes longer than a moment."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from grove_shell.page import is_stderr_terminal, overwrite_line

_PATIENCE: Final = 0.7
_EVERY: Final = 500


@contextmanager
def progress_counter(doing: str, what: str) -> Iterator[Callable[[Any], None] | None]:
    """Yield a function that counts its calls and shows the count on standard error.

    Args:
        doing: the first word of the line, as ``reading``.
        what: what is counted, as ``objects``.

    Yields:
        The function; None where standard error is no terminal.
    """
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
