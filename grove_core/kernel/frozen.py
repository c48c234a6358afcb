"""Values that cannot change: JSON objects with one text form, and dicts of other values."""

import json
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, overload

import msgspec

MOST_LEVELS: Final = 256
"""The deepest nesting of objects and lists in any input object (IN-012), so that code may recurse into them."""

T = TypeVar("T")

Json: TypeAlias = "bool | int | float | str | tuple[Json, ...] | FrozenMap | None"


class FrozenMap(Mapping[str, Json]):
    """An immutable, hashable JSON object; equal to another one exactly if their JSON is equal.

    Equality is by canonical text, because in Python ``True == 1``: a change from ``true`` to ``1`` must be seen.
    """

    __slots__ = ("_items",)
    _items: Mapping[str, Json]

    def __init__(self, items: Mapping[str, Json]) -> None:
        object.__setattr__(self, "_items", {key: freeze(value) for key, value in items.items()})

    @classmethod
    def view_of(cls, raw: Mapping[str, Any]) -> "FrozenMap":
        """Return a view of a JSON object without a copy. ``raw`` must not change afterwards."""
        view = cls.__new__(cls)
        object.__setattr__(view, "_items", raw)
        return view

    @property
    def raw(self) -> Mapping[str, Any]:
        """The underlying mapping; must not be changed."""
        return self._items

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(name)

    def __getitem__(self, key: str) -> Json:
        value: Any = self._items[key]
        return _view(value) if value.__class__ is dict or value.__class__ is list else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    @overload
    def get(self, key: str, /) -> Json: ...

    @overload
    def get(self, key: str, /, default: T) -> Json | T: ...

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; the default where there is none."""
        value = self._items.get(key, default)
        return _view(value) if value.__class__ is dict or value.__class__ is list else value

    def items(self) -> ItemsView[str, Json]:
        """Return keys and values."""
        return {key: _view(value) for key, value in self._items.items()}.items()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenMap):
            return NotImplemented
        mine, others = self._items, other._items
        if mine is others or len(mine) != len(others):
            return mine is others
        return is_same_json(self, other)

    def __hash__(self) -> int:
        return hash(json_equality_text(self))

    def __repr__(self) -> str:
        return f"FrozenMap({canonical_json(self)})"

    def __reduce__(self) -> tuple[type["FrozenMap"], tuple[dict[str, Json]]]:
        return (FrozenMap, (dict(self._items),))


EMPTY: Final = FrozenMap({})

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """An immutable dict of values that are not JSON; hashable where its keys and values are.

    It is a subclass of dict for speed: the index of a cluster is read for every PodClique.
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a FrozenDict cannot change")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type["FrozenDict[K, V]"], tuple[dict[K, V]]]:
        return (FrozenDict, (dict(self),))


def frozen_dict_of_tuples(items: Mapping[K, Sequence[V]]) -> FrozenDict[K, tuple[V, ...]]:
    """Return an immutable dict of tuples."""
    return FrozenDict(zip(items, map(tuple, items.values()), strict=True))


_IMMUTABLE: Final = frozenset({type(None), str, bool, int, float, FrozenMap})


def freeze(value: Any) -> Json:  # noqa: ANN401 - any JSON
    """Turn JSON as the standard library reads it into its immutable form. Raises TypeError for what is not JSON."""
    kind = value.__class__
    if kind in _IMMUTABLE or isinstance(value, str | int | float):
        unchanged: Json = value
        return unchanged
    if kind is dict or isinstance(value, Mapping):
        return FrozenMap.view_of({str(key): freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple([freeze(item) for item in value])
    raise TypeError(kind.__name__)


def frozen(value: Mapping[str, Any]) -> FrozenMap:
    """Turn a JSON object of dicts and lists into its immutable form. Raises TypeError for what is not JSON."""
    return FrozenMap.view_of({key: freeze(item) for key, item in value.items()})


def object_under_key(whole: FrozenMap, key: str) -> FrozenMap:
    """Return the object under a key; an empty one where there is none."""
    part = whole.get(key)
    return part if isinstance(part, FrozenMap) else EMPTY


def mapping_or_empty(raw: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return the object under a key of raw JSON; an empty one where there is none."""
    part = raw.get(key)
    return part if part.__class__ is dict or isinstance(part, Mapping) else EMPTY


def text_under_key(whole: FrozenMap, key: str) -> str:
    """Return the text under a key; empty where there is none."""
    found = whole.get(key)
    return found if isinstance(found, str) else ""


def list_at(whole: FrozenMap, key: str) -> tuple[Json, ...]:
    """Return the list under a key; an empty one where there is none."""
    found = whole.get(key)
    return found if isinstance(found, tuple) else ()


def _view(value: Any) -> Json:  # noqa: ANN401 - JSON as a reader made it
    if value.__class__ is dict:
        return FrozenMap.view_of(value)
    return tuple([_view(item) for item in value]) if value.__class__ is list else value


def thaw_json(value: Json) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON as dicts and lists; the inverse of :func:`freeze`."""
    return _thawed(value)


def _thawed(value: Any) -> Any:  # noqa: ANN401 - JSON, frozen or as a reader made it
    kind = value.__class__
    if kind is FrozenMap:
        value, kind = value.raw, dict
    if kind is dict:
        return {key: _thawed(item) for key, item in value.items()}
    if kind is tuple or kind is list:
        return [_thawed(item) for item in value]
    return value


def canonical_json(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the canonical text of a JSON value, with sorted keys and no spaces; equal exactly for equal JSON."""
    return _ENCODER.encode(value)


def is_same_json(first: Any, second: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether two JSON values have the same canonical text; many times faster than writing both."""
    text = json_equality_text(first)
    if text != json_equality_text(second):
        return False
    return b"null" not in text or canonical_json(first) == canonical_json(second)  # an infinity is written as null too


def json_equality_text(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    """Return a text of a JSON value that is the same for equal JSON alone; but infinities have that of null."""
    try:
        return _COMPARING_ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError):  # half of a surrogate pair, say
        return canonical_json(value).encode("utf-8", "surrogatepass")


def _plain(value: object) -> object:
    if isinstance(value, FrozenMap):
        raw = value.raw
        return raw if isinstance(raw, dict) else dict(raw)
    raise TypeError(type(value).__name__)


_COMPARING_ENCODER: Final = msgspec.json.Encoder(order="sorted", enc_hook=_plain)
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)
