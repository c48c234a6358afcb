"""PyYAML's event stream, from libyaml if it is installed, otherwise from the Python parser; and aliases in it (IN-012).

The Python parser is slow, accepts slightly less (no tab behind a colon), and fetches one more chunk before it begins.
The events of both mean the same.
"""

import re
from collections.abc import Callable
from typing import Any, Final, Protocol, cast

from yaml.events import CollectionEndEvent, CollectionStartEvent, Event, NodeEvent, ScalarEvent
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

from grove_shell.reading.input_faults import UnreadableText
from grove_shell.reading.input_items import MAX_ALIASED, MAX_CHARACTERS, JsonValue, Place
from grove_shell.reading.json_checks import HALF_PAIR
from grove_shell.reading.utf8_stream import position_after_text
from grove_shell.reading.yaml_scalars import InvalidYamlScalar

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
"""Depth at which skipping stops too (IN-012): the scanner's work grows with the square of the depth."""

_LONGEST_EVENT: Final = 2 * MAX_CHARACTERS
"""Characters that are read for one event, spaces and comments before it included (IN-012)."""


class PositionedTextReader(Protocol):
    """Characters with their position, in chunks, as ``Utf8Stream`` returns them."""

    @property
    def newline_count(self) -> int:
        """Number of newlines returned so far."""

    @property
    def column(self) -> int:
        """Number of characters returned since the last newline."""

    def read_chunk(self) -> str:
        """Return the next chunk; empty at the end. Raises UnreadableText."""


class _Printable:
    """A text up to the first character that YAML forbids (IN-014).

    The parsers check a block ahead, so the objects before such a character would be lost.

    Attributes:
        without_event: number of characters read since the last event; reading stops where it grows too large.
    """

    def __init__(self, stream: PositionedTextReader) -> None:
        self.without_event = 0
        self._stream = stream
        self._failure: UnreadableText | None = None

    def read(self, _size: int = -1) -> str:
        if self._failure:
            raise self._failure
        newlines, column = self._stream.newline_count, self._stream.column
        chunk = self._stream.read_chunk()
        self.without_event += len(chunk)
        if self.without_event > _LONGEST_EVENT:
            expected = f"an object of at most {MAX_CHARACTERS:,} characters"
            raise UnreadableText(expected, "far more (reading stopped here)", 1 + newlines, column + 1)
        # The first test is fast and strict: it also fails for a tab.
        if chunk.replace("\n", "").isprintable() or not (found := _FORBIDDEN.search(chunk)):
            return chunk
        before = chunk[: found.start()]
        got = f"the character U+{ord(found.group()):04X}"
        self._failure = UnreadableText("printable text", got, *position_after_text(before, newlines, column))
        return before or self.read()


class _PythonParser(Reader, Scanner, Parser):
    def __init__(self, stream: _Printable) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)

    def get_event(self) -> Event:
        """Return the next event, but reject escapes that are no characters, as libyaml does.

        Raises:
            ScannerError: There is such an escape.
        """
        mark = self.get_mark()
        try:
            event: Event = super().get_event()  # type: ignore[no-untyped-call]  # PyYAML has types for its C parser only
        except (ValueError, OverflowError):
            raise ScannerError(None, None, _NO_CHARACTER, mark) from None
        if isinstance(event, ScalarEvent) and HALF_PAIR.search(event.value):
            raise ScannerError(None, None, _NO_CHARACTER, mark)
        return event


def yaml_event_reader(stream: PositionedTextReader, *, pure: bool) -> Callable[[], Any]:
    """Return a function that returns the next event of the text.

    Args:
        pure: use the Python parser even if libyaml is installed.

    Raises (the function that is returned):
        yaml.YAMLError: broken syntax.
        UnreadableText: from the stream.
    """
    printable = _Printable(stream)
    parser: Any = _PythonParser(printable) if pure or _C_PARSER is None else _C_PARSER(printable)
    get = cast("Callable[[], Any]", parser.get_event)

    def next_event() -> Any:  # noqa: ANN401 - an event of PyYAML
        printable.without_event = 0
        return get()

    return next_event


def yaml_event_position(event: Event) -> Place:
    """Return line and column at which the text of an event begins."""
    mark: Any = event.start_mark
    return mark.line + 1, mark.column + 1


def yaml_event_offset(event: Event) -> int:
    """Return the number of characters before the text of an event."""
    mark: Any = event.start_mark
    return int(mark.index)


def skip_yaml_events(get: Callable[[], Event], depth: int) -> None:
    """Skip events until ``depth`` open collections are closed.

    Raises:
        UnreadableText: the nesting is too deep even for that.
    """
    while depth:
        event = get()
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > _ABANDONED_DEPTH:
                got = "far deeper nesting (the file is not read beyond this place)"
                raise UnreadableText("an object of a depth that can be read", got, *yaml_event_position(event))
        elif isinstance(event, CollectionEndEvent):
            depth -= 1


INCOMPLETE: Final = object()
"""The value of an anchor while its node is being built: an alias to it would make the node contain itself."""

BOMB: Final = "aliases that stand for at most as much as is written out"
"""The expectation in the fault of a document whose aliases expand too far; reported once for each object."""

_CHARACTERS_PER_NODE: Final = 32
"""Characters of an aliased text that count as one node."""


class YamlAnchors(dict[str, JsonValue]):
    """Anchor -> the latest node with it."""

    def __init__(self) -> None:
        super().__init__()
        self._spent = 0

    def forget_all_anchors(self) -> None:
        """Forget everything; anchors are local to their document."""
        self.clear()
        self._spent = 0

    def resolve_alias(self, alias: NodeEvent) -> JsonValue:
        """Return the node of an alias. It is shared, but counts as if it were copied.

        Raises:
            InvalidYamlScalar: the anchor is unknown, or the aliases of the document expand too far.
        """
        name = str(alias.anchor)
        if name not in self:
            raise InvalidYamlScalar("an alias to an earlier anchor", f"*{name}")
        value = self[name]
        if value is INCOMPLETE:
            raise InvalidYamlScalar("a finite value", f"the alias *{name} inside what it stands for")
        allowed = MAX_ALIASED + yaml_event_offset(alias)
        self._spent += _weight(value, allowed - self._spent)
        if self._spent > allowed:
            raise InvalidYamlScalar(BOMB, f"*{name}, one too many")
        return value


def _weight(value: JsonValue, limit: int) -> int:
    """Return the number of nodes of a value with all aliases expanded; counting stops above ``limit``."""
    weight = 0
    todo: list[JsonValue] = [value]
    while todo and weight <= limit:
        part = todo.pop()
        weight += 1
        if isinstance(part, str):
            weight += len(part) // _CHARACTERS_PER_NODE
        elif isinstance(part, dict):
            todo.extend(part)
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)
    return weight
