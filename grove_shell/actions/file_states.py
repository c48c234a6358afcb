"""The states of files, from which those that follow an input see that one was written (CL-098, WA-007)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

LOOK_EVERY: Final = 0.5  # s
FileStates: TypeAlias = tuple[tuple[str, int, int, int], ...]
"""Path, inode, size and time of the last change of each file."""


def file_states(names: Iterable[str]) -> FileStates:
    """Return the states of files and of all files in folders; a missing file has none."""
    return tuple(state for name in names for path in _files_in(Path(name)) if (state := _state_of(path)) is not None)


def _files_in(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(one for one in path.rglob("*") if not one.is_dir())
    else:
        yield path


def _state_of(path: Path) -> tuple[str, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns
