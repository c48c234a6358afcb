"""Log lines of all processes: writing a line, the format of times and of reasons."""

from contextlib import suppress
from datetime import datetime
from typing import TextIO

from grove_core.document.writing import reason_as_json
from grove_core.kernel.reasons import Reason


def log_time(moment: datetime) -> str:
    """Return a time in UTC with milliseconds."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def write_line(out: TextIO | None, line: str) -> None:
    """Write one line; a line that cannot be written is dropped (OP-090).

    Args:
        out: the stream; None where the process was started with standard error closed.
        line: without its newline.
    """
    if out is not None:
        with suppress(OSError):
            out.write(f"{line}\n")
            out.flush()


def log_reason(reason: Reason) -> dict[str, str]:
    """Return rule, requirement and sentence of a reason."""
    whole = reason_as_json(reason)
    return {key: whole[key] for key in ("rule", "requirement", "sentence")}
