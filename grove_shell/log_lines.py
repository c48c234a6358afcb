"""What the logs of all processes have in common: their lines, how they tell the time, and why something is done."""

from contextlib import suppress
from datetime import datetime
from typing import TextIO

from grove_core.document.writing import reason_as_json
from grove_core.kernel.reasons import Reason


def log_time(moment: datetime) -> str:
    """A moment, to the millisecond."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def write_line(out: TextIO | None, line: str) -> None:
    """One line; one that cannot be written is lost, and nothing else with it (OP-090).

    Args:
        out: where to; None where the process was started with standard error closed.
        line: without its end.
    """
    if out is not None:
        with suppress(OSError):
            out.write(f"{line}\n")
            out.flush()


def log_reason(reason: Reason) -> dict[str, str]:
    """A reason without what its sentence tells."""
    whole = reason_as_json(reason)
    return {key: whole[key] for key in ("rule", "requirement", "sentence")}
