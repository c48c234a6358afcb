"""Faults of Grove itself, as logs tell them: what happened, and the place in our code that a report should name."""

import traceback
from pathlib import Path
from typing import Final

_OURS: Final = ("grove_core", "grove_shell")


def told(fault: BaseException) -> str:
    """On one line: the kind of a fault, its words, and where in the code of Grove it was raised (OP-027, WH-009)."""
    words = " ".join(f"{type(fault).__name__}: {fault}".split())
    for frame in reversed(traceback.extract_tb(fault.__traceback__)):
        parts = Path(frame.filename).parts
        for top in _OURS:
            if top in parts:
                return f"{words} (at {'/'.join(parts[parts.index(top) :])}:{frame.lineno})"
    return words
