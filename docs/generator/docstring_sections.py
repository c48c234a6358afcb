"""Writes docstrings as Markdown: sections such as ``Args`` become lists, examples stay code."""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Final

from docs.generator.markdown import docstring, fenced, prose

_SECTION: Final = re.compile(r"\n\n(?=\S)")
_HEAD: Final = re.compile(r"[A-Z]\w+")
_ENTRY: Final = re.compile(r"^(\w+(?:, \w+)*): (.*(?:\n+ +.*)*)", re.MULTILINE)
_TITLES: Final = {"Args": "Arguments"}


def docstring_page_text(text: str | None) -> str:
    """Return a docstring as Markdown: paragraphs, named entries as lists with their names as code, examples as code."""
    first, _, rest = docstring(text).partition("\n\n")
    parts = [f"{prose(first)}\n"]
    for section in filter(None, _SECTION.split(rest)):
        head, _, body = section.partition(":\n")
        if body and _HEAD.fullmatch(head):
            parts += _section(head, dedent(body).strip("\n"))
        else:
            parts.append(f"{prose(section.strip())}\n")
    return "\n".join(parts)


def _section(head: str, body: str) -> Iterator[str]:
    """Yield the title of a section and what it has: entries, or an example, or a sentence."""
    yield f"**{_TITLES.get(head, head)}**\n"
    if ">>>" in body:
        words, _, code = body.partition(">>>")
        if words.strip():
            yield f"{prose(words.strip())}\n"
        yield fenced(f">>>{code}", "pycon")
    elif _ENTRY.match(body):
        yield "".join(f"- {_entry(names, words)}\n" for names, words in _ENTRY.findall(body))
    else:
        yield f"{prose(' '.join(body.split()))}\n"


def _entry(names: str, words: str) -> str:
    shown = ", ".join(f"`{name}`" for name in names.split(", "))
    return f"{shown}: {prose(' '.join(words.split()))}"
