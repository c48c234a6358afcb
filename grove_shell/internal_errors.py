"""Faults of Grove itself, as logs tell them: what happened, and the place in our code that a report should name."""

import traceback
from pathlib import Path
from typing import Final

_OURS: Final = ("grove_core", "grove_shell")


def described(fault: BaseException) -> str:
    """On one line: the kind of a fault, its words, and where in the code of Grove it was raised (OP-027, WH-009)."""
    words = " ".join(f"{type(fault).__name__}: {fault}".split())
    places = own_frames(traceback.extract_tb(fault.__traceback__))
    return f"{words} (at {places[0]})" if places else words


def own_frames(stack: traceback.StackSummary) -> list[str]:
    """The places of a stack that are of Grove, the innermost first."""
    split = [(Path(frame.filename).parts, frame.lineno) for frame in reversed(stack)]
    return [f"{'/'.join(parts[parts.index(top) :])}:{line}" for parts, line in split for top in _OURS if top in parts]
