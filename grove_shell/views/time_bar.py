"""A bar that fills with virtual time; on a terminal only, and not before there is something to wait for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

from grove_shell.page import is_stderr_terminal
from grove_shell.simulator.virtual_time import SECOND, span_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Tick: TypeAlias = Callable[[int, int], None]

_PATIENCE: Final = 0.7
_EVERY: Final = 0.1


@contextmanager
def time_bar() -> Iterator[Tick | None]:
    """Yields what to call with how far a run is and how far it goes at least; None where nobody would see it."""
    if not is_stderr_terminal():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.tick
    finally:
        bar.stop()


class _Bar:
    """The bar, once it is worth showing."""

    def __init__(self) -> None:
        self._next = monotonic() + _PATIENCE
        self._shown: tuple[Progress, TaskID] | None = None

    def tick(self, at: int, goal: int) -> None:
        """The run has come to a moment; both in milliseconds since the start."""
        if monotonic() < self._next:
            return
        self._next = monotonic() + _EVERY
        progress, task = self._shown = self._shown or _begun()
        words = f"{span_text(at // SECOND * SECOND)} of virtual time"
        progress.update(task, description=words, completed=at, total=max(at, goal) if goal else None)

    def stop(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown[0].stop()


def _begun() -> "tuple[Progress, TaskID]":
    from rich.console import Console  # noqa: PLC0415 - only terminals need it
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - as above

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task("", total=None)
