"""Widths and colours that the parts of a plan's page share."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from grove_core.explain import Tone

STYLES: Final[Mapping[Tone, str]] = MappingProxyType(
    {
        Tone.ENDS: "bold red",
        Tone.WAITS: "bold yellow",
        Tone.HELD: "bold magenta",
        Tone.UNKNOWN: "bold magenta",
        Tone.GATED: "yellow",
        Tone.KEEPS: "green",
    }
)
MAX_NAMES: Final = 8
_WIDTH: Final = max(len(tone.value) for tone in Tone)
INDENT: Final = " " * (_WIDTH + 4)


def entry_label(word: str) -> str:
    """Return the first word of an entry, padded to the width of the longest."""
    return f"  {word:<{_WIDTH}}  "
