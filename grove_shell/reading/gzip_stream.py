"""Unpacks gzip data in chunks (IN-084, IN-085).

Rule for this file: whatever the bytes are, the only exceptions are those of the packed stream, and `UnreadableGzip`,
raised after all bytes that could be unpacked before were returned.
"""

import errno
import io
import zlib
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Final

GZIP_START: Final = b"\x1f\x8b"
"""The first bytes of gzip data."""

MAX_UNPACKED: Final = 2 * 1024**3
"""Bytes that one input may unpack to (IN-085): a quarter of a million pods."""

_PACKED_CHUNK: Final = 64 * 1024
_BUFFER: Final = 1024 * 1024
_WITH_GZIP_HEADER: Final = 16 + zlib.MAX_WBITS


class UnreadableGzip(OSError):
    """Gzip data cannot be unpacked any further. Its ``strerror`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EINVAL, reason)


class GzipStream(io.RawIOBase):
    """The bytes that a stream of gzip data unpacks to, read once from front to back.

    Zero bytes behind the data are padding, as for gzip itself. The packed stream is not closed.
    """

    def __init__(self, packed: BinaryIO, first: bytes = b"", most: int = MAX_UNPACKED) -> None:
        """Begin with the first member.

        Args:
            packed: gzip data.
            first: bytes that were already read from it.
            most: number of unpacked bytes that are returned at most.
        """
        super().__init__()
        self._source = packed
        self._packed = first
        self._left = most
        self._most = most
        self._member = zlib.decompressobj(_WITH_GZIP_HEADER)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what RawIOBase passes
        """Write the next unpacked bytes into a buffer.

        Returns:
            Their number; 0 at the end.

        Raises:
            UnreadableGzip: the data is cut short or damaged, or unpacks to more than the limit.
        """
        while self._has_packed_bytes():
            try:
                found = self._member.decompress(self._packed, len(buffer))
            except zlib.error as error:
                raise UnreadableGzip(f"damaged gzip data ({str(error).rpartition(': ')[2]})") from error
            self._packed = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if len(found) > self._left:
                limit = f"{self._most / 1024**3:g} GiB"
                raise UnreadableGzip(f"gzip data that unpacks to more than {limit}; unpack it, and give the result")
            if found:
                self._left -= len(found)
                buffer[: len(found)] = found
                return len(found)
        return 0

    def _has_packed_bytes(self) -> bool:
        """Read packed bytes if there are none; return whether more is to be unpacked."""
        if self._member.eof:
            self._packed = self._packed.lstrip(b"\0")
        if not self._packed:
            self._packed = self._source.read(_PACKED_CHUNK)
            if self._packed:
                return self._has_packed_bytes() if self._member.eof else True
            if not self._member.eof:
                raise UnreadableGzip("gzip data that is cut short")
            return False
        if self._member.eof:
            self._member = zlib.decompressobj(_WITH_GZIP_HEADER)
        return True


def unpacked_lines(file: io.BufferedReader, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file, unpacked if it is gzip data, with their newlines.

    Args:
        file: read to its end.
        longest: number of bytes after which a line is cut into two.

    Raises:
        OSError: the file cannot be read or unpacked any further.
    """
    return iter(partial(unpacked(file).readline, longest), b"")


def unpacked(file: io.BufferedReader) -> io.BufferedReader:
    """Return what a file unpacks to if it is gzip data, else the file itself."""
    if file.peek(len(GZIP_START))[: len(GZIP_START)] != GZIP_START:
        return file
    return io.BufferedReader(GzipStream(file), _BUFFER)
