"""Archives whose bytes depend on their files and one time alone: fixed order, owners and modes (RL-003)."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime

_FILE_MODE = 0o644
_PROGRAM_MODE = 0o755


def packed_zip(files: Mapping[str, bytes], seconds: int, *, compressed: bool = True) -> bytes:
    """Return a zip archive of the files.

    Args:
        files: content by path in the archive.
        seconds: the time of every file, since 1970; zip knows none before 1980.
        compressed: false for files that are archives themselves.
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, (*moment.timetuple()[:5], moment.second // 2 * 2))
            entry.external_attr = _FILE_MODE << 16
            entry.create_system = 3  # Unix, whatever system this runs on
            entry.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            archive.writestr(entry, content, compresslevel=6)
    return written.getvalue()


def packed_tar(files: Mapping[str, bytes], seconds: int, programs: frozenset[str] = frozenset()) -> bytes:
    """Return a tar archive compressed with gzip.

    Args:
        files: content by path in the archive.
        seconds: the time of every file, since 1970.
        programs: paths of files that are executable.
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime = len(content), seconds
            entry.mode = _PROGRAM_MODE if path in programs else _FILE_MODE
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), compresslevel=1, mtime=0)  # most of it is compressed already
