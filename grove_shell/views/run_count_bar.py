"""A bar that fills with worlds, or with runs of one; on a terminal only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grove_shell.page import is_stderr_terminal


@contextmanager
def count_bar(count: int, what: str = "worlds") -> Iterator[Callable[[], None]]:
    """Yields what to call after each world."""
    if not is_stderr_terminal():
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415 - only terminals need it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - as above

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=count)
        yield lambda: progress.advance(task)
