"""The part of a JSON text that is in memory; it advances as values are read, and grows for a large value."""

import math
import re
from collections.abc import Callable
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs leave it out
from typing import Any, Final, TypeAlias

from grove_shell.reading.input_faults import UnreadableText
from grove_shell.reading.input_items import MAX_CHARACTERS, JsonValue, Place
from grove_shell.reading.json_checks import TruncatedJson, find_json_flaws
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_scalars import whole_float_as_integer

Scan: TypeAlias = Callable[[str, int], tuple[Any, int]]

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_AMPLE: Final = 64 * 1024
"""More characters than nearly every object needs. A scan that hits the end of the text is repeated and slow: Python
counts all lines of the text for its error message."""
_NEAR_THE_END: Final = 32
"""An error so close to the end of the text may come from the cut; an escape is the longest token besides strings and
numbers."""


HALF_PAIR_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_UNKNOWN: Final = (-1, 0, 0)
_UNSURE: Final = 3
"""A number so close to the end of the text may be cut: of `1e+5` the scanner would read `1` and leave `e+`."""


def json_scanner_from_decoder(decoder: JSONDecoder) -> Scan:
    """Return the scanner of a decoder: (text, position) -> (value, end), whatever follows the value.

    Raises (the function that is returned):
        StopIteration, json.JSONDecodeError, RecursionError, ValueError: there is no such value.
    """
    scan: Scan = decoder.scan_once  # type: ignore[attr-defined]  # the stubs leave it out
    return scan


