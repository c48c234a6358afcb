"""Progress on standard error, on a terminal only: a count, a bar of runs, and a bar of virtual time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grove_shell.simulator.virtual_time import SECOND, go_duration_text
from grove_shell.styled_text_page import is_stderr_terminal, overwrite_terminal_line
from grove_shell.views.formatting import count_with_noun

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_SHOWN_AFTER: Final = 0.7
_COUNTED_EVERY: Final = 500
_DRAWN_EVERY: Final = 0.1


@contextmanager
def progress_counter(
    doing: str, noun: str, every: int = _COUNTED_EVERY, size: Callable[[Any], int] = lambda _part: 1
) -> Iterator[Callable[[Any], None] | None]:
    """Yield a function that counts what it is called with and shows the count on standard error.

    Args:
        every: after how many of them the count is shown again.
        size: returns how many an argument counts as.

    Yields None where standard error is no terminal.
    """
    if not is_stderr_terminal():
        yield None
        return
    seen, start, drawn = 0, monotonic(), False

    def count(part: object) -> None:
        nonlocal seen, drawn
        before, seen = seen, seen + size(part)
        if before // every < seen // every and monotonic() - start > _SHOWN_AFTER:
            overwrite_terminal_line(f"{doing}: {count_with_noun(seen, noun)}")
            drawn = True

    try:
        yield count
    finally:
        if drawn:
            overwrite_terminal_line("")


Tick: TypeAlias = Callable[[int, int], None]
"""Called with the virtual time of a run and its earliest possible end, both in milliseconds."""


@contextmanager
def progress_bar(count: int, what: str) -> Iterator[Callable[[], None]]:
    """Show a bar of ``count`` items; yields the function to call after each item."""
    if not is_stderr_terminal():
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415 - only terminals need it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - as above

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=count)
        yield lambda: progress.advance(task)


@contextmanager
def virtual_time_bar() -> Iterator[Tick | None]:
    """Show a bar of virtual time once a run takes long; yields None where standard error is no terminal (SM-076)."""
    if not is_stderr_terminal():
        yield None
        return
    bar = _VirtualTimeBar()
    try:
        yield bar.tick
    finally:
        bar.stop()


class _VirtualTimeBar:
    """A bar that appears only after a while."""

    def __init__(self) -> None:
        self._next = monotonic() + _SHOWN_AFTER
        self._shown: tuple[Progress, TaskID] | None = None

    def tick(self, at: int, goal: int) -> None:
        """Update the bar, at most ten times a second."""
        if monotonic() < self._next:
            return
        self._next = monotonic() + _DRAWN_EVERY
        progress, task = self._shown = self._shown or _started()
        words = f"{go_duration_text(at // SECOND * SECOND)} of virtual time"
        progress.update(task, description=words, completed=at, total=max(at, goal) if goal else None)

    def stop(self) -> None:
        """Remove the bar."""
        if self._shown is not None:
            self._shown[0].stop()


def _started() -> "tuple[Progress, TaskID]":
    from rich.console import Console  # noqa: PLC0415 - only terminals need it
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - as above

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task("", total=None)
