"""Kubernetes quantities (``500m``, ``64Gi``, ``8``) in thousandths of their unit."""

import re
from decimal import Decimal
from functools import lru_cache
from math import ceil
from types import MappingProxyType
from typing import Final

_FACTORS: Final = MappingProxyType(
    {
        "n": Decimal("1e-9"),
        "u": Decimal("1e-6"),
        "m": Decimal("0.001"),
        "": Decimal(1),
        "k": Decimal(1_000),
        "M": Decimal(10**6),
        "G": Decimal(10**9),
        "T": Decimal(10**12),
        "P": Decimal(10**15),
        "E": Decimal(10**18),
        "Ki": Decimal(2**10),
        "Mi": Decimal(2**20),
        "Gi": Decimal(2**30),
        "Ti": Decimal(2**40),
        "Pi": Decimal(2**50),
        "Ei": Decimal(2**60),
    }
)
_QUANTITY: Final = re.compile(
    r"\+?(?P<number>\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:e(?P<power>[+-]?\d{1,2})|(?P<unit>[a-zA-Z]*))"
)


@lru_cache(maxsize=1024)
def parse_quantity(text: str) -> int | None:
    """Return a quantity in thousandths, rounded up as the scheduler does; None for no quantity and for negative ones.

    ``parse_quantity("500m")`` is 500, of ``"2"`` 2000, of ``"1Ki"`` 1024000.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None or (found["unit"] or "") not in _FACTORS:
        return None
    amount = Decimal(found["number"]) * _FACTORS[found["unit"] or ""] * Decimal(10) ** int(found["power"] or 0)
    return ceil(amount * 1000)


def thousandths_of(value: object) -> int:
    """Return a quantity of a manifest in thousandths; 0 for a value that is no quantity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return 0
    return parse_quantity(str(value)) or 0
