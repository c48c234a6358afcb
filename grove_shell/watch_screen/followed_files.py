"""Files that are read again when they are written (WA-007)."""

import asyncio
from collections.abc import Callable

from grove_shell.actions.command_input import InputSource
from grove_shell.actions.file_states import LOOK_EVERY, file_states


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
            await asyncio.sleep(LOOK_EVERY)
            seen = file_states(self._names)
            if seen != self._seen:
                self._seen = seen
                changed()

    async def source(self) -> InputSource:
        """Return the files."""
        return self._source
