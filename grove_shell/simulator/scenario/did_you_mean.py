"""What somebody may have meant who misspelt a name: the closest of the names that are known first."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

_SHOWN: Final = 4
_MOST_COMPARED: Final = 2_000


def suggestions_for(name: str, known: Iterable[str]) -> str:
    """``known: a, b and 3 more``; empty where nothing is known. Very many names stay in their order."""
    found = list(known)
    likeness = SequenceMatcher(b=name)

    def unlike(other: str) -> float:
        likeness.set_seq1(other)
        return -likeness.ratio()

    ordered = sorted(found, key=unlike) if len(found) <= _MOST_COMPARED else found
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"known: {', '.join(ordered[:_SHOWN])}{more}" if found else ""
