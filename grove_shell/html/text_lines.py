"""Lines of a styled text page as the lines of an HTML page: indent, label and spans with classes for their styles."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grove_core.kernel.structs import replace
from grove_shell.styled_text_page import Span, StyledTextPage

_LABEL: Final = re.compile(r" {2}[A-Z][A-Z -]*? +$")
_CITATION: Final = re.compile(r" {2}(\w+) ([A-Z]{2}-\d{3})")
_DEEPEST: Final = 8
_SPACES_OF_LEVEL: Final = 2
_LABELLED: Final = 13  # spaces before the text of a labelled entry


@dataclass(frozen=True, slots=True)
class HtmlSpan:
    """A text and the classes of its style; empty for plain text.

    Attributes:
        code, number: the reason code and the number of the rule, where the text is such a citation; else empty.
    """

    text: str
    classes: str
    code: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class HtmlLine:
    """One line of text.

    Attributes:
        level: of its indent, from 0.
        label: the word before an entry, such as ``WAIT``; None without one.
        is_heading: whether the line begins a section.
        indent: in spaces, for lines that spaces align with others.
    """

    level: int
    spans: tuple[HtmlSpan, ...]
    label: HtmlSpan | None = None
    is_heading: bool = False
    indent: int = 0

    @property
    def is_prominent(self) -> bool:
        """Whether it begins bold without an indent."""
        return not self.indent and self.label is None and "s-bold" in self.spans[0].classes

    @property
    def text(self) -> str:
        """The line without styles."""
        return "".join(span.text for span in self.spans)

    @property
    def has_columns(self) -> bool:
        """Whether spaces inside the line align it with others."""
        return "  " in "".join(span.text for span in self.spans if not span.number).strip()


def html_sections(page: StyledTextPage) -> tuple[tuple[HtmlLine, ...], ...]:
    """Return the lines of a page; a blank line ends a section, and no section is empty."""
    sections: list[list[HtmlLine]] = [[]]
    for line in page.lines:
        if "".join(text for text, _ in line).strip():
            sections[-1].append(_html_line(line, is_first=not sections[-1]))
        elif sections[-1]:
            sections.append([])
    return tuple(tuple(section) for section in sections if section)


def html_lines(page: StyledTextPage) -> tuple[HtmlLine, ...]:
    """Return the lines of a page without its sections and headings."""
    return tuple(replace(line, is_heading=False) for section in html_sections(page) for line in section)


def _html_line(line: Sequence[Span], *, is_first: bool) -> HtmlLine:
    (text, style), *rest = line
    if _LABEL.fullmatch(text) and rest:
        return HtmlLine(0, tuple(_spans(rest)), HtmlSpan(text.strip(), style_classes(style)))
    whole = "".join(part for part, _ in line)
    indent = len(whole) - len(whole.lstrip())
    beyond = max(indent - _LABELLED, 0) if indent >= _LABELLED else indent
    level = (1 if indent >= _LABELLED else 0) + -(-beyond // _SPACES_OF_LEVEL)
    is_heading = is_first and not indent and "bold" in style
    return HtmlLine(min(level, _DEEPEST), tuple(_spans(line)), is_heading=is_heading, indent=indent)


def style_classes(style: str) -> str:
    """Return the classes for a style of the text page: ``bold red`` is ``s-bold s-red``."""
    return " ".join(f"s-{word}" for word in style.split())


def _spans(spans: Iterable[Span]) -> Iterator[HtmlSpan]:
    """Yield the spans without the indent of the line."""
    is_start = True
    for text, style in spans:
        shown = text.lstrip(" ") if is_start else text
        if shown:
            is_start = False
            cited = _CITATION.fullmatch(shown)
            code, rule = cited.groups() if cited is not None else ("", "")
            yield HtmlSpan(shown, style_classes(style), code, rule)
