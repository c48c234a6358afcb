"""What a border is: where something comes in that others wrote."""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """One kind of input.

    Attributes:
        ways: by which it comes in; each input takes one of them.
        make: an input for a way, by chance.
        feed: passes an input in one way and returns the outcome in a word. Whatever it raises is a find.
    """

    ways: tuple[str, ...]
    make: Callable[[random.Random, str], bytes]
    feed: Callable[[str, bytes], str]


TargetFactory: TypeAlias = Callable[[Path], AbstractContextManager[FuzzTarget]]
"""Makes a border ready for use; it may write into the folder it is given."""
