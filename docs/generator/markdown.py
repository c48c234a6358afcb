"""Writes text of the code as Markdown, with markup characters escaped."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from inspect import cleandoc
from typing import Final

_CODE: Final = re.compile(r"(`+[^`]+`+)")
_LINK: Final = re.compile(r"(\[[^\]]+\]\([^)\s]+\)|\*\*[^*]+\*\*)")
_MARKUP: Final = re.compile(r"([\\<>*_\[\]])")
_BAR: Final = "|"
_ROLE: Final = re.compile(r":[a-z]+:`")


def prose(text: str) -> str:
    """Return text as a paragraph: code spans, links and bold words are kept, other markup characters are escaped."""
    parts = _CODE.split(text.replace("``", "`"))
    return "".join(part if index % 2 else _escaped(part) for index, part in enumerate(parts))


def _escaped(text: str) -> str:
    parts = _LINK.split(text)
    return "".join(part if index % 2 else _MARKUP.sub(r"\\\1", part) for index, part in enumerate(parts))


def docstring(text: str | None) -> str:
    """Return a docstring without indentation and without roles such as ``:class:``; empty where there is none."""
    return _ROLE.sub("`", cleandoc(text)) if text else ""


def code(text: str) -> str:
    """Return a code span, or a dash for an empty text; text with a bar becomes HTML, as a bar ends a table cell."""
    if _BAR in text:
        return f"<code>{escape(text).replace(_BAR, '&#124;')}</code>"
    return f"`{text}`" if text else "-"


def fenced(text: str, language: str = "text") -> str:
    """Return a fenced code block."""
    return f"```{language}\n{text.rstrip()}\n```\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars in cells are escaped and line ends become spaces."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def slug(heading: str) -> str:
    """Return the anchor that Python-Markdown gives a heading."""
    bare = re.sub(r"[^\w\s-]", "", heading.replace("`", "").replace("\\", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", bare)
