"""Kubernetes quantities: ``500m``, ``1Gi``, ``2``."""

import re
from fractions import Fraction
from types import MappingProxyType
from typing import Final

_BINARY: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))(?:[eE](?P<power>[+-]?[0-9]{1,2})|(?P<suffix>[KMGTPE]i|[numkMGTPE]?))"
)
_LONGEST: Final = 40
_KIBI: Final = 1024
_KILO: Final = 1000
AMOUNTS: Final = frozenset({"limits", "requests"})
"""Keys of objects whose values are quantities."""
QUANTITY_IN: Final = MappingProxyType({"emptyDir": "sizeLimit", "resourceFieldRef": "divisor"})
"""Key of an object -> the key of the quantity in it."""


def parse_quantity(value: object) -> Fraction | None:
    """Return a Kubernetes quantity (``500m``, ``1Gi``, 2) as a number; None for any other value."""
    text = str(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    number, suffix = found["number"], found["suffix"]
    if suffix is None:
        return Fraction(number) * Fraction(10) ** int(found["power"])
    if suffix in _BINARY:
        return Fraction(number) * Fraction(_KIBI ** (_BINARY.index(suffix) + 1))
    return Fraction(number) * Fraction(_KILO ** _DECIMAL.index(suffix), _KILO ** _DECIMAL.index(""))


def canonical_quantity(value: object) -> object:
    """Return a quantity as a client written in Go stores it, such as ``1`` for ``1000m``; any other value unchanged.

    The number is whole and its suffix as large as possible. A quantity with an exponent stays as it is.
    """
    number = parse_quantity(value)
    text = str(value)
    if number is None or "e" in text or ("E" in text and not text.endswith("E")):
        return value
    if text.endswith("i") and abs(number) >= _KIBI and number.denominator == 1:
        return _with_largest_suffix(number, _KIBI, ("", *_BINARY))
    units = number * Fraction(_KILO ** _DECIMAL.index(""))
    return value if units.denominator > 1 else _with_largest_suffix(units, _KILO, _DECIMAL)


def _with_largest_suffix(units: Fraction, base: int, suffixes: tuple[str, ...]) -> str:
    """Return a whole number of the smallest unit with the largest suffix of which it is a whole number."""
    if not units:
        return "0"
    power = 0
    while power + 1 < len(suffixes) and (units / base).denominator == 1:
        units, power = units / base, power + 1
    return f"{units.numerator}{suffixes[power]}"
