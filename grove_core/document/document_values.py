"""Checks the types of values in a JSON plan.

A value of another type is a ValueError here, whose text is reported, and not a TypeError in later code.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from grove_core.kernel.frozen import MOST_LEVELS, FrozenMap, frozen
from grove_core.kernel.reasons import Fact
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.json_field_reader import short_json


class MalformedValue(ValueError):
    """A value has another type than the format requires; the text names the value and the type."""


def read_text(value: object) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise MalformedValue(f"{short_json(value)} instead of a string")
    return value


def read_integer(value: object) -> int:
    """Return an integer of any size."""
    if type(value) is not int:
        raise MalformedValue(f"{short_json(value)} instead of an integer")
    return value


def read_flag(value: object) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise MalformedValue(f"{short_json(value)} instead of true or false")
    return value


def read_fact(value: object) -> Fact:
    """Return a fact of a reason."""
    if not isinstance(value, str | int):
        raise MalformedValue(f"{short_json(value)} instead of a fact")
    return value


def read_moment(value: object) -> datetime:
    """Return an RFC 3339 time as aware UTC."""
    found = parse_time(read_text(value))
    if found is None:
        raise MalformedValue(f"{short_json(value)} instead of an RFC 3339 time")
    return found


def read_list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """Return a list with items of any type."""
    if not isinstance(value, list):
        raise MalformedValue(f"{short_json(value)} instead of a list")
    return value


def read_object(value: object) -> FrozenMap:
    """Return a Kubernetes object, or fields of one, as an immutable value."""
    if not isinstance(value, Mapping):
        raise MalformedValue(f"{short_json(value)} instead of an object")
    level: list[Any] = [value]
    for _ in range(MOST_LEVELS):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise ValueError(f"an object of more than {MOST_LEVELS} levels")
    return frozen(value)


def _inside(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
