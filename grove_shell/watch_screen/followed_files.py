"""Files that are read again when they are written (WA-007)."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from grove_shell.actions.command_input import InputSource

_LOOK_EVERY: Final = 0.5  # s
FileState: TypeAlias = tuple[str, int, int, int]
"""Path, inode, size and time of the last change of a file."""


class FollowedFiles:
    """Files and folders, looked at twice a second.

    Attributes:
        trouble: always empty: what is wrong with a file is among the problems of its content.
    """

    trouble = ""

    def __init__(self, source: InputSource, *also: str) -> None:
        """Look at the files as they are.

        Args:
            also: other files whose changes count.
        """
        self._source = source
        self._names = (*source.filenames, *also)
        self._seen = file_states(self._names)

    async def follow(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` after each change of a file, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            seen = file_states(self._names)
            if seen != self._seen:
                self._seen = seen
                changed()

    async def source(self) -> InputSource:
        """Return the files."""
        return self._source


def file_states(names: tuple[str, ...]) -> tuple[FileState, ...]:
    """Return the states of files, and of every file in folders; a file that is missing has none."""
    return tuple(state for name in names for path in _files_in(Path(name)) if (state := _state_of(path)))


def _files_in(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(one for one in path.rglob("*") if not one.is_dir())
    else:
        yield path


def _state_of(path: Path) -> FileState | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns
