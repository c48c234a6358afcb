"""The newest time in an object, which is a lower bound of the time of observation (SM-098)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from grove_core.kernel.time_formats import parse_time


def newest_timestamp_in_object(raw: Mapping[str, Any]) -> datetime | None:
    """Return the newest time of creation, of a managed field or in the status of an object; None without one. Total.

    The spec, annotations and ``deletionTimestamp`` are ignored: their times may lie in the future.
    """
    metadata = raw.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    times = _times_in([known.get("creationTimestamp"), known.get("managedFields"), raw.get("status")])
    return max(times, default=None)


def _times_in(value: object) -> Iterator[datetime]:
    if isinstance(value, str):
        found = parse_time(value)
        if found is not None:
            yield found
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _times_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _times_in(one)
