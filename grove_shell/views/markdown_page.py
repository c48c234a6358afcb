"""A text page as Markdown: its verdict, and the other lines as blocks of text as they are (CL-090)."""

from collections.abc import Iterable
from itertools import takewhile

from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.markdown_text import MarkdownDocument

Section = list[tuple[Span, ...]]
"""Lines between blank lines."""


def page_as_markdown(page: StyledTextPage) -> str:
    """Return the page of any command as Markdown, at most as long as a comment may be."""
    written = MarkdownDocument("grove -o human")
    first, *rest = text_page_sections(page) or [[]]
    head = list(takewhile(lambda line: not text_of_line(line).startswith(" "), first)) or first[:1]
    lines = first[len(head) :]
    for verdict in [line for line in head if not _is_dim(line)][:1] or head[:1]:
        head.remove(verdict)
        written.add_verdict(text_of_line(verdict))
    written.add_text(*map(text_of_line, head))
    add_markdown_sections(written, [lines, *rest])
    return written.text()


def _is_dim(line: tuple[Span, ...]) -> bool:
    """Return whether a line is about the result, such as its time and rule set, and no part of it."""
    return all(style == "dim" for _, style in line)


def add_markdown_sections(written: MarkdownDocument, sections: Iterable[Section]) -> None:
    """Add a block for each section that has a line; its first line is the summary where it is folded."""
    for section in sections:
        if section:
            written.add_page(StyledTextPage(section), text_of_line(section[0]))


def text_page_sections(page: StyledTextPage) -> list[Section]:
    """Return the lines of a page; a blank line ends a section, and no section is empty."""
    sections: list[Section] = [[]]
    for line in page.lines:
        if text_of_line(line).strip():
            sections[-1].append(line)
        else:
            sections.append([])
    return [section for section in sections if section]


def text_of_line(line: tuple[Span, ...]) -> str:
    """Return a line without styles."""
    return "".join(text for text, _ in line)
