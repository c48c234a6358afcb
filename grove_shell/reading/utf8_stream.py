"""Decodes bytes as UTF-8 in chunks, unpacked where they are gzip data (IN-084), and counts newlines.

Rule for this file: whatever the bytes are, the only exception is `UnreadableText`, raised after all text before the bad
place was returned.
"""

import codecs
from typing import BinaryIO, Final

from grove_shell.reading.gzip_stream import GZIP_START, GzipStream, UnreadableGzip
from grove_shell.reading.input_faults import UnreadableText
from grove_shell.reading.input_items import Place

_CHUNK: Final = 64 * 1024
"""Bytes. Buffers of 128 KiB and more are allocated from the system, page by page, each time: reading takes 2.5 times as
long with them."""
_UTF8_MARK: Final = "\ufeff"
_KNOWN_BINARIES: Final = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (GZIP_START, "gzip data in gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "a program"),
)
_TAR_MARK: Final = b"ustar"
_TAR_MARK_AT: Final = 257


class Utf8Stream:
    """The characters of one binary stream, read once from front to back (IN-014).

    Attributes:
        column: number of characters returned since the last newline.
    """

    __slots__ = (
        "_chunk_size",
        "_counted",
        "_decoder",
        "_failure",
        "_fetched",
        "_handed",
        "_head",
        "_newlines",
        "_raw",
        "_seekable",
        "_started",
        "column",
    )

    def __init__(self, raw: BinaryIO, chunk_size: int = _CHUNK) -> None:
        self._raw = raw
        self._chunk_size = chunk_size
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._failure: UnreadableText | None = None
        self._head = ""
        self._started = False
        self._newlines = 0
        self._seekable = _is_seekable(raw)
        self._fetched = self._handed = self._counted = raw.tell() if self._seekable else 0  # bytes
        self.column = 0

    @property
    def newline_count(self) -> int:
        """Number of newlines returned so far.

        Only faults need it, and counting takes a tenth of the reading time. On a seekable stream the newlines are
        therefore counted on demand, from the bytes since the last count.
        """
        if self._seekable and self._counted < self._handed:
            self._raw.seek(self._counted)
            while piece := self._raw.read(min(_CHUNK, self._handed - self._counted)):
                self._newlines += piece.count(b"\n")
                self._counted += len(piece)
            self._raw.seek(self._fetched)
        return self._newlines

    def peek_first_characters(self) -> str:
        """Return the first characters without consuming them; empty for an empty stream.

        Raises:
            UnreadableText: the bytes are no text.
        """
        if not self._started:
            self._started = True
            self._head = self._decoded(self._first_chunk(), first=True)
        return self._head

    def read_chunk(self) -> str:
        """Return the next chunk of characters; empty at the end.

        Raises:
            UnreadableText: the next bytes are no text, or cannot be read.
        """
        chunk, self._head = self.peek_first_characters(), ""
        if not chunk:
            if self._failure:
                raise self._failure
            chunk = self._decoded(self._chunk(self._chunk_size), first=False)
        newline = chunk.rfind("\n")
        self.column = len(chunk) - newline - 1 if newline >= 0 else self.column + len(chunk)
        if self._seekable and not self._failure:
            self._handed = self._fetched
        elif newline >= 0:  # big JSON is often one line
            self._newlines = self.newline_count + chunk.count("\n")
        self._seekable = self._seekable and not self._failure
        return chunk

    def _first_chunk(self) -> bytes:
        data = self._chunk(self._chunk_size)
        if not data.startswith(GZIP_START):
            return data
        self._raw = GzipStream(self._raw, data)  # type: ignore[assignment]  # of a BinaryIO, read() is enough
        self._seekable = False
        return self._chunk(self._chunk_size)

    def _chunk(self, size: int) -> bytes:
        try:
            data = self._raw.read(size)
        except UnreadableGzip as error:
            place = 1 + self.newline_count, self.column + 1
            raise UnreadableText("a file that can be read", file_error_reason(error), *place) from error
        except (OSError, ValueError) as error:
            raise UnreadableText("a file that can be read", file_error_reason(error)) from error
        self._fetched += len(data)
        return data

    def _decoded(self, data: bytes, *, first: bool) -> str:
        if first:
            _refuse_binaries(data)
        nul = data.find(0)
        try:
            text = self._decoder.decode(data if nul < 0 else data[:nul], final=not data)
            if nul >= 0:
                self._fail("a NUL byte", text)
        except UnicodeDecodeError as error:
            text = error.object[: error.start].decode("utf-8")
            self._fail(f"the byte 0x{error.object[error.start]:02x}, which is not UTF-8", text)
        if first:
            text = text.removeprefix(_UTF8_MARK)
        if not text and self._failure:
            raise self._failure
        # A chunk may end inside a character; an empty result would mean the end of the stream.
        return text if text or not data else self._decoded(self._chunk(self._chunk_size), first=False)

    def _fail(self, got: str, text: str) -> None:
        """Record that the stream fails after ``text``, which is still to be returned."""
        line, column = position_after_text(text, self.newline_count, self.column)
        self._failure = UnreadableText("UTF-8 text", got, line, column)


def _is_seekable(raw: BinaryIO) -> bool:
    try:
        return raw.seekable()
    except (OSError, ValueError):
        return False


def position_after_text(text: str, newlines: int, column: int) -> Place:
    """Return line and column behind a text that begins after so many newlines and characters of a line."""
    newline = text.rfind("\n")
    return 1 + newlines + text.count("\n"), len(text) - newline if newline >= 0 else column + len(text) + 1


def _refuse_binaries(head: bytes) -> None:
    for magic, name in _KNOWN_BINARIES:
        if head.startswith(magic):
            raise UnreadableText("a text file", name)
    if head.startswith(_TAR_MARK, _TAR_MARK_AT):
        raise UnreadableText("a text file", "a tar archive; unpack it, and give its folder")
    # Text of this kind begins with ASCII, so UTF-16 shows in its first two bytes, with a byte order mark or without.
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or (len(head) > 1 and (head[0] == 0) != (head[1] == 0)):
        raise UnreadableText("UTF-8 text", "UTF-16 text; save the file as UTF-8")
    if 0 in head:
        raise UnreadableText("a text file", "binary data", 1 + head.count(b"\n", 0, head.find(0)), None)


def file_error_reason(error: Exception) -> str:
    """Return why a file could not be opened or read, without its path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
