"""Internal errors of Grove for a log line: the exception, and where in the code of Grove it was raised."""

import traceback
from pathlib import Path
from typing import Final

_OURS: Final = ("grove_core", "grove_shell")


def described(fault: BaseException) -> str:
    """Return type, message and place of an exception on one line (OP-027, WH-009)."""
    words = " ".join(f"{type(fault).__name__}: {fault}".split())
    places = own_frames(traceback.extract_tb(fault.__traceback__))
    return f"{words} (at {places[0]})" if places else words


def own_frames(stack: traceback.StackSummary) -> list[str]:
    """Return file and line of the frames that are code of Grove, the innermost first."""
    split = [(Path(frame.filename).parts, frame.lineno) for frame in reversed(stack)]
    return [f"{'/'.join(parts[parts.index(top) :])}:{line}" for parts, line in split for top in _OURS if top in parts]
