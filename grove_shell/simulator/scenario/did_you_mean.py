"""The names that a misspelt name may have meant."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

_SHOWN: Final = 4
_MOST_COMPARED: Final = 2_000


def suggestions_for(name: str, known: Iterable[str]) -> str:
    """Return ``known: a, b and 3 more`` with the most similar names first; empty without known names.

    Above 2,000 known names they stay in their order, because comparing them takes too long.
    """
    found = list(known)
    matcher = SequenceMatcher(b=name)

    def dissimilarity(other: str) -> float:
        matcher.set_seq1(other)
        return -matcher.ratio()

    ordered = sorted(found, key=dissimilarity) if len(found) <= _MOST_COMPARED else found
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"known: {', '.join(ordered[:_SHOWN])}{more}" if found else ""
