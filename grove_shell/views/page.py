"""A page of text with styles: printed in colour on a terminal, plain everywhere else."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from typing import TextIO

from grove_shell.reading.faults import printable

Span = tuple[str, str]


@dataclass(slots=True)
class Page:
    """Lines of styled spans; styles are rich's (``bold red``), empty for none."""

    lines: list[tuple[Span, ...]] = field(default_factory=list)

    def add(self, *spans: Span | str) -> None:
        """Add one line."""
        styled = ((span, "") if isinstance(span, str) else span for span in spans)
        self.lines.append(tuple((printable(text), style) for text, style in styled))

    @property
    def text(self) -> str:
        """The page without styles, each line ended."""
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in self.lines)


def show(page: Page, stream: TextIO | None = None) -> None:
    """Print a page: with colours only on a terminal, and not where NO_COLOR is set (CL-006)."""
    out = stream or sys.stdout
    if out is None:  # started with its standard output closed
        return
    if not (out.isatty() and not os.environ.get("NO_COLOR")) and not os.environ.get("FORCE_COLOR"):
        write(page.text, out)
        return
    from rich.console import Console  # noqa: PLC0415 - costs 44 ms, and only terminals need it
    from rich.text import Text  # noqa: PLC0415

    drawn = StringIO()
    console = Console(file=drawn, soft_wrap=True, highlight=False, force_terminal=True)
    for line in page.lines:
        console.print(Text.assemble(*line))
    write(drawn.getvalue(), out)


def warn(sentences: Iterable[str]) -> None:
    """Say these where they do not stand in what is printed: beside it, a line each."""
    page = Page()
    for sentence in sentences:
        page.add(("warning: ", "bold yellow"), sentence)
    show(page, sys.stderr)


def write(text: str, stream: TextIO | None = None) -> None:
    """Write and flush. A reader who has seen enough (``| head``) is no error."""
    out = stream or sys.stdout
    if out is None:
        return
    try:
        out.write(text)
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
