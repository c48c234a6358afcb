"""Field types of a template: durations, counts, texts, whole objects; and the problems of invalid values."""

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    WithJsonSchema,
)
from pydantic import model_validator as validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_core.kernel.errors import ObjectProblem, ProblemKind
from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.time_formats import parse_duration
from grove_core.resources.json_field_reader import short_json

_INT32: Final = 2**31 - 1
_EXPECTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool_type": "true or false",
        "int_type": "an integer",
        "string_type": "a string",
        "tuple_type": "a list",
        "model_type": "an object",
        "model_attributes_type": "an object",
        "less_than_equal": "an integer of at most 2147483647",
        "greater_than_equal": "an integer of at least -2147483648",
    }
)
_SIGNED: Final = re.compile(r"-[0-9.a-zµμ]+")


def _duration(value: object) -> object:
    if isinstance(value, timedelta):
        return value
    span = parse_duration(value) if isinstance(value, str) else None
    if span is None and isinstance(value, str) and _SIGNED.fullmatch(value):
        span = parse_duration(value[1:])
        span = None if span is None else -span
    if span is None:
        raise PydanticCustomError("duration", 'a duration such as "4h" or "1h30m"')
    return span


def _object(value: object) -> object:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("object", "an object")
    return freeze(value)


def _texts(value: object) -> object:
    if not isinstance(value, Mapping) or any(not isinstance(text, str) for text in value.values()):
        raise PydanticCustomError("texts", "an object whose values are strings")
    return FrozenMap(value)


# The schema beside each type goes into the custom resource definition (MF-001).
GoDuration = Annotated[timedelta, BeforeValidator(_duration), WithJsonSchema({"type": "string"})]
Count = Annotated[StrictInt, Field(ge=-_INT32 - 1, le=_INT32), WithJsonSchema({"type": "integer", "format": "int32"})]
Opaque = Annotated[
    FrozenMap,
    BeforeValidator(_object),
    WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
]
Texts = Annotated[
    FrozenMap,
    BeforeValidator(_texts),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}}),
]


class ManifestModel(BaseModel):
    """Base of the parts of what people write: frozen, camelCase, unknown fields ignored, null the same as absent."""

    # Built when the first set is read, once and as one: a class at a time takes three times as long to start.
    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    @validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


def problem_from_validation_error(error: Any) -> ObjectProblem:  # noqa: ANN401 - pydantic's ErrorDetails
    """Return a validation error as a problem, with its path below ``spec``."""
    path = "spec"
    for part in error["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    kind = str(error["type"])
    if kind == "missing":
        return ObjectProblem(path=path, expected="a value", got="nothing", kind=ProblemKind.MISSING)
    return ObjectProblem(path=path, expected=_EXPECTED.get(kind, str(error["msg"])), got=short_json(error["input"]))
