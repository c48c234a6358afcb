"""Reads JSON of any depth; values below the nesting limit are replaced by a note, all others are kept (OP-004).

An API server stores 10,000 levels, and any tenant may write them, as in the parameters of a ResourceClaim.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from grove_core.kernel.frozen import MOST_LEVELS, mapping_or_empty

TOO_DEEP: Final = f"nested deeper than {MOST_LEVELS} levels"
"""Stands in the place of such a field: no projection takes it, so the object does not read, whatever it was."""

_CUT_AT: Final = MOST_LEVELS + 8  # an object that was cut there is too deep all the same, also in a list or an event
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]', re.DOTALL)
_OPENING: Final = frozenset({b"[", b"{"})
_CLOSING: Final = frozenset({b"]", b"}"})


def read_json_with_nesting_limit(text: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return an object, a list of objects or an event, with no value below the nesting limit.

    Raises:
        ValueError: the text is no JSON.
    """
    if _is_flat(text):
        return _value_of(text)
    try:
        fields = _FIELDS.decode(text)
        if "items" in fields:
            items = _ITEMS.decode(fields["items"])
            return {
                key: [_readable_value_of(item) for item in items] if key == "items" else _value_of(value)
                for key, value in fields.items()
            }
    except (RecursionError, msgspec.DecodeError):
        pass
    raw = _value_of(text)
    return _shallow(raw) if _is_deeper(raw, MOST_LEVELS) else raw


def _readable_value_of(text: msgspec.Raw) -> Any:  # noqa: ANN401 - any JSON
    value = _value_of(text)
    return value if _is_flat(bytes(text)) else _readable(value)


def _is_flat(text: bytes) -> bool:
    """Return whether a text has too few brackets to be deeper than the limit."""
    return text.count(b"{") + text.count(b"[") <= MOST_LEVELS


def _value_of(text: bytes | msgspec.Raw) -> Any:  # noqa: ANN401 - any JSON
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        return json.loads(_cut(bytes(text)).decode("utf-8", "surrogatepass"))
    except msgspec.DecodeError:
        return json.loads(bytes(text))  # it also reads half a surrogate pair, and says what is wrong


_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])


def fields_below_nesting_limit(raw: dict[str, Any]) -> Iterator[str]:
    """Return the fields of an object that were replaced."""
    return (field for field, value in raw.items() if value == TOO_DEEP)


def _cut(text: bytes) -> bytes:
    """Return the text with null for every value below the limit. Linear; an unfinished text stays unfinished."""
    parts, depth, done = list[bytes](), 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in _OPENING:
            depth += 1
            if depth == _CUT_AT:
                parts.append(text[done : token.start()])
        elif token[0] in _CLOSING:
            if depth == _CUT_AT:
                parts.append(b"null")
                done = token.end()
            depth -= 1
    rest = text[done:] if depth < _CUT_AT else b""
    return b"".join((*parts, rest))


def _shallow(raw: Any) -> Any:  # noqa: ANN401 - any JSON
    if not isinstance(raw, dict):
        return raw
    if isinstance(raw.get("items"), list):
        return {**raw, "items": [_readable(item) for item in raw["items"]]}
    if "object" in raw and "type" in raw:
        return {**raw, "object": _readable(raw["object"])}
    return _readable(raw)


def _readable(raw: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return an object whose metadata can be read, even if the rest of it cannot."""
    if not isinstance(raw, dict) or not _is_deeper(raw, MOST_LEVELS):
        return raw
    kept = {key: _or_note(value, MOST_LEVELS - 1) for key, value in raw.items()}
    if metadata := mapping_or_empty(raw, "metadata"):  # managedFields are in it
        kept["metadata"] = {key: _or_note(value, MOST_LEVELS - 2) for key, value in metadata.items()}
    return kept


def _or_note(value: Any, levels: int) -> Any:  # noqa: ANN401 - any JSON
    return TOO_DEEP if _is_deeper(value, levels) else value


def _is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value has more levels than the limit. Iterative: any depth is possible."""
    level = [value] if value.__class__ is dict or value.__class__ is list else []
    while level and levels:
        levels -= 1
        insides = (outer.values() if outer.__class__ is dict else outer for outer in level)
        level = [inner for inside in insides for inner in inside if inner.__class__ is dict or inner.__class__ is list]
    return bool(level)
