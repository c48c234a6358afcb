"""Log lines of all processes: writing a line, the format of times and of reasons."""

import traceback
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, TextIO

from grove_core.document.step_writing import reason_as_json
from grove_core.kernel.reasons import Reason

_OURS: Final = ("grove_core", "grove_shell")


def error_on_one_line(fault: BaseException) -> str:
    """Return type, message and place of an exception on one line (OP-023, WH-008)."""
    words = " ".join(f"{type(fault).__name__}: {fault}".split())
    places = grove_stack_frames(traceback.extract_tb(fault.__traceback__))
    return f"{words} (at {places[0]})" if places else words


def grove_stack_frames(stack: traceback.StackSummary) -> list[str]:
    """Return file and line of the frames that are code of Grove, the innermost first."""
    split = [(Path(frame.filename).parts, frame.lineno) for frame in reversed(stack)]
    return [f"{'/'.join(parts[parts.index(top) :])}:{line}" for parts, line in split for top in _OURS if top in parts]


def format_log_timestamp(moment: datetime) -> str:
    """Return a time in UTC with milliseconds."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def write_log_line(out: TextIO | None, line: str) -> None:
    """Write one line; a line that cannot be written is dropped (OP-064).

    Args:
        out: the stream; None where the process was started with standard error closed.
    """
    if out is not None:
        with suppress(OSError):
            out.write(f"{line}\n")
            out.flush()


def reason_log_fields(reason: Reason) -> dict[str, str]:
    """Return rule, requirement and sentence of a reason."""
    whole = reason_as_json(reason)
    return {key: whole[key] for key in ("rule", "requirement", "sentence")}
