"""What the logs of all processes have in common: how they tell the time, and why something is done."""

from datetime import datetime

from grove_core.document.writing import reason_as_json
from grove_core.kernel.reasons import Reason


def time_of_log(moment: datetime) -> str:
    """A moment, to the millisecond."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def reason_of_log(reason: Reason) -> dict[str, str]:
    """A reason without what its sentence tells."""
    whole = reason_as_json(reason)
    return {key: whole[key] for key in ("rule", "requirement", "sentence")}
