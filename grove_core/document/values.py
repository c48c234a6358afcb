"""Values of a JSON plan, each of the type that the format says.

Rule for this file: anything else is a ValueError whose words become a report. It would end in one later, where
nobody expects it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from grove_core.kernel.frozen import MOST_LEVELS, FrozenMap, frozen
from grove_core.kernel.reasons import Fact
from grove_core.kernel.times import parse_time
from grove_core.resources.fields import shown


class MalformedValue(ValueError):
    """A value is none of what a plan of ours has there; says what it is instead of what."""


def text(value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise MalformedValue(f"{shown(value)} instead of a string")
    return value


def integer(value: object) -> int:
    """An integer, of any size."""
    if type(value) is not int:
        raise MalformedValue(f"{shown(value)} instead of an integer")
    return value


def flag(value: object) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        raise MalformedValue(f"{shown(value)} instead of true or false")
    return value


def fact(value: object) -> Fact:
    """What a reason may tell."""
    if not isinstance(value, str | int):
        raise MalformedValue(f"{shown(value)} instead of a fact")
    return value


def moment(value: object) -> datetime:
    """An RFC 3339 time as aware UTC."""
    found = parse_time(text(value))
    if found is None:
        raise MalformedValue(f"{shown(value)} instead of an RFC 3339 time")
    return found


def items(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """A list of anything."""
    if not isinstance(value, list):
        raise MalformedValue(f"{shown(value)} instead of a list")
    return value


def whole_object(value: object) -> FrozenMap:
    """A Kubernetes object, or fields of one."""
    if not isinstance(value, Mapping):
        raise MalformedValue(f"{shown(value)} instead of an object")
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
