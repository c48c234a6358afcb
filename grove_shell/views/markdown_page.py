"""A text page as Markdown: its first line is the verdict, and the others are blocks of text as they are (CL-090)."""

from collections.abc import Iterable

from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.markdown_text import MarkdownDocument

Section = list[tuple[Span, ...]]
"""Lines between blank lines."""


def page_as_markdown(page: StyledTextPage) -> str:
    """Return the page of any command as Markdown, at most as long as a comment may be."""
    written = MarkdownDocument("grove -o human")
    first, *rest = text_page_sections(page) or [[]]
    for verdict in first[:1]:
        written.add_verdict(text_of_line(verdict))
    head, lines = [], first[1:]
    while lines and not text_of_line(lines[0]).startswith(" "):
        head.append(text_of_line(lines.pop(0)))
    written.add_text(*head)
    add_sections(written, [lines, *rest])
    return written.text()


def add_sections(written: MarkdownDocument, sections: Iterable[Section]) -> None:
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
