"""Structs: how values are declared here. They are immutable, compared by their fields, and hashable (PL-001).

A struct is declared like a frozen dataclass. Its class is made in a fiftieth of the time, which counts at every start
of a command, and its values are made and compared several times as fast (specs/decisions/0023). A dataclass stays where
a field is left out of comparisons.
"""

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, structs

__all__ = ("Struct", "replace")

V = TypeVar("V")

if TYPE_CHECKING:
    from dataclasses import replace  # so that the types of the fields are checked
else:

    def replace(value: V, /, **changes: object) -> V:
        """Return the value, a struct or a dataclass, with other fields. Raises TypeError for a field that it lacks."""
        if isinstance(value, Struct):
            return structs.replace(value, **changes)
        return dataclasses.replace(value, **changes)