class JsonStreamReader:
    """A window on a JSON text.

    Attributes:
        text: the part in memory.
        at: current position in ``text``.
        start: where the last value begins in ``text``.
        complete_before: a value that begins before this position probably ends in ``text``.
        escaped: whether ``text`` has an escape that may be an unpaired surrogate.
        needs_check: whether the last value may have flaws that only `find_json_flaws` finds.
        scan: reads a value.
    """

    __slots__ = (
        "_before",
        "_closed",
        "_known",
        "_stream",
        "at",
        "complete_before",
        "escaped",
        "needs_check",
        "scan",
        "start",
        "text",
    )

    def __init__(self, stream: Utf8Stream) -> None:
        self._stream = stream
        self._before = 0  # characters between the last dropped newline and the text
        self._closed = False
        self._known = _UNKNOWN
        self.text = ""
        self.at = 0
        self.start = 0
        self.needs_check = False
        self.escaped = False
        self.complete_before = 0
        number, constant = self._float, self._constant
        self.scan = json_scanner_from_decoder(
            JSONDecoder(parse_float=number, parse_constant=constant, object_pairs_hook=self._object)
        )

    def read_more(self) -> bool:
        """Drop what was read and fetch more; return False at the end of the text.

        Raises:
            UnreadableText: from the stream, or the current value is too large.
        """
        if self._closed:
            return False
        left = len(self.text) - self.at
        if left > MAX_CHARACTERS:
            expected = f"an object of at most {MAX_CHARACTERS:,} characters"
            raise UnreadableText(expected, "more (reading stopped here)", *self.line_and_column(self.at))
        newline = self.text.rfind("\n", 0, self.at)
        self._before = self._before + self.at if newline < 0 else self.at - newline - 1
        # A value that spans chunks is scanned again each time, so the text doubles each time: the sum stays linear.
        parts, fetched = [self.text[self.at :]], 0
        while not self._closed and fetched <= left:
            parts.append(self._stream.read_chunk())
            self._closed = not parts[-1]
            fetched += len(parts[-1])
        self._known = _UNKNOWN
        self.text = "".join(parts)
        # Nearly every text has no escape at all, and most that have some have none of this kind.
        self.escaped = "\\" in self.text and HALF_PAIR_ESCAPE.search(self.text) is not None
        self.at = 0
        self.complete_before = len(self.text) - (0 if self._closed else _AMPLE)
        return fetched > 0

    def peek_next_character(self) -> str:
        """Move ``at`` to the next character that is not blank and return it; empty at the end of the text."""
        while True:
            match = _BLANKS.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.read_more():
                return ""

    def skip_if_next(self, mark: str) -> bool:
        """Return whether ``mark`` begins at ``at``, and move behind it."""
        while len(self.text) - self.at < len(mark) and self.read_more():
            pass
        found = self.text.startswith(mark, self.at)
        self.at += len(mark) if found else 0
        return found

    def read_expected_character(self, wanted: str) -> str:
        """Skip blanks and read one character out of ``wanted``."""
        if (found := self.peek_next_character()) and found in wanted:
            self.at += 1
            return found
        raise self.syntax_error(" or ".join(f'"{one}"' for one in wanted), self.at)

    def read_key(self) -> str:
        """Read the key of an object."""
        if self.peek_next_character() != '"':
            raise self.syntax_error("a key in double quotes", self.at)
        return str(self.read_value(lambda text, at: scanstring(text, at + 1, True)))  # noqa: FBT003 - its C form

    def read_value(self, scan: Scan | None = None) -> JsonValue:
        """Read the value that begins at ``at``; afterwards it is ``text[start:at]``.

        Raises:
            UnreadableText: a syntax error, or from `more`.
        """
        scan = scan or self.scan
        while True:
            self.needs_check = False
            failed, cut, value, end = 0, True, None, -1
            try:
                value, end = scan(self.text, self.at)
            except StopIteration as stop:
                failed = stop.value
                cut = failed > len(self.text) - _NEAR_THE_END
            except JSONDecodeError as error:
                failed = error.pos
                cut = failed > len(self.text) - _NEAR_THE_END or error.msg.startswith("Unterminated string")
            except (RecursionError, ValueError):  # too deep, or more digits than Python takes
                try:
                    end, _ = find_json_flaws(self.text, self.at)
                    self.needs_check = True
                except TruncatedJson as off:
                    failed = off.at
            if 0 <= end <= len(self.text) - _UNSURE:
                break
            # The error may come from the cut. Positions move with the text.
            offset = (failed if end < 0 else end) - self.at
            if not cut or not self.read_more():
                if end < 0:
                    raise self.syntax_error("valid JSON", self.at + offset)
                end = self.at + offset
                break
        self.start, self.at = self.at, end
        return value

    def line_and_column(self, at: int) -> Place:
        """Return line and column of a position in ``text``.

        Counts from the last position, so that a fault for each object takes linear time in total.
        """
        known_at, line, newline = self._known
        if at < known_at or known_at < 0:
            known_at, line, newline = 0, 1 + self._stream.newline_count - self.text.count("\n"), -1 - self._before
        line += self.text.count("\n", known_at, at)
        found = self.text.rfind("\n", known_at, at)
        newline = found if found >= 0 else newline
        self._known = at, line, newline
        return line, at - newline

    def syntax_error(self, expected: str, at: int) -> UnreadableText:
        """Return a syntax error that ends the text (IN-014)."""
        found = self.text[at : at + 1]
        got = f'"{found}"' if found else "the end of the text"
        return UnreadableText(f"{expected} (reading stopped here)", got, *self.line_and_column(at))

    def _object(self, pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        """Return an object and detect repeated keys (IN-006)."""
        value = dict(pairs)
        if len(value) < len(pairs):
            self.needs_check = True
        return value

    def _float(self, digits: str) -> float:
        """Return a number with a fraction or an exponent; whole ones are integers, as in YAML (IN-001, IN-006)."""
        value = float(digits)
        if math.isfinite(value):
            return whole_float_as_integer(value)
        self.needs_check = True
        return 0.0

    def _constant(self, _name: str) -> None:
        """Detect ``NaN`` and ``Infinity``, which are no JSON (IN-006)."""
        self.needs_check = True
