"""Reads and writes times as Kubernetes does (RFC 3339); reads no clock."""

import re
from datetime import UTC, datetime

_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d"
_RFC3339 = re.compile(rf"{_DAY}[Tt]{_CLOCK}:\d\d(?:\.\d+)?(?:[Zz]|[+-]{_CLOCK})", re.ASCII)


def parse_time(text: str) -> datetime | None:
    """Read an RFC 3339 time as aware UTC, to the microsecond; None if it is not one (no such day, no offset)."""
    if _RFC3339.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_time(moment: datetime) -> str:
    """Write a time in UTC with a trailing ``Z``, with fractions of a second only where there are any."""
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if moment.microsecond else text) + "Z"


def whole_seconds(moment: datetime) -> datetime:
    """Cut to the second, as Kubernetes stores condition times (GT-019)."""
    return moment.replace(microsecond=0)
