"""Paths of fields in an object, as server-side apply distinguishes them: names of fields, keys of items of lists.

Rule for this file: it knows no kind. What is particular to one stands in its :class:`Shape`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from grove_core.kernel.structs import replace

Json: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[tuple[str, Any], ...]
"""What distinguishes an item of a list from its neighbours: names and values."""
Path: TypeAlias = tuple[str | Key, ...]
Pattern: TypeAlias = tuple[str, ...]
"""A path in which every item is ``[]``."""

ITEM: Final = "[]"
OWNERS: Final = ("metadata", "ownerReferences")
_UNOWNED: Final = frozenset(
    {
        ("apiVersion",),
        ("kind",),
        *(
            ("metadata", name)
            for name in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What merging has to know of a kind.

    Attributes:
        keys: pattern of a list -> the fields that distinguish its items; any other list is replaced as a whole.
        defaults: pattern of a field -> what the server fills in where its object is there and the field is not.
        has_status: whether ``status`` is written through a subresource.
        required: pattern of an object -> the fields it must have.
        words: pattern of a field -> the values it may have.
    """

    keys: Mapping[Pattern, tuple[str, ...]]
    defaults: Mapping[Pattern, Any]
    has_status: bool
    required: Mapping[Pattern, tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[Pattern, tuple[str, ...]] = field(default_factory=dict)


def shape_of(schema: Json, *, has_status: bool) -> Shape:
    """The shape that an OpenAPI schema describes; owner references are distinguished by uid in every kind."""
    shape = Shape({OWNERS: ("uid",)}, {}, has_status, {}, {})
    return _walk(schema, (), shape)


def _walk(part: Json, pattern: Pattern, shape: Shape) -> Shape:
    """The shape with what a part of the schema adds to it."""
    if "default" in part:
        shape = replace(shape, defaults={**shape.defaults, pattern: part["default"]})
    if "required" in part:
        shape = replace(shape, required={**shape.required, pattern: tuple(part["required"])})
    if "enum" in part:
        shape = replace(shape, words={**shape.words, pattern: tuple(part["enum"])})
    if "x-kubernetes-list-map-keys" in part:
        shape = replace(shape, keys={**shape.keys, pattern: tuple(part["x-kubernetes-list-map-keys"])})
    for name, below in part.get("properties", {}).items():
        shape = _walk(below, (*pattern, name), shape)
    return _walk(part["items"], (*pattern, ITEM), shape) if "items" in part else shape


def faults_in(value: Any, shape: Shape, pattern: Pattern = ()) -> Iterator[str]:
    """What is missing in a value, and what is none of the words it may be."""
    place = ".".join(pattern) or "the object"
    if isinstance(value, dict):
        yield from (f"{place}.{name}: Required value" for name in shape.required.get(pattern, ()) if name not in value)
        for name, below in value.items():
            yield from faults_in(below, shape, (*pattern, name))
    elif isinstance(value, list):
        for item in value:
            yield from faults_in(item, shape, (*pattern, ITEM))
    elif pattern in shape.words and value not in shape.words[pattern]:
        yield f"{place}: Unsupported value: {value!r}"


def key_of(item: Json, names: tuple[str, ...]) -> Key:
    """What distinguishes an item from its neighbours."""
    return tuple((name, item.get(name)) for name in names)


def paths_in(value: Any, shape: Shape, path: Path = (), pattern: Pattern = ()) -> Iterator[tuple[Path, Any]]:
    """Every field that can be owned, with its value: scalars, whole lists, items with a key, empty objects."""
    if pattern in _UNOWNED:
        return
    if isinstance(value, dict):
        if not value and path:
            yield path, value
        for name, below in value.items():
            yield from paths_in(below, shape, (*path, name), (*pattern, name))
    elif isinstance(value, list) and pattern in shape.keys:
        names = shape.keys[pattern]
        for item in value:
            place = (*path, key_of(item, names))
            yield place, ITEM
            yield from paths_in(item, shape, place, (*pattern, ITEM))
    else:
        yield path, value


def owned_in(value: Json, shape: Shape) -> frozenset[Path]:
    """The fields that a manager owns after it applies this."""
    return frozenset(path for path, _ in paths_in(value, shape))


def merged(live: Any, applied: Any, shape: Shape, pattern: Pattern = ()) -> Any:
    """What is there with what is applied laid over it: objects and keyed lists by their parts, the rest replaced."""
    if isinstance(live, dict) and isinstance(applied, dict):
        return {
            **live,
            **{
                name: merged(live[name], below, shape, (*pattern, name)) if name in live else below
                for name, below in applied.items()
            },
        }
    if isinstance(live, list) and isinstance(applied, list) and pattern in shape.keys:
        names = shape.keys[pattern]
        found = {key_of(item, names): item for item in live}
        for item in applied:
            key = key_of(item, names)
            found[key] = merged(found[key], item, shape, (*pattern, ITEM)) if key in found else item
        return list(found.values())
    return applied


def without(value: Any, gone: frozenset[Path], shape: Shape, path: Path = (), pattern: Pattern = ()) -> Any:
    """The value without these fields; an item that goes takes along whatever is in it."""
    if isinstance(value, dict):
        return {
            name: without(below, gone, shape, (*path, name), (*pattern, name))
            for name, below in value.items()
            if (*path, name) not in gone
        }
    if isinstance(value, list) and pattern in shape.keys:
        names = shape.keys[pattern]
        return [
            without(item, gone, shape, (*path, key_of(item, names)), (*pattern, ITEM))
            for item in value
            if (*path, key_of(item, names)) not in gone
        ]
    return value


def defaulted(value: Any, shape: Shape, pattern: Pattern = ()) -> Any:
    """The value with what the server fills in."""
    if isinstance(value, dict):
        whole = {name: defaulted(below, shape, (*pattern, name)) for name, below in value.items()}
        for place, given in shape.defaults.items():
            if place[:-1] == pattern and place[-1] not in whole:
                whole[place[-1]] = given
        return whole
    if isinstance(value, list) and pattern in shape.keys:
        return [defaulted(item, shape, (*pattern, ITEM)) for item in value]
    return value
