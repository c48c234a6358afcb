"""What a screen follows: the input to plan, whether it changed, and why it may be out of date."""

from collections.abc import Callable
from typing import Protocol

from grove_shell.actions.command_input import InputSource


class FollowedInput(Protocol):
    """A cluster or files that change."""

    @property
    def trouble(self) -> str:
        """Why the input may be out of date, such as a lost connection; empty where it is not."""

    async def follow(self, changed: Callable[[], None]) -> None:
        """Follow until cancelled; call ``changed`` after every change of the input or of the trouble."""

    async def source(self) -> InputSource:
        """Return the input as it is now; waits until there is one.

        Raises:
            CommandFailed: it cannot be read.
        """
