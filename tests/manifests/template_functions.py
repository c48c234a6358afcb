"""The functions of Helm's templates that the chart uses, as Helm computes them."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

Json = dict[str, Any]
_ESCAPED: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Fail(Exception):
    """A template refused the values; the message says why."""


def truth(value: Any) -> bool:
    """Return whether a condition holds: not for false, zero, nothing and what is empty."""
    return bool(value)


def shown(value: Any) -> str:
    """Return a value as an action writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _to_json(value: Any) -> str:
    """Return compact JSON with sorted keys and without the characters that mean something in HTML."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "".join(_ESCAPED.get(one, one) for one in text)


def _dig(*words: Any) -> Any:
    *path, default, found = words
    for step in path:
        if step not in found:
            return default
        found = found[step]
    return found


def _merge(target: Json, *others: Json) -> Json:
    """Merge into the first; what it has stays."""
    for other in others:
        for key, value in other.items():
            kept = target.setdefault(key, value)
            if isinstance(kept, dict) and isinstance(value, dict):
                _merge(kept, value)
    return target


def _fail(words: str) -> None:
    raise Fail(words)


def _and(*values: Any) -> Any:
    return next((one for one in values if not truth(one)), values[-1])


def _or(*values: Any) -> Any:
    return next((one for one in values if truth(one)), values[-1])


def _set(target: Json, key: str, value: Any) -> Json:
    target[key] = value
    return target


def _index(found: Any, *steps: Any) -> Any:
    for step in steps:
        found = found[step]
    return found


def _dictionary(*words: Any) -> Json:
    return dict(zip(words[::2], words[1::2], strict=True))


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "and": _and,
    "append": lambda items, one: [*items, one],
    "dict": _dictionary,
    "dig": _dig,
    "eq": lambda one, other: one == other,
    "fail": _fail,
    "fromJson": json.loads,
    "gt": lambda one, other: one > other,
    "hasKey": lambda found, key: key in found,
    "index": _index,
    "int": int,
    "list": lambda *items: list(items),
    "merge": _merge,
    "ne": lambda one, other: one != other,
    "not": lambda one: not truth(one),
    "or": _or,
    "printf": lambda words, *values: words % values,
    "set": _set,
    "sha256sum": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "toJson": _to_json,
}
