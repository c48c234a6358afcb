"""A page of text with styles: printed in colour on a terminal, plain everywhere else."""

import os
import sys
from dataclasses import dataclass, field
from typing import TextIO

Span = tuple[str, str]


@dataclass(slots=True)
class Page:
    """Lines of styled spans; styles are rich's (``bold red``), empty for none."""

    lines: list[tuple[Span, ...]] = field(default_factory=list)

    def add(self, *spans: Span | str) -> None:
        """Add one line."""
        self.lines.append(tuple((span, "") if isinstance(span, str) else span for span in spans))

    @property
    def text(self) -> str:
        """The page without styles, each line ended."""
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in self.lines)


def show(page: Page, stream: TextIO | None = None) -> None:
    """Print a page: with colours only on a terminal, and not where NO_COLOR is set."""
    out = stream or sys.stdout
    if not (out.isatty() and not os.environ.get("NO_COLOR")) and not os.environ.get("FORCE_COLOR"):
        out.write(page.text)
        return
    from rich.console import Console  # noqa: PLC0415 - costs 44 ms, and only terminals need it
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=out, soft_wrap=True, highlight=False, force_terminal=True)
    for line in page.lines:
        console.print(Text.assemble(*line))
