"""JSON that reads back, with nothing in it that a terminal cannot show (CL-049)."""

from collections.abc import Callable
from typing import Any


def json_text(value: Any, indent: int | None = None) -> str:  # noqa: ANN401 - any JSON
    """On one line, or with an indent on many; keys stay in their order."""
    import json  # noqa: PLC0415 - help prints none (CL-003)

    separators = (",", ":") if indent is None else None
    text = json.dumps(value, indent=indent, ensure_ascii=False, separators=separators)
    return text if is_printable(text) else escape_unprintable(text, _in_json)


def is_printable(text: str) -> bool:
    """Whether a terminal shows every character, line ends apart."""
    return text.replace("\n", "").isprintable()


def escape_unprintable(text: str, spell: Callable[[str], str]) -> str:
    """With an escape for each character that is not shown; only quoted texts have any, and there it means one."""
    return "".join(char if char.isprintable() or char == "\n" else spell(char) for char in text)


def _in_json(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
