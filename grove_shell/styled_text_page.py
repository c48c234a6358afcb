"""A page of styled text, and printing it: in colour on a terminal, plain everywhere else; JSON as text."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final, TextIO

Span = tuple[str, str]


@dataclass(slots=True)
class StyledTextPage:
    """Lines of styled spans. A style is one of rich (``bold red``), or empty."""

    lines: list[tuple[Span, ...]] = field(default_factory=list)

    def add_line(self, *spans: Span | str) -> None:
        """Add one line."""
        styled = ((span, "") if isinstance(span, str) else span for span in spans)
        self.lines.append(tuple((escape_unprintable(text), style) for text, style in styled))

    @property
    def plain_text(self) -> str:
        """Return the page without styles; every line ends with a line feed."""
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in self.lines)


def joined_pages(pages: Iterable[StyledTextPage]) -> StyledTextPage:
    """Return one page with the lines of several."""
    return StyledTextPage([line for page in pages for line in page.lines])


def escape_unprintable(text: str) -> str:
    """Return the text on one line that any terminal can show: unprintable characters are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def wrapped_line(line: tuple[Span, ...], width: int) -> Iterator[tuple[Span, ...]]:
    """Yield the parts of a line that fit into a width; the later ones are indented below its text (CL-089).

    A line breaks between words; a longer word stays whole.
    """
    text = "".join(part for part, _ in line).rstrip()
    indent = _hanging_indent(text)
    if len(text) <= width or width < indent + _LEAST_TEXT:
        yield line
        return
    start, room, prefix = 0, width, ""
    while len(text) - start > room:
        floor = start + (indent if not prefix else 0)
        end = text.rfind(" ", floor + 1, start + room + 1)
        if end < 0:
            end = text.find(" ", start + room)
        if end < 0:
            break
        yield ((prefix, ""), *_slice_of_spans(line, start, end))
        start = end + len(text[end:]) - len(text[end:].lstrip(" "))
        prefix, room = " " * indent, width - indent
    yield ((prefix, ""), *_slice_of_spans(line, start, len(text)))


def _hanging_indent(text: str) -> int:
    """Return where the text of a line begins, behind labels and columns; of plain text two spaces more."""
    leading = len(text) - len(text.lstrip())
    columns = [found.end() for found in _COLUMN_GAP.finditer(text[:_COLUMNS]) if found.start() > leading]
    return columns[-1] if columns else leading + 2


def _slice_of_spans(line: tuple[Span, ...], start: int, end: int) -> Iterator[Span]:
    at = 0
    for text, style in line:
        part = text[max(start - at, 0) : max(end - at, 0)]
        at += len(text)
        if part:
            yield part, style


_COLUMN_GAP: Final = re.compile(r" {2,}(?=\S)")
_COLUMNS: Final = 34
"""Labels and columns are before this place."""
_LEAST_TEXT: Final = 20


def print_page(page: StyledTextPage) -> None:
    """Print a page on standard output.

    Colours are used on a terminal unless NO_COLOR is set, and everywhere if FORCE_COLOR is set (CL-049). Long lines
    are wrapped on a terminal (CL-089).
    """
    print_page_to_stream(page, sys.stdout)


def print_error(message: StyledTextPage | Exception | str) -> None:
    """Print a message on standard error; nothing where the process was started with it closed (CL-001).

    A message may contain text of a file or a server, so unprintable characters are escaped (IN-030).
    """
    if isinstance(message, Exception) and message.args and isinstance(message.args[0], StyledTextPage):
        message = message.args[0]
    page = message if isinstance(message, StyledTextPage) else StyledTextPage()
    for line in () if isinstance(message, StyledTextPage) else str(message).removesuffix("\n").split("\n"):
        page.add_line(line)
    print_page_to_stream(page, sys.stderr)


def overwrite_terminal_line(text: str) -> None:
    """Overwrite the current line on the terminal of standard error; an empty text clears it."""
    sys.stderr.write("\r\033[K" + escape_unprintable(text))
    sys.stderr.flush()


def is_stderr_terminal() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_page_to_stream(page: StyledTextPage, out: TextIO | None) -> None:
    """Print a page on a stream, with colours as ``print_page`` uses them.

    Args:
        out: the stream; None where the process was started with it closed, and then nothing is printed.
    """
    if out is None:
        return
    if out.isatty():
        width = shutil.get_terminal_size().columns
        page = StyledTextPage([part for line in page.lines for part in wrapped_line(line, width)])
    if not (out.isatty() and not os.environ.get("NO_COLOR")) and not os.environ.get("FORCE_COLOR"):
        _write_to(page.plain_text, out)
        return
    from rich.console import Console  # noqa: PLC0415 - costs 44 ms, and only terminals need it
    from rich.text import Text  # noqa: PLC0415 - as above

    drawn = StringIO()
    console = Console(file=drawn, soft_wrap=True, highlight=False, force_terminal=True)
    for line in page.lines:
        console.print(Text.assemble(*line))
    _write_to(drawn.getvalue(), out)


def print_warnings(sentences: Iterable[str]) -> None:
    """Print warnings on standard error, one line each."""
    page = StyledTextPage()
    for sentence in sentences:
        page.add_line(("warning: ", "bold yellow"), sentence)
    print_error(page)


def write_stdout(text: str) -> None:
    """Write to standard output and flush. A closed pipe (``| head``) is not an error."""
    _write_to(text, sys.stdout)


def _write_to(text: str, out: TextIO | None) -> None:
    if out is None:
        return
    try:
        out.write(text)
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def json_text(value: Any, indent: int | None = None) -> str:  # noqa: ANN401 - any JSON
    """On one line, or with an indent on many; keys stay in their order."""
    import msgspec  # noqa: PLC0415 - help prints none (CL-003)

    compact = msgspec.json.encode(value)
    text = (compact if indent is None else msgspec.json.format(compact, indent=indent)).decode()
    return text if is_printable(text) else escape_unprintable_characters(text, _in_json)


def is_printable(text: str) -> bool:
    """Whether a terminal shows every character, line ends apart."""
    return text.replace("\n", "").isprintable()


def escape_unprintable_characters(text: str, spell: Callable[[str], str]) -> str:
    """With an escape for each character that is not shown; only quoted texts have any, and there it means one."""
    return "".join(char if char.isprintable() or char == "\n" else spell(char) for char in text)


def _in_json(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
