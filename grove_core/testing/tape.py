"""A byte string from which choices are read: cheap to draw, and Hypothesis shrinks it.

Past its end a tape always gives the first choice, so shorter tapes are simpler clusters; list the plain choice first.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")
_ONE_IN: Final = 16


class ByteChoices:
    """Choices, one byte each."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def byte(self) -> int:
        """The next byte; 0 past the end."""
        value = self.data[self.position] if self.position < len(self.data) else 0
        self.position += 1
        return value

    def pick(self, choices: Sequence[T]) -> T:
        """One of some choices; the first is the plain one."""
        return choices[self.byte() % len(choices)]

    def count(self, most: int) -> int:
        """A number from 0 to ``most``."""
        return self.byte() % (most + 1)

    def rarely(self) -> bool:
        """True about one time in sixteen."""
        return self.byte() % _ONE_IN == _ONE_IN - 1

    @property
    def spent(self) -> bool:
        """Whether the tape has run out."""
        return self.position >= len(self.data)
