"""Converts plain YAML scalars to JSON values: YAML 1.1 as kubectl's YAML layer reads it.

Rule for this file: total over all texts; the only exception is `InvalidYamlScalar`.
"""

import base64
import binascii
import math
import re
import struct
from typing import Final

from grove_shell.reading.input_items import JsonValue

_INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)
_EXACT: Final = 2.0**53
_REMEMBERED: Final = 20_000

_WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_INTEGER: Final = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_POINT_FIRST: Final = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_BASES: Final = {"x": 16, "X": 16, "b": 2, "B": 2, "o": 8, "O": 8}
_PLAIN_EXPONENTS: Final = range(-4, 6)
_LONGEST_NUMBER: Final = 400
"""More characters than any 64-bit integer or finite float needs; also stays below Python's limit on digits."""

_YAML_ORG: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}

MERGE: Final = str(b"<<", "ascii")
"""The plain merge key. It is compared by identity, so that a quoted "<<" stays an ordinary key."""


class InvalidYamlScalar(Exception):
    """A YAML node has no JSON value. ``got`` is empty if it is the text of the node."""

    def __init__(self, expected: str, got: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.got = got


class YamlScalarCache(dict[str, JsonValue]):
    """Plain scalar -> JSON value, a cache (IN-001).

    A look-up raises `InvalidYamlScalar` for an infinite number and for not-a-number. Equal texts give the same string
    object, which saves memory for many pods. The cache is bounded, since most texts are unique.
    """

    def __missing__(self, text: str) -> JsonValue:
        value = plain_scalar_to_json(text)
        if len(self) >= _REMEMBERED:
            self.clear()
        self[text] = value
        return value


def plain_scalar_to_json(text: str) -> JsonValue:
    """Return the JSON value of a plain scalar (IN-001).

    Raises:
        InvalidYamlScalar: an infinite number or not-a-number, which JSON cannot express.
    """
    return MERGE if text == "<<" else resolved_scalar_to_json(_resolved(text))


def resolved_scalar_to_json(value: JsonValue) -> JsonValue:
    """Return a resolved scalar for JSON: floats without a fraction become integers (IN-001, IN-006).

    Raises:
        InvalidYamlScalar: ``value`` is infinite or not a number.
    """
    if type(value) is not float:
        return value
    if not math.isfinite(value):
        raise InvalidYamlScalar("a finite number")
    return whole_float_as_integer(value)


def whole_float_as_integer(value: float) -> float:
    """Return a finite float as kubectl sends it: without a fraction it is an integer (IN-001)."""
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def tagged_scalar_to_json(tag: str, text: str) -> JsonValue:
    """Return the JSON value of a scalar with an explicit tag; an unknown tag means text (IN-001).

    Raises:
        InvalidYamlScalar: the text is not of the tagged type.
    """
    name = tag.removeprefix(_YAML_ORG) if tag.startswith(_YAML_ORG) else ""
    if name in _TYPES:
        value = resolved_scalar_to_json(_resolved(text))
        if type(value) not in _TYPES[name]:
            raise InvalidYamlScalar(f"a value of type !!{name}")
        return value
    if name == "binary":
        return _decoded(text)
    return MERGE if name == "merge" and text == "<<" else text


def plain_scalar_as_key(text: str) -> str:
    """Return a plain scalar as a key, which is text in JSON: ``0777`` is ``511``, ``yes`` is ``true`` (IN-001).

    Raises:
        InvalidYamlScalar: null, or an integer beyond signed 64 bits.
    """
    value = _resolved(text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _shortest(value)
    if isinstance(value, int):
        if value in _INT64:
            return str(value)
        raise InvalidYamlScalar("a key within 64 bits")
    if value is None:
        raise InvalidYamlScalar("a key")
    return value


def _resolved(text: str) -> str | int | float | bool | None:
    """Return the value before its conversion to JSON: integers and floats are distinct, infinities kept."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        return _finite(text) if _POINT_FIRST.fullmatch(text) else text
    if text[0] not in "+-0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    digits = text.replace("_", "")
    if match := _INTEGER.fullmatch(digits):
        value = _integer(match[1], match[2])
        if value in _INT64 or (value in _UINT64 and not match[1]):
            return value
    number = _finite(digits) if _FLOAT.fullmatch(digits) else digits
    return text if isinstance(number, str) else number


def _integer(sign: str, digits: str) -> int:
    if digits[0] == "0" and len(digits) > 1:
        base = _BASES.get(digits[1])
        value = int(digits[2:], base) if base else int(digits, 8)
    else:
        value = int(digits)
    return -value if sign == "-" else value


def _finite(digits: str) -> float | str:
    """Return the float, or the text itself if it exceeds a 64-bit float."""
    value = float(digits)
    return value if math.isfinite(value) else digits


def _shortest(value: float) -> str:
    """Return a float key as kubectl's YAML layer writes it: the fewest digits of the same 32-bit float."""
    if math.isnan(value):
        return ".nan"
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        single = math.copysign(math.inf, value)
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    for precision in range(9):
        written = f"{single:.{precision}e}"
        if struct.pack("f", float(written)) == struct.pack("f", single):
            break
    mantissa, exponent = written.split("e")
    places = precision - int(exponent)
    return f"{single:.{max(places, 0)}f}" if int(exponent) in _PLAIN_EXPONENTS else f"{mantissa}e{exponent}"


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise InvalidYamlScalar("base64 of UTF-8 text after !!binary") from None
