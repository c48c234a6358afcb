"""A page of text with styles: printed in colour on a terminal, plain everywhere else."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from typing import TextIO

Span = tuple[str, str]


@dataclass(slots=True)
class Page:
    """Lines of styled spans; styles are rich's (``bold red``), empty for none."""

    lines: list[tuple[Span, ...]] = field(default_factory=list)

    def add(self, *spans: Span | str) -> None:
        """Add one line."""
        styled = ((span, "") if isinstance(span, str) else span for span in spans)
        self.lines.append(tuple((escape_unprintable(text), style) for text, style in styled))

    @property
    def text(self) -> str:
        """The page without styles, each line ended."""
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in self.lines)


def joined_pages(pages: Iterable[Page]) -> Page:
    """Return one page with the lines of several."""
    return Page([line for page in pages for line in page.lines])


def escape_unprintable(text: str) -> str:
    """One line that any terminal can show: what is not printable is escaped, escape sequences among it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def print_page(page: Page) -> None:
    """Print a page: with colours only on a terminal and not where NO_COLOR is set, or where FORCE_COLOR is (CL-006)."""
    print_page_to(page, sys.stdout)


def print_error(said: Page | Exception | str) -> None:
    """Say what is wrong on standard error; nowhere at all where the process was started without (CL-001).

    Words may hold what a file or a server put into them, so nothing of them reaches a terminal raw (IN-005).
    """
    page = said if isinstance(said, Page) else Page()
    for line in () if isinstance(said, Page) else str(said).removesuffix("\n").split("\n"):
        page.add(line)
    print_page_to(page, sys.stderr)


def overwrite_line(text: str) -> None:
    """Put words where the last ones stand on the terminal of standard error; nothing wipes them away."""
    sys.stderr.write("\r\033[K" + escape_unprintable(text))
    sys.stderr.flush()


def is_stderr_terminal() -> bool:
    """Whether somebody sees on a terminal what is written to standard error."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_page_to(page: Page, out: TextIO | None) -> None:
    """The same on a stream; None where the process was started with it closed."""
    if out is None:
        return
    if not (out.isatty() and not os.environ.get("NO_COLOR")) and not os.environ.get("FORCE_COLOR"):
        _write_to(page.text, out)
        return
    from rich.console import Console  # noqa: PLC0415 - costs 44 ms, and only terminals need it
    from rich.text import Text  # noqa: PLC0415 - as above

    drawn = StringIO()
    console = Console(file=drawn, soft_wrap=True, highlight=False, force_terminal=True)
    for line in page.lines:
        console.print(Text.assemble(*line))
    _write_to(drawn.getvalue(), out)


def print_warnings(sentences: Iterable[str]) -> None:
    """Say these where they do not stand in what is printed: beside it, a line each."""
    page = Page()
    for sentence in sentences:
        page.add(("warning: ", "bold yellow"), sentence)
    print_error(page)


def write_stdout(text: str) -> None:
    """Write to standard output and flush. A reader who has seen enough (``| head``) is no error."""
    _write_to(text, sys.stdout)


def _write_to(text: str, out: TextIO | None) -> None:
    if out is None:
        return
    try:
        out.write(text)
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
