"""Markdown for comments on pull requests and for chat: escaped text, blocks of text, tables, and a limit (CL-091)."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from grove_shell.styled_text_page import StyledTextPage, escape_unprintable
from grove_shell.views.formatting import count_with_noun

MOST_CHARACTERS: Final = 60_000
"""The most characters of a result; a comment of GitHub has at most 65,536."""
_RESERVED: Final = 600  # for the sentence on what is left out
_FEW_LINES: Final = 12  # of one block that is not folded
_MOST_UNFOLDED: Final = 24  # lines of all blocks that are not folded
_LONGEST_CELL: Final = 400
_LONGEST_TEXT: Final = 4_000
_BREAK: Final = "&#8203;"  # no width; ends a mention, and a reference to an issue
_MARKUP: Final = re.compile(r"[\\`*_\[\]|~$]")
_AT_THE_START: Final = re.compile(r"^(\d*)([-+=.)])")
_SIGN: Final = re.compile(r"(?<!&)[@#]")  # but not that of a character reference
_ADDRESS: Final = re.compile(r"(?<=[A-Za-z])://|(?<=www)\.", re.IGNORECASE)
_FENCE: Final = re.compile(r"~{3,}")


def markdown_text(text: str, most: int = _LONGEST_TEXT) -> str:
    """Return text as Markdown that shows exactly this text on one line: no markup, mention, reference or link.

    Args:
        most: the most characters; of a longer text the rest is cut off.
    """
    shown = html.escape(_one_line(text, most), quote=False)
    shown = _MARKUP.sub(r"\\\g<0>", shown)
    shown = _ADDRESS.sub(lambda found: "".join(f"&#{ord(char)};" for char in found[0]), shown)
    shown = _SIGN.sub(rf"\\\g<0>{_BREAK}", shown)
    return _AT_THE_START.sub(r"\1\\\2", shown)


def _html_text(text: str) -> str:
    """Return text as it stands in an HTML element, where Markdown is not read; with no mention or reference."""
    shown = html.escape(_one_line(text, _LONGEST_CELL))
    return _SIGN.sub(rf"\g<0>{_BREAK}", shown)


def _one_line(text: str, most: int) -> str:
    shown = escape_unprintable(text).strip()
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class _Block:
    """A part of a document; its lines may be cut off at the end, its begin and its end stay.

    Attributes:
        noun: what a line is, in the singular.
    """

    before: str
    lines: tuple[str, ...]
    after: str
    noun: str

    def text(self, lines: Sequence[str]) -> str:
        return "".join(f"{part}\n" for part in (self.before, *lines, self.after) if part)


@dataclass(slots=True)
class MarkdownDocument:
    """Blocks of Markdown, in order.

    Attributes:
        complete: the command that shows what is left out.
    """

    complete: str
    _blocks: list[_Block] = field(default_factory=list)
    _unfolded: int = 0

    def add_verdict(self, text: str) -> None:
        """Add the first line; the text is escaped."""
        self._blocks.append(_Block("", (f"**{markdown_text(text)}**",), "", "line"))

    def add_text(self, *texts: str) -> None:
        """Add a paragraph; each text is escaped, and stands on a line of its own."""
        if texts:
            self._blocks.append(_Block("", ("<br>\n".join(map(markdown_text, texts)),), "", "line"))

    def add_list(self, items: Iterable[str], noun: str) -> None:
        """Add a list of escaped items; nothing without items."""
        lines = tuple(f"- {markdown_text(item)}" for item in items)
        if lines:
            self._blocks.append(_Block("", lines, "", noun))

    def add_table(self, head: Sequence[str], rows: Iterable[Sequence[str]], noun: str, title: str = "") -> None:
        """Add a table of escaped cells; nothing without rows.

        Args:
            noun: what a row is, in the singular.
            title: stands above the table, in bold.
        """
        lines = tuple(_row(row) for row in rows)
        if lines:
            above = f"**{markdown_text(title)}**\n\n" if title else ""
            before = f"{above}{_row(head)}\n|{' --- |' * len(head)}"
            self._blocks.append(_Block(before, lines, "", noun))

    def add_page(self, page: StyledTextPage, summary: str) -> None:
        """Add lines of a text page as they are, folded where there are many; nothing without lines."""
        lines = tuple(page.plain_text.splitlines())
        if not lines:
            return
        longest = max((len(fence) for line in lines for fence in _FENCE.findall(line)), default=2)
        fence = "~" * (longest + 1)
        before, after = f"{fence}text", fence
        if len(lines) <= _FEW_LINES and self._unfolded + len(lines) <= _MOST_UNFOLDED:
            self._unfolded += len(lines)
        else:
            before = f"<details><summary>{_html_text(summary)}</summary>\n\n{before}"
            after = f"{after}\n\n</details>"
        self._blocks.append(_Block(before, lines, after, "line"))

    def text(self) -> str:
        """Return the document, at most ``MOST_CHARACTERS`` long; a sentence at the end says what is left out."""
        room = MOST_CHARACTERS - _RESERVED
        parts: list[str] = []
        left_out = Counter[str]()
        for block in self._blocks:
            fitting = _fitting(block, room)
            left_out[block.noun] += len(block.lines) - len(fitting)
            if fitting:
                parts.append(block.text(fitting))
                room -= len(parts[-1]) + 1
        if counted := [count_with_noun(count, noun) for noun, count in left_out.items() if count]:
            parts.append(
                f"Left out, as a comment has at most {MOST_CHARACTERS:,} characters: {', '.join(counted)}."
                f" `{self.complete}` shows everything.\n"
            )
        return "\n".join(parts)


def _fitting(block: _Block, room: int) -> tuple[str, ...]:
    """Return the lines of a block that fit into a number of characters with its begin and its end."""
    room -= len(block.text(()))
    for number, line in enumerate(block.lines):
        room -= len(line) + 1
        if room < 0:
            return block.lines[:number]
    return block.lines


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell, _LONGEST_CELL) for cell in cells)} |"
