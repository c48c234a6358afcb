"""Reads the objects of a JSON text, one at a time, with the scanner of the standard library (IN-016, IN-020).

Rules for this file: no more than one object is kept in memory, also within one long list. Bad content never raises; it
becomes faults.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grove_core.resources.decoded_pod import UnreadableFields
from grove_shell.reading.input_faults import InputFault, UnreadableText
from grove_shell.reading.input_items import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    InputItem,
    JsonValue,
    Place,
    empty_file_fault,
    flatten_lists,
    is_list_possibly_truncated,
    item_problem_as_fault,
    list_kind_problem,
    object_name_in_faults,
    with_type_from_list,
)
from grove_shell.reading.json_checks import HALF_PAIR, find_json_flaws, surrogate_problem
from grove_shell.reading.json_stream_reader import HALF_PAIR_ESCAPE, JsonStreamReader
from grove_shell.reading.pod_batch_decoding import MOST_CHARACTERS, RUN_KINDS, TakePods, decode_pod_batch, decoded_items
from grove_shell.reading.utf8_stream import Utf8Stream

_DOCUMENT_MARK: Final = "---"
_BEGINNING: Final = 256  # characters; an API server writes the kind before everything else
_COMMA: Final = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")


def input_items_from_json(
    stream: Utf8Stream, file: str, faults: list[InputFault], take_pods: TakePods | None = None
) -> Iterator[InputItem]:
    """Yield the objects of one JSON text, in its order: of a list, an array, or a sequence of objects.

    Args:
        stream: read to its end, in chunks, as the objects are asked for.
        faults: problems are appended here; a syntax error ends the text (IN-014).
        take_pods: takes pods of a list, which are not yielded then.

    Raises:
        Nothing for any content.
    """
    reader = _Reader(JsonStreamReader(stream), file, faults, take_pods)
    try:
        yield from reader.documents()
        if not reader.content:
            faults.append(empty_file_fault(file))
    except UnreadableText as end:
        faults.append(end.as_input_fault(file, max(reader.number, 1), reader.where))


class _Reader:
    """Reads one JSON text.

    Attributes:
        number: of the current document, from 1.
        content: whether any document had content, even an empty list.
    """

    def __init__(
        self, window: JsonStreamReader, file: str, faults: list[InputFault], take_pods: TakePods | None
    ) -> None:
        self._window = window
        self._file = file
        self._faults = faults
        self._take_pods = take_pods
        self.number = 0
        self.content = False
        self._index = -1

    @property
    def where(self) -> str:
        """The current list item, as in ``items[3]``; empty outside a list."""
        return f"items[{self._index}]" if self._index >= 0 else ""

    def documents(self) -> Iterator[InputItem]:
        """Yield every object of every document; null is skipped (IN-016, IN-020)."""
        window = self._window
        while mark := window.peek_next_character():
            if mark == "-" and window.skip_if_next(_DOCUMENT_MARK):
                continue
            self.number += 1
            if mark == "{":
                self.content = True
                yield from self._root()
            elif mark == "[":
                self.content = True
                window.at += 1
                yield from self._elements({})
            elif (value := window.read_value()) is not None or window.needs_check:
                self.content = True
                yield from self._checked(value, -1)

    def _root(self) -> Iterator[InputItem]:
        """Yield the objects of a root object; it is scanned as a whole if it fits and is no list."""
        window = self._window
        try:
            window.needs_check = False
            value, end = window.scan(window.text, window.at)
        except (RecursionError, StopIteration, ValueError):
            value = {"items": None}
        if "items" in value:
            yield from self._members()
        else:
            window.start, window.at = window.at, end
            yield from self._checked(value, -1)

    def _members(self) -> Iterator[InputItem]:
        """Read a root object key by key: elements of ``items`` are yielded at once, the rest at its end (IN-020)."""
        window, root = self._window, dict[str, Any]()
        begun = window.line_and_column(window.at)
        sound, streamed = True, False
        window.read_expected_character("{")
        more = window.peek_next_character() != "}" or window.read_expected_character("}") == ","
        while more:
            key = window.read_key()
            if half := HALF_PAIR.search(key):
                sound = False
                place = window.line_and_column(window.start)
                self._fault(object_name_in_faults(root), surrogate_problem(half, ""), place)
            repeated = key in root
            if repeated:
                sound = False
                place = window.line_and_column(window.start)
                self._fault(object_name_in_faults(root), (key, "each key once", f'the key "{key}" again'), place)
            window.read_expected_character(":")
            if window.peek_next_character() == "[" and key == "items" and not repeated:
                window.at += 1
                root[key] = None
                streamed = True
                yield from self._elements(root)
            else:
                root[key] = window.read_value()
                sound = self._sound(root, -1, key) and sound
            more = window.read_expected_character(",}") == ","
        item = InputItem(self._file, self.number, -1, root)
        if streamed and (problem := list_kind_problem(root)):
            self._fault(object_name_in_faults(root), problem, begun, lost=is_list_possibly_truncated(root))
        elif sound and not streamed:
            yield from flatten_lists(item, self._faults, begun)

    def _elements(self, root: Mapping[str, Any]) -> Iterator[InputItem]:
        """Yield the elements of an array, and read its closing bracket; ``root`` has the fields of the list before it.

        Stored objects that begin like the one before them are decoded many at once, without checks: there may be a
        hundred thousand, and no API server writes a key twice (IN-006).
        """
        window = self._window
        if window.peek_next_character() == "]":
            window.at += 1
            return
        prefix, between, one_by_one = "", "", 0
        while True:
            last = (
                window.text.rfind(between + prefix, window.at + 1, window.at + MOST_CHARACTERS)
                if prefix and between
                else -1
            )
            if last > one_by_one and not window.escaped and window.text.startswith(prefix, window.at):
                items = self._items_in(window.text[window.at : last], between, prefix)
                if items is not None:
                    yield from items
                    window.at = last + len(between)
                    if window.at >= window.complete_before:
                        window.read_more()
                        one_by_one = 0
                    continue
                one_by_one = last
            self._index += 1
            value = window.read_value()
            prefix = self._prefix_in_run(value) or prefix
            yield from self._checked(with_type_from_list(root, value), self._index)
            comma = _COMMA.match(window.text, window.at)
            between = comma[0] if comma else ""
            if comma and comma.end() < window.complete_before:
                window.at = comma.end()
                continue
            if window.read_expected_character(",]") == "]":
                break
            window.peek_next_character()
            if window.at >= window.complete_before and window.read_more():
                one_by_one = 0
        self._index = -1

    def _items_in(self, text: str, between: str, prefix: str) -> Sequence[InputItem] | None:
        """Return the objects of a text that are still to be yielded; None where they have to be read one by one."""
        place = self._file, self.number, self._index + 1
        if not prefix.endswith('"Pod"'):
            items = decoded_items(*place, text, between, prefix)
            self._index += len(items or ())
            return items
        run = decode_pod_batch(*place, text, between, prefix)
        if run is None or (self._take_pods is not None and not self._take_pods(run)):
            return None
        try:
            items = run.items if self._take_pods is None else []
        except UnreadableFields:
            return None
        self._index += len(run.pods)
        return items

    def _prefix_in_run(self, value: JsonValue) -> str:
        """Return the text of the last value up to its kind; empty if runs have no objects of this kind."""
        kind = value.get("kind") if type(value) is dict else None
        if kind.__class__ is not str or kind not in RUN_KINDS:
            return ""
        text, start = self._window.text, self._window.start
        found = text.find(f'"{kind}"', start, start + _BEGINNING)
        return text[start : found + len(kind) + 2] if found >= 0 else ""

    def _checked(self, value: JsonValue, index: int) -> Iterator[InputItem]:
        """Yield the objects of a value, unless it has flaws."""
        place = self._window.start
        if self._sound(value, index, ""):
            item = InputItem(self._file, self.number, index, value)
            if type(value) is dict and "items" not in value:
                yield item
            else:
                yield from flatten_lists(item, self._faults, self._window.line_and_column(place))

    def _sound(self, value: JsonValue, index: int, prefix: str) -> bool:
        """Return whether the last value has no flaws; flaws are appended as faults.

        Args:
            value: the value, or the object whose field ``prefix`` it is.
        """
        window = self._window
        text, start, end = window.text, window.start, window.at
        if end - start > MAX_CHARACTERS:
            problem = prefix, f"an object of at most {MAX_CHARACTERS:,} characters", f"{end - start:,}"
            self._fault(object_name_in_faults(value, index), problem, window.line_and_column(start))
            return False
        if not (
            window.needs_check
            or text.count("{", start, end) + text.count("[", start, end) >= MAX_DEPTH
            or (window.escaped and HALF_PAIR_ESCAPE.search(text, start, end))
        ):
            return True
        _, flaws = find_json_flaws(text, start, outer=1 if prefix else 0)
        for at, path, expected, got in flaws:
            inside = f"{prefix}.{path}".removesuffix(".").replace(".[", "[", 1) if prefix else path
            self._fault(object_name_in_faults(value, index), (inside, expected, got), window.line_and_column(at))
        return not flaws

    def _fault(self, where: str, problem: tuple[str, str, str], place: Place, *, lost: bool = True) -> None:
        self._faults.append(
            item_problem_as_fault(InputItem(self._file, self.number, -1, {}), where, problem, place, lost=lost)
        )
