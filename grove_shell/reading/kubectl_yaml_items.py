"""Reads the items of a list that kubectl printed as YAML, as long as they have its form (IN-006, IN-020).

What follows is left to the YAML parser, which gets the same text with empty lines in place of the items that were read.
So it finds every problem at its line.
"""

import re
from collections.abc import Iterator
from typing import Final

from grove_core.resources.decoded_pod import decode_whole
from grove_shell.reading.input_faults import UnreadableText
from grove_shell.reading.input_items import MAX_CHARACTERS, InputItem
from grove_shell.reading.kubectl_output_yaml import KubectlYamlConverter
from grove_shell.reading.kubectl_yaml_lines import NotKubectlYaml
from grove_shell.reading.pod_batch_decoding import MOST_CHARACTERS, TakePods, decode_pod_batch
from grove_shell.reading.utf8_stream import Utf8Stream

_HEADER: Final = re.compile(r"apiVersion: v1\nitems:\n(?=- )")
_ITEM_END: Final = re.compile(r"\n(?=([A-Za-z-])|[^ \n])")  # not by a comment, say
_POD: Final = '{"apiVersion":"v1","kind":"Pod"'
_MOST_CHARACTERS: Final = 1024 * 1024  # of an item
_MOST_LINES: Final = MAX_CHARACTERS  # the parser takes twice as many empty lines at once
_BLANKS: Final = "\n" * 64 * 1024


class KubectlYamlItemReader:
    """Reads the first items of a text.

    Attributes:
        count: of the items that were read.
    """

    def __init__(self, stream: Utf8Stream, file: str, take_pods: TakePods | None) -> None:
        self._stream = stream
        self._file = file
        self._take_pods = take_pods
        self._text, self._at = "", 0
        self._blank_lines = 0
        self._header = ""
        self._failure: UnreadableText | None = None
        self._pods: list[str] = []  # as JSON
        self._size = 0
        self.count = 0

    def items(self) -> Iterator[InputItem]:
        """Yield items, until one has another form. Raises UnreadableText only for the first characters."""
        header = _HEADER.match(self._stream.peek_first_characters())
        if header is None:
            return
        self._header = header[0]
        self._text, self._at = self._stream.read_chunk(), header.end()
        converter = KubectlYamlConverter()
        while self._blank_lines < _MOST_LINES and (item := self._next_item()) is not None:
            try:
                found = converter.json_of_item(item)
            except NotKubectlYaml:
                break
            self._at += len(item) + 1
            self._blank_lines += item.count("\n") + 1
            yield from self._with_item(found)
        yield from self._taken_pods()

    def rest(self) -> "UnreadText":
        """Return the text in which the items that were read are empty lines."""
        return UnreadText(self._rest_in_chunks())

    def _rest_in_chunks(self) -> Iterator[str]:
        yield self._header
        while self._blank_lines:
            blanks = _BLANKS[: self._blank_lines]
            self._blank_lines -= len(blanks)
            yield blanks
        yield self._text[self._at :]
        if self._failure is not None:
            raise self._failure
        while chunk := self._stream.read_chunk():
            yield chunk

    def _next_item(self) -> str | None:
        """Return the text of the next item, without its last line break; None where there is no such item."""
        begun = self._at
        while True:
            found = _ITEM_END.search(self._text, begun)
            if found is not None:
                is_whole = self._text.startswith("- ", self._at) and found[1]
                return self._text[self._at : found.start()] if is_whole else None
            self._text, self._at = self._text[self._at :], 0
            begun = max(0, len(self._text) - 1)
            if len(self._text) > _MOST_CHARACTERS or not self._read_more():
                return None

    def _read_more(self) -> bool:
        try:
            chunk = self._stream.read_chunk()
        except UnreadableText as failure:
            self._failure = failure
            return False
        self._text += chunk
        return bool(chunk)

    def _with_item(self, text: str) -> Iterator[InputItem]:
        """Yield what can be yielded once another item was read."""
        if text.startswith(_POD):
            self._pods.append(text)
            self._size += len(text)
            if self._size > MOST_CHARACTERS:
                yield from self._taken_pods()
        else:
            yield from self._taken_pods()
            yield self._item(text)

    def _taken_pods(self) -> Iterator[InputItem]:
        """Yield the pods that were read and are not taken."""
        pods, self._pods, self._size = self._pods, [], 0
        run = (
            decode_pod_batch(self._file, 1, self.count, ",".join(pods), ",", _POD) if pods and self._take_pods else None
        )
        if run is not None and self._take_pods is not None and self._take_pods(run):
            self.count += len(pods)
        else:
            yield from map(self._item, pods)

    def _item(self, text: str) -> InputItem:
        self.count += 1
        return InputItem(self._file, 1, self.count - 1, decode_whole(text))


class UnreadText:
    """Characters that are still to be read, as those of a `Utf8Stream`.

    Attributes:
        newline_count: number of newlines returned so far.
        column: number of characters returned since the last newline.
    """

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self.newline_count = 0
        self.column = 0

    def read_chunk(self) -> str:
        """Return the next chunk; empty at the end. Raises UnreadableText."""
        chunk = next(filter(None, self._chunks), "")
        newline = chunk.rfind("\n")
        self.column = len(chunk) - newline - 1 if newline >= 0 else self.column + len(chunk)
        self.newline_count += chunk.count("\n")
        return chunk
