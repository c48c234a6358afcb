"""A picture of terminal output: SVG with the output as text, in colour, and no font that has to be fetched."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import StringIO
from typing import Final

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

_CHARACTER: Final = 7.25
_LINE: Final = 17
_MARGIN: Final = 14
_COLOURS: Final = ("#a3acb6", "#ff8f87", "#7ee08a", "#f0cb5b", "#8fb8ff", "#dda6ff", "#6fd6dd", "#e2e6ea")
"""Colours of a terminal by their number, each with a contrast of at least 7 to the background."""
_STYLE: Final = (
    "text{font:12px/1 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e2e6ea;"
    "white-space:pre}"
    ".b{font-weight:bold}.d{fill:#a3acb6}" + "".join(f".c{at}{{fill:{shade}}}" for at, shade in enumerate(_COLOURS))
)


def terminal_svg(title: str, lines: Iterable[str], columns: int) -> str:
    """Return a picture of lines with escape sequences for colours; the title is its description for screen readers."""
    console = Console(file=StringIO(), force_terminal=True, width=10_000, color_system="standard")
    decoded = [list(text.render(console)) for text in AnsiDecoder().decode("\n".join(lines))]
    width, height = round(columns * _CHARACTER + 2 * _MARGIN), len(decoded) * _LINE + 2 * _MARGIN
    drawn = (_drawn_line(line, _MARGIN + 12 + at * _LINE) for at, line in enumerate(decoded))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" rx="6" fill="#16191d"/>',
            *filter(None, drawn),
            "</svg>",
            "",
        )
    )


def _drawn_line(segments: Sequence[Segment], baseline: int) -> str:
    """Return one line of text; each part begins at the place of its column, whatever the width of the font."""
    parts = list(_parts(segments))
    if not parts:
        return ""
    spans = (
        f'<tspan x="{_MARGIN + column * _CHARACTER:g}" textLength="{len(text) * _CHARACTER:g}"'
        f"{f' class={chr(34)}{names}{chr(34)}' if names else ''}>{escape(text, quote=False)}</tspan>"
        for column, text, names in parts
    )
    return f'<text y="{baseline}">{"".join(spans)}</text>'


def _parts(segments: Sequence[Segment]) -> Iterator[tuple[int, str, str]]:
    """Yield column, text and classes of each part of a line that is not blank."""
    column = 0
    for segment in segments:
        text = segment.text.rstrip("\n")
        bare = text.strip()
        if bare:
            yield column + len(text) - len(text.lstrip()), bare, _classes(segment.style)
        column += len(text)


def _classes(style: Style | None) -> str:
    if style is None:
        return ""
    number = style.color.number if style.color is not None else None
    colour = "" if number is None else f"c{number % 8}"
    return " ".join(filter(None, (colour, "b" if style.bold else "", "d" if style.dim and not colour else "")))
