"""PyYAML's event stream: libyaml's where it is there, else the Python one.

That one is slow, knows a few things less (a tab behind a colon), and fetches a chunk more before it begins; what both
read means the same.
"""

import re
from collections.abc import Callable
from typing import Any, Final, cast

from yaml.events import CollectionEndEvent, CollectionStartEvent, Event, ScalarEvent
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

from grove_shell.reading.faults import Unreadable
from grove_shell.reading.items import Place
from grove_shell.reading.json_checks import HALF_PAIR
from grove_shell.reading.utf8_stream import Utf8Stream, place_behind

_C_PARSER: Any = None
try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs do not export what they import
except ImportError:
    pass
else:
    _C_PARSER = CParser

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_NO_CHARACTER: Final = "found invalid Unicode character escape code"

_ABANDONED_DEPTH: Final = 1_000
"""Where even skipping ends (IN-012): the scanner's own work grows with the square of the depth."""


class _Printable:
    """A text up to the first character that YAML forbids (IN-014).

    The parsers look for these themselves, but a block ahead, so that what stands before one would be lost with it.
    """

    def __init__(self, stream: Utf8Stream) -> None:
        self._stream = stream
        self._failure: Unreadable | None = None

    def read(self, _size: int = -1) -> str:
        if self._failure:
            raise self._failure
        newlines, column = self._stream.newlines, self._stream.column
        chunk = self._stream.read()
        # The first test is fast and strict: it also fails for a tab.
        if chunk.replace("\n", "").isprintable() or not (found := _FORBIDDEN.search(chunk)):
            return chunk
        before = chunk[: found.start()]
        got = f"the character U+{ord(found.group()):04X}"
        self._failure = Unreadable("printable text", got, *place_behind(before, newlines, column))
        return before or self.read()


class _PythonParser(Reader, Scanner, Parser):
    def __init__(self, stream: _Printable) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)

    def get_event(self) -> Event:
        """The next event, where libyaml would give one: this parser takes escapes that are no characters."""
        mark = self.get_mark()
        try:
            event: Event = super().get_event()  # type: ignore[no-untyped-call]  # PyYAML has types for its C parser only
        except (ValueError, OverflowError):
            raise ScannerError(None, None, _NO_CHARACTER, mark) from None
        if isinstance(event, ScalarEvent) and HALF_PAIR.search(event.value):
            raise ScannerError(None, None, _NO_CHARACTER, mark)
        return event


def events_of(stream: Utf8Stream, *, pure: bool) -> Callable[[], Any]:
    """A function that gives the next event of the text.

    Args:
        pure: take the Python parser even where libyaml is there.

    Raises (the function that is returned):
        yaml.YAMLError: broken syntax.
        Unreadable: from the stream.
    """
    printable = _Printable(stream)
    parser: Any = _PythonParser(printable) if pure or _C_PARSER is None else _C_PARSER(printable)
    return cast("Callable[[], Any]", parser.get_event)


def place_of(event: Event) -> Place:
    """Where the text of an event begins."""
    mark: Any = event.start_mark
    return mark.line + 1, mark.column + 1


def index_of(event: Event) -> int:
    """How many characters stand before the text of an event."""
    mark: Any = event.start_mark
    return int(mark.index)


def skip(get: Callable[[], Event], depth: int) -> None:
    """Pass over events until ``depth`` open collections are closed.

    Raises:
        Unreadable: they are nested beyond all reason.
    """
    while depth:
        event = get()
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > _ABANDONED_DEPTH:
                got = "far deeper nesting (the file is not read beyond this place)"
                raise Unreadable("an object of a depth that can be read", got, *place_of(event))
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
