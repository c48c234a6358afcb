"""An input that breaks a promise, made smaller while it breaks the same one at the same place."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

SECONDS: Final = 20.0
_OFFERS: Final = (None, "", 0)


def minimized(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """As small as the time allows: parts of a JSON value first, then lines, then runs of bytes."""
    end = time.monotonic() + SECONDS
    with suppress(ValueError, RecursionError):
        data = _smaller_value(data, fails, end)
    size = len(data) // 2
    while size and time.monotonic() < end:
        at = 0
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return data


def _smaller_value(data: bytes, fails: Callable[[bytes], bool], end: float) -> bytes:
    value = json.loads(data)
    written = json.dumps(value).encode()
    if not fails(written):
        return data
    going = True
    while going:
        going = False
        for inside, key in list(_places(value)):
            if time.monotonic() > end:
                return written
            smaller = _without(value, inside, key, fails)
            if smaller is not None:
                written, going = smaller, True
                break
    return written


def _without(value: Any, inside: Any, key: Any, fails: Callable[[bytes], bool]) -> bytes | None:
    """The text without a part; None, and the value as it was, where that does not fail."""
    kept = list(inside.items()) if isinstance(inside, dict) else list(inside)
    del inside[key]
    written = json.dumps(value).encode()
    if fails(written):
        return written
    inside.clear()
    if isinstance(inside, dict):
        inside.update(kept)
    else:
        inside.extend(kept)
    return None


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every part, the largest first."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(reversed(range(len(value))))
        yield from ((value, key) for key in keys)
        for key in keys:
            yield from _places(value[key])
