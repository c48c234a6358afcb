"""Types of the fields of a scenario, with the messages for wrong values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import ceil
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictInt,
    StrictStr,
    ValidationInfo,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_core.kernel.time_formats import format_time, parse_time
from grove_core.resources.quantities import parse_quantity
from grove_shell.simulator.virtual_time import go_duration_text, milliseconds_of_go_duration

WRITTEN: Final = "written by a person"
"""Validation context of a file: there a span must be text, because a bare number has no unit."""

AUTOSCALER: Final = "HorizontalPodAutoscaler"
NODE: Final = "node"
"""The kind of names of nodes in a scenario."""
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2200


class ScenarioPart(BaseModel):
    """Base class of all parts of a scenario: frozen, camelCase in files, unknown fields are faults."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


@dataclass(frozen=True, slots=True)
class ObjectNamesFieldMarker:
    """Marks a field whose value, keys or items are names of objects.

    Attributes:
        kind: their kind; empty where the field ``kind`` beside it says so, or each name is ``Kind/name``.
    """

    kind: str = ""


def objects_named_in_scenario_part(part: ScenarioPart) -> Iterator[tuple[str, str, str]]:
    """Yield field path, kind and name of every object that a part of a scenario names."""
    for field, info in type(part).model_fields.items():
        value, path = getattr(part, field), to_camel(field)
        named = next((mark for mark in info.metadata if isinstance(mark, ObjectNamesFieldMarker)), None)
        if isinstance(value, ScenarioPart):
            yield from ((f"{path}.{inner}", kind, name) for inner, kind, name in objects_named_in_scenario_part(value))
        elif named is not None and isinstance(value, str) and value:
            yield path, named.kind or getattr(part, "kind", ""), value
        elif named is not None and isinstance(value, Mapping):
            yield from ((f"{path}.{name}", named.kind, name) for name in value)
        elif named is not None and isinstance(value, tuple):
            for place, address in enumerate(value):
                kind, _, name = address.partition("/")
                yield f"{path}[{place}]", kind, name


@lru_cache(maxsize=1024)
def parse_quantity_as_thousandths(text: str) -> int | None:
    """Return a Kubernetes quantity (``500m``, ``64Gi``) in thousandths, rounded up; None for any other text."""
    amount = parse_quantity(text)
    return None if amount is None or amount < 0 else ceil(amount * 1000)


def _span(value: object, info: ValidationInfo) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and info.context != WRITTEN:
        return value
    span = milliseconds_of_go_duration(value) if isinstance(value, str) else None
    if span is None:
        raise PydanticCustomError("span", 'a duration such as "90s" or "1h30m"')
    return span


def _interval(value: object, info: ValidationInfo) -> object:
    span = _span(value, info)
    if not span:
        raise PydanticCustomError("interval", "a duration above 0s")
    return span


def _clock_time(value: object) -> object:
    """Return a time whose year leaves room for the longest span before and after it."""
    clock_time = value if isinstance(value, datetime) else parse_time(value) if isinstance(value, str) else None
    if clock_time is None or not _FIRST_YEAR <= clock_time.year <= _LAST_YEAR:
        raise PydanticCustomError("clock_time", 'a time such as "2026-11-20T09:00:00Z", from 1970 to 2200')
    return clock_time


def _amount(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int) or parse_quantity_as_thousandths(str(value)) is None:
        raise PydanticCustomError("quantity", 'a quantity such as 8, "500m" or "64Gi"')
    return str(value)


def _counted(value: object) -> object:
    """Return one number for all pods, or numbers by PodClique."""
    counts = value.values() if isinstance(value, Mapping) else (value,)
    if any(isinstance(count, bool) or not isinstance(count, int) or count < 0 for count in counts):
        raise PydanticCustomError("counted", "a number, or numbers by name of a PodClique")
    return {str(key): count for key, count in value.items()} if isinstance(value, Mapping) else value


def _address(value: object) -> object:
    kind, slash, name = value.partition("/") if isinstance(value, str) else ("", "", "")
    if not (kind and slash and name):
        raise PydanticCustomError("address", "Kind/name, such as PodClique/llm-0-worker")
    return value


def _time(value: object, info: ValidationInfo) -> object:
    if value == "end":
        return value
    try:
        return _span(value, info)
    except PydanticCustomError as fault:
        raise PydanticCustomError("time", f'{fault.message()}, or "end"') from None


def _time_text(value: int | str) -> str:
    return value if isinstance(value, str) else go_duration_text(value)


def _object(value: object) -> object:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("object", "an object")
    return value


Interval = Annotated[int, BeforeValidator(_interval), PlainSerializer(go_duration_text)]
"""A span above 0 after which something is repeated, in milliseconds."""
Span = Annotated[int, BeforeValidator(_span), PlainSerializer(go_duration_text)]
"""A span in milliseconds; a Go duration in a file."""
Time = Annotated[int | Literal["end"], BeforeValidator(_time), PlainSerializer(_time_text)]
"""A time since the start of a scenario in milliseconds, or ``end``."""
ClockTime = Annotated[datetime, BeforeValidator(_clock_time), PlainSerializer(format_time)]
Amount = Annotated[str, BeforeValidator(_amount)]
Counted = Annotated[int | dict[str, int], BeforeValidator(_counted)]
Address = Annotated[StrictStr, BeforeValidator(_address)]
Raw = Annotated[dict[str, Any], BeforeValidator(_object)]
Name = Annotated[StrictStr, Field(min_length=1)]
CliqueName = Annotated[Name, ObjectNamesFieldMarker("PodClique")]
Count = Annotated[StrictInt, Field(ge=0, le=100_000)]
Several = Annotated[StrictInt, Field(ge=1, le=100_000)]
Kind: TypeAlias = Literal[
    "PodCliqueSet",
    "PodCliqueScalingGroup",
    "PodClique",
    "PodGang",
    "Pod",
    "ComputeDomain",
    "ClusterTopology",
    "other",
]
"""``other`` is every kind that no decision reads: Services, roles, ResourceClaims, autoscalers."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def kind_name_in_faults(kind: str) -> str:
    """Return a kind as faults name it: ``other`` for every kind that no decision reads."""
    return kind if kind in KINDS else "other"


class PodByCliqueAndIndex(ScenarioPart):
    """A pod, by its PodClique and index: the pod that has the index when the event happens (SM-007)."""

    clique: CliqueName
    index: Count = 0
