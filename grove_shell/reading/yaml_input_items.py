"""Reads the objects of a YAML text, one at a time (IN-012, IN-014, IN-020).

Rules for this file: no more than one object is kept in memory, also within one long list. Bad content never raises; it
becomes faults.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml
from yaml.events import (
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from grove_shell.reading.input_faults import InputFault, UnreadableText
from grove_shell.reading.input_items import (
    InputItem,
    JsonValue,
    empty_file_fault,
    flatten_lists,
    is_list_possibly_truncated,
    item_problem_as_fault,
    list_kind_problem,
    object_name_in_faults,
    with_type_from_list,
)
from grove_shell.reading.kubectl_yaml_items import KubectlYamlItemReader
from grove_shell.reading.pod_batch_decoding import TakePods
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_events import yaml_event_position
from grove_shell.reading.yaml_scalars import MERGE
from grove_shell.reading.yaml_value_builder import UnnamedObjectFault, YamlValueBuilder


def input_items_from_yaml(
    stream: Utf8Stream,
    file: str,
    faults: list[InputFault],
    take_pods: TakePods | None = None,
    *,
    pure: bool = False,
) -> Iterator[InputItem]:
    """Yield the objects of one YAML text, in its order.

    Args:
        stream: read to its end, in chunks, as the objects are asked for.
        faults: problems are appended here; a syntax error ends the text (IN-014).
        take_pods: takes pods of a list, which are not yielded then.
        pure: use the Python parser even if libyaml is installed.

    Raises:
        Nothing for any content.
    """
    printed = KubectlYamlItemReader(stream, file, take_pods)
    reader = _Reader(file, faults)
    try:
        yield from printed.items()
        reader.read_before = printed.count
        yield from reader.documents(YamlValueBuilder(printed.rest(), pure=pure))
        if not reader.content:
            faults.append(empty_file_fault(file))
    except (yaml.YAMLError, UnreadableText) as error:
        end = error if isinstance(error, UnreadableText) else _ended(error)
        faults.append(end.as_input_fault(file, max(reader.number, 1), reader.where))


class _Reader:
    """Reads one YAML text.

    Attributes:
        number: of the current document, from 1.
        where: the current list item, as in ``items[3]``; empty outside a list.
        content: whether any document had content, even an empty list.
        read_before: number of the items of the first list that were read without the parser.
    """

    def __init__(self, file: str, faults: list[InputFault]) -> None:
        self._file = file
        self._faults = faults
        self.number = 0
        self.where = ""
        self.content = False
        self.read_before = 0

    def documents(self, nodes: YamlValueBuilder) -> Iterator[InputItem]:
        """Yield every object of every document; documents without content are skipped (IN-020)."""
        self._nodes = nodes
        while type(event := nodes.get()) is not StreamEndEvent:
            if type(event) is not DocumentStartEvent:
                continue
            self.number += 1
            nodes.forget_anchors()
            root = nodes.get()
            if type(root) is MappingStartEvent:
                self.content = True
                yield from self._mapping(root)
            elif type(root) is SequenceStartEvent:
                self.content = True
                yield from self._elements(root, {})
            else:
                value = nodes.build_node(root, "")
                if value is not None or nodes.flaws:
                    self.content = True
                    yield from self._finished(value, -1, root)

    def _mapping(self, start: MappingStartEvent) -> Iterator[InputItem]:
        """Yield the objects of a mapping at the root: elements of ``items`` at once, the rest at its end (IN-020)."""
        nodes, root = self._nodes, dict[str, Any]()
        own: list[UnnamedObjectFault] = []
        streamed = False
        nodes.enter_collection(start)
        while type(event := nodes.get()) is not MappingEndEvent:
            key = nodes.next_root_key(event, root)
            event = nodes.get()
            if key == "items" and "items" not in root and type(event) is SequenceStartEvent:
                own += nodes.take_flaws()
                root[key] = None
                streamed = True
                yield from self._elements(event, root)
            elif key == "items" and self.read_before and not streamed:
                root[key] = nodes.build_node(event, key)
                streamed, self.read_before = True, 0
            elif key is MERGE:
                nodes.merge_into_mapping(event, nodes.build_node(event, ""), root, ("", [], root, True, ""))
            else:
                root[key] = nodes.build_node(event, key)
        if streamed and (problem := list_kind_problem(root)):
            frame = InputItem(self._file, self.number, -1, root)
            place, lost = yaml_event_position(start), is_list_possibly_truncated(root)
            self._faults.append(item_problem_as_fault(frame, object_name_in_faults(root), problem, place, lost=lost))
        nodes.flaws[:0] = own
        if nodes.flaws or not streamed:
            yield from self._finished(root, -1, start)

    def _elements(self, start: SequenceStartEvent, root: Mapping[str, Any]) -> Iterator[InputItem]:
        nodes, index = self._nodes, self.read_before
        self.read_before = 0
        nodes.enter_collection(start)
        while type(event := nodes.get()) is not SequenceEndEvent:
            self.where = f"items[{index}]"
            value = with_type_from_list(root, nodes.build_node(event, ""))
            if type(value) is dict and "items" not in value and not nodes.flaws:
                yield InputItem(self._file, self.number, index, value)
            else:
                yield from self._finished(value, index, event)
            index += 1
        self.where = ""

    def _finished(self, value: JsonValue, index: int, start: Event) -> Iterator[InputItem]:
        """Yield the objects of a value, or append its flaws as faults with their places (IN-030)."""
        flaws = self._nodes.take_flaws()
        if not flaws:
            yield from flatten_lists(
                InputItem(self._file, self.number, index, value), self._faults, yaml_event_position(start)
            )
        item = InputItem(self._file, self.number, index, value)
        for flaw in flaws:
            problem, place = flaw[:3], flaw[3:]
            self._faults.append(item_problem_as_fault(item, object_name_in_faults(value, index), problem, place))


def _ended(error: yaml.YAMLError) -> UnreadableText:
    """Return a syntax error as the end of its text (IN-014)."""
    expected = "valid YAML (reading stopped here)"
    if isinstance(error, ReaderError):
        return UnreadableText(expected, str(error.reason))
    if not isinstance(error, yaml.MarkedYAMLError):
        return UnreadableText(expected, str(error))
    mark = error.problem_mark or error.context_mark
    got = ", ".join(part for part in (error.context, error.problem) if part)
    if "found a tab" in got or "found character '\\t'" in got:
        expected, got = "", f"{_TAB} (reading stopped here)"
    elif got.endswith("found character that cannot start any token"):  # libyaml does not say which
        expected, got = "", f"{_TAB}; or a value that begins with @, ` or % (reading stopped here)"
    return UnreadableText(expected, got, mark.line + 1, mark.column + 1) if mark else UnreadableText(expected, got)


_TAB: Final = "a tab for indentation, where YAML allows only spaces"
