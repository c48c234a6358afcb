"""Reads and writes times (RFC 3339) and Go durations (``4h``, ``1h30m``) as Kubernetes does; reads no clock."""

import re
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

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


def truncated_to_seconds(moment: datetime) -> datetime:
    """Cut to the second, as Kubernetes stores condition times (GT-019)."""
    return moment.replace(microsecond=0)


_NANOSECONDS: Final = MappingProxyType(
    {
        "h": 3_600_000_000_000,
        "m": 60_000_000_000,
        "s": 1_000_000_000,
        "ms": 1_000_000,
        "us": 1_000,
        "µs": 1_000,
        "μs": 1_000,
        "ns": 1,
    }
)
_PART: Final = re.compile(r"([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(h|ms|m|s|us|µs|μs|ns)")
_LONGEST: Final = 2**63 - 1
_MILLI: Final = 1_000  # in microseconds
_SECOND: Final = 1_000_000
_MOST_DIGITS: Final = 19  # of _LONGEST; a longer number overflows, and later decimals are finer than any unit shows
_ZEROS: Final = frozenset({"0", "+0"})


def parse_duration(text: str) -> timedelta | None:
    """Read a Go duration, strictly; None if it is not one, is negative, overflows Go's range or is finer than 1 us.

    GT-090. Accepts what Go's ``time.ParseDuration`` accepts (``4h``, ``1h30m``, ``1.5h``, ``0``), but no sign other
    than a leading plus. ``1d`` and ``1h-5m`` are not durations.
    """
    if text in _ZEROS:
        return timedelta()
    body = text.removeprefix("+")
    total, position = 0, 0
    while position < len(body):
        part = _PART.match(body, position)
        if part is None:
            return None
        whole, _, fraction = part[1].partition(".")
        unit = _NANOSECONDS[part[2]]
        whole, fraction = whole.lstrip("0"), fraction[:_MOST_DIGITS]
        if len(whole) > _MOST_DIGITS:
            return None
        total += int(whole or "0") * unit
        total += int(fraction or "0") * unit // 10 ** len(fraction)
        position = part.end()
    if position == 0 or total > _LONGEST or total % 1_000:
        return None
    return timedelta(microseconds=total // 1_000)


def format_go_duration(span: timedelta) -> str:
    """Write a span as Go's ``Duration.String`` does: ``4h0m0s``, ``1m30s``, ``90ms``, ``0s``; a minus if negative."""
    micros = span // timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    if micros == 0:
        return "0s"
    if micros < _MILLI:
        return f"{sign}{micros}µs"
    if micros < _SECOND:
        return f"{sign}{_decimal(micros, _MILLI)}ms"
    minutes, micros = divmod(micros, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(micros, _SECOND)}s"
    if minutes or hours:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def short_duration_text(span: timedelta) -> str:
    """Write a span without trailing zero units: ``4h``, ``2h2m``, ``1m30s``."""
    text = format_go_duration(span)
    if text.endswith("m0s"):
        text = text.removesuffix("0s")
    if text.endswith("h0m"):
        text = text.removesuffix("0m")
    return text


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    if not rest:
        return str(whole)
    digits = len(str(unit)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0")
