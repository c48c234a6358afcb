"""Text as Markdown: what comes from the code must not be taken for markup."""

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
    """Text of the code as a paragraph: code spans, links and bold words stay, all else is shown as it stands."""
    parts = _CODE.split(text.replace("``", "`"))
    return "".join(part if index % 2 else _escaped(part) for index, part in enumerate(parts))


def _escaped(text: str) -> str:
    parts = _LINK.split(text)
    return "".join(part if index % 2 else _MARKUP.sub(r"\\\1", part) for index, part in enumerate(parts))


def docstring(text: str | None) -> str:
    """A docstring without its margin and the roles of its names; empty where there is none."""
    return _ROLE.sub("`", cleandoc(text)) if text else ""


def code(text: str) -> str:
    """A code span; a dash where there is nothing to show. A bar would end a cell, or be shown with its backslash."""
    if _BAR in text:
        return f"<code>{escape(text).replace(_BAR, '&#124;')}</code>"
    return f"`{text}`" if text else "-"


def fenced(text: str, language: str = "text") -> str:
    """A block that is shown as it stands."""
    return f"```{language}\n{text.rstrip()}\n```\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar in a cell does not end it, nor does a line."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def slug(heading: str) -> str:
    """The anchor of a heading, as Python-Markdown makes it."""
    bare = re.sub(r"[^\w\s-]", "", heading.replace("`", "").replace("\\", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", bare)
