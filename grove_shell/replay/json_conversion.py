"""Converts the core's values to JSON and back, by their declared types.

Only fields that differ from their defaults are written. All parts of a snapshot can be converted except its attempts,
which contain steps and are written as in plans.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel

from grove_core.kernel.frozen import FrozenDict, FrozenMap, freeze, thaw_json
from grove_core.kernel.structs import Struct

Json: TypeAlias = Any
_MICROSECOND: Final = timedelta(microseconds=1)


def core_value_as_json(value: Any) -> Json:  # noqa: ANN401, C901 - one arm for each kind of value
    """Return a value as JSON. Raises TypeError for a type that snapshots do not contain."""
    if value is None or isinstance(value, bool | int | str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, FrozenMap):
        return thaw_json(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value // _MICROSECOND
    if isinstance(value, BaseModel):
        return {
            name: core_value_as_json(getattr(value, name))
            for name in type(value).model_fields
            if name in value.model_fields_set
        }
    if isinstance(value, Struct) or dataclasses.is_dataclass(value):
        return nondefault_fields_as_json(value)
    if isinstance(value, Mapping):
        return [[core_value_as_json(key), core_value_as_json(found)] for key, found in value.items()]
    if isinstance(value, AbstractSet):
        return sorted(core_value_as_json(one) for one in value)
    if isinstance(value, Sequence):
        return [core_value_as_json(one) for one in value]
    raise TypeError(f"{type(value).__name__} is no fact")


def nondefault_fields_as_json(value: Any, without: AbstractSet[str] = frozenset()) -> dict[str, Json]:  # noqa: ANN401 - as below
    """Return the fields of a struct or dataclass that differ from their defaults, except those in ``without``."""
    kind: Any = type(value)
    return {
        name: core_value_as_json(found)
        for name, default in _defaults_of_fields(kind).items()
        if name not in without and (found := getattr(value, name)) != default
    }


@cache
def _defaults_of_fields(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a type
    """Return the default of each field of a struct or dataclass; of one without a default a value that equals none."""
    if issubclass(kind, Struct):
        return {field.name: field.default for field in msgspec.structs.fields(kind)}
    return {field.name: field.default for field in dataclasses.fields(kind)}


def core_value_from_json(declared: Any, raw: Json) -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return JSON as a value of a type. Raises TypeError, ValueError, KeyError, AttributeError or OverflowError."""
    return _reader(declared)(raw)


@cache
def _reader(declared: Any) -> Callable[[Json], Any]:  # noqa: ANN401 - a type
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return _reader(arguments[0])
    if origin in {Union, UnionType}:
        return _optional(_reader(next(one for one in arguments if one is not NoneType)))
    if origin is not None:
        return _collection(origin, arguments)
    if isinstance(declared, type):
        return _class(declared)
    raise TypeError(f"{declared} is no type of a fact")


def _optional(read: Callable[[Json], Any]) -> Callable[[Json], Any]:
    return lambda raw: None if raw is None else read(raw)


def _collection(origin: Any, arguments: tuple[Any, ...]) -> Callable[[Json], Any]:  # noqa: ANN401 - a type
    if issubclass(origin, Mapping):
        key, value = map(_reader, arguments)
        return lambda raw: FrozenDict((key(name), value(found)) for name, found in raw)
    first = _reader(arguments[0])
    if issubclass(origin, AbstractSet):
        return lambda raw: frozenset(map(first, raw))
    if origin is tuple and Ellipsis not in arguments:
        readers = [_reader(one) for one in arguments]
        return lambda raw: tuple(read(one) for read, one in zip(readers, raw, strict=True))
    return lambda raw: tuple(map(first, raw))


def _class(declared: type) -> Callable[[Json], Any]:
    if issubclass(declared, FrozenMap):
        return lambda raw: freeze(_mapping(raw))
    if issubclass(declared, datetime):
        return utc_datetime_from_text
    if issubclass(declared, timedelta):
        return lambda raw: raw * _MICROSECOND
    if issubclass(declared, Enum):
        return declared
    if issubclass(declared, BaseModel):
        return _model(declared)
    if issubclass(declared, Struct) or dataclasses.is_dataclass(declared):
        return _with_fields(declared)
    if issubclass(declared, tuple):
        return _named_tuple(declared)
    return _checked(declared)


def utc_datetime_from_text(text: str) -> datetime:
    """Return a time in UTC. Raises ValueError without a zone, and OverflowError outside the years of UTC."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment without a zone")
    return moment.astimezone(UTC)


def _checked(declared: type) -> Callable[[Json], Any]:
    def read(raw: Json) -> Any:  # noqa: ANN401 - of the type
        if type(raw) is not declared:
            raise TypeError(f"{raw!r} instead of {declared.__name__}")
        return raw

    return read


def _mapping(raw: Json) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise TypeError(f"{raw!r} instead of an object")
    return raw


def _with_fields(declared: type) -> Callable[[Json], Any]:
    hints = get_type_hints(declared, include_extras=True)
    readers = {name: hints[name] for name in _defaults_of_fields(declared)}

    def read(raw: Json) -> Any:  # noqa: ANN401 - of the type
        return declared(**{name: core_value_from_json(readers[name], found) for name, found in _mapping(raw).items()})

    return read


def _named_tuple(declared: type) -> Callable[[Json], Any]:
    hints = get_type_hints(declared, include_extras=True)
    names: tuple[str, ...] = declared._fields  # type: ignore[attr-defined]  # every other tuple says what is in it

    def read(raw: Json) -> Any:  # noqa: ANN401 - of the type
        return declared(*(core_value_from_json(hints[name], found) for name, found in zip(names, raw, strict=True)))

    return read


def _model(declared: type[BaseModel]) -> Callable[[Json], Any]:
    hints = {name: field.annotation for name, field in declared.model_fields.items()}
    required = {name for name, field in declared.model_fields.items() if field.is_required()}

    def read(raw: Json) -> Any:  # noqa: ANN401 - of the type
        given = {name: core_value_from_json(hints[name], found) for name, found in _mapping(raw).items()}
        if missing := required - given.keys():
            raise TypeError(f"{declared.__name__} without {min(missing)}")
        return declared.model_construct(_fields_set=set(given), **given)

    return read
