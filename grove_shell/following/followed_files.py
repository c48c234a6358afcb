"""Files that are read again when they are written (CL-098, WA-007)."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from grove_shell.actions.command_input import InputSource

_LOOK_EVERY: Final = 0.5  # s


class FollowedFiles:
    """Files, and all files in folders, looked at twice a second.

    Attributes:
        trouble: always empty: what is wrong with a file is among the problems of its content.
        unwatched: always empty.
    """

    trouble = ""
    unwatched = ""

    def __init__(self, source: InputSource, also: Iterable[str] = ()) -> None:
        """Look at the files as they are.

        Args:
            also: other files whose changes count.
        """
        self._source = source
        self._names = (*source.filenames, *also)
        self._seen = self._states()

    async def follow(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` after each change of a file, until cancelled; one that appears or vanishes counts too."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            seen = self._states()
            if seen != self._seen:
                self._seen = seen
                changed()

    async def source(self) -> InputSource:
        """Return the files."""
        return self._source

    def _states(self) -> list[tuple[str, int, int, int]]:
        """Return path, inode, size and time of the last change of each file; a missing file has none."""
        return [state for name in self._names for path in _files_in(Path(name)) for state in _state_of(path)]


def _files_in(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(one for one in path.rglob("*") if not one.is_dir())
    else:
        yield path


def _state_of(path: Path) -> Iterator[tuple[str, int, int, int]]:
    try:
        found = path.stat()
    except OSError:
        return
    yield str(path), found.st_ino, found.st_size, found.st_mtime_ns
