"""Reads dumps of a cluster, each with the time at which it was taken, in the order of these times (AF-010)."""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from grove_core.resources.configuration import Configuration
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import input_items_in_path, is_input_file
from grove_shell.reading.newest_time import newest_timestamp_in_object
from grove_shell.redaction import REDACTED


class Dump(NamedTuple):
    """The objects of a cluster at one time.

    Attributes:
        file: as the user named it.
        at: when it was taken: the time in the header of a snapshot file, else the newest time in an object.
        is_dated: whether it has that header.
        is_redacted: whether it has hashes in place of values.
        items: as in the file.
        complete: kinds of which it has every object, with their namespace.
    """

    file: str
    at: datetime
    is_dated: bool
    is_redacted: bool
    items: Sequence[Mapping[str, Any]]
    complete: frozenset[Gap]

    def lists(self, kind: str, namespace: str) -> bool:
        """Return whether the dump has every object of a kind in a namespace."""
        return bool({(kind, namespace), (kind, EVERYWHERE)} & self.complete)


def read_dumps(
    paths: Sequence[str],
    stdin: BinaryIO,
    faults: list[InputFault],
    configuration: Configuration,
    live: CollectedObjects | None = None,
    now: datetime | None = None,
) -> tuple[Dump, ...]:
    """Return the dumps, the earliest first.

    Args:
        paths: files, or directories of files; each file is a dump.
        faults: everything that is wrong with them is appended.
        live: the cluster as it is, which is the last dump.
        now: when the live cluster was listed.
    """
    found = [_dump_of(path, stdin, faults, configuration) for path in _files(paths, faults)]
    if live is not None and now is not None:
        found.append(Dump(live.origin, now, True, False, live.items, live.complete))  # noqa: FBT003 - as the fields say
    return tuple(sorted((one for one in found if one is not None), key=lambda dump: (dump.at, dump.file)))


def _files(paths: Sequence[str], faults: list[InputFault]) -> list[str]:
    """Return the files, with those of a directory instead of the directory; a nested directory is one dump.

    As for other commands, files of a directory that have another suffix are skipped (IN-026).
    """
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 - unlike a Path it takes any text and never raises
            names = sorted(name for name in os.listdir(path) if not name.startswith("."))  # noqa: PTH208 - as above
            inner = [os.path.join(path, name) for name in names]  # noqa: PTH118 - keeps the name as typed
            before = len(faults)
            files = [one for one in inner if os.path.isdir(one) or is_input_file(one, faults)]  # noqa: PTH112 - as above
            found += files or ([path] if len(faults) == before else [])
        else:
            found.append(path)
    return found


def _dump_of(path: str, stdin: BinaryIO, faults: list[InputFault], configuration: Configuration) -> Dump | None:
    items = [item.value for item in input_items_in_path(path, faults, stdin)]
    if not items:
        return None
    known = CollectedObjects(origin=path, items=tuple(items))
    loaded = load_input_files((), live=known, configuration=configuration, raising=False)
    faults.extend(loaded.faults)
    newest = max(filter(None, map(newest_timestamp_in_object, items)), default=None)
    at = loaded.taken_at or newest
    if at is None:
        faults.append(InputFault(file=path, expected="an object with a time, by which the dump is dated", got="none"))
        return None
    is_redacted = any(item.get("kind") == "PodCliqueSet" and REDACTED in json.dumps(item.get("spec")) for item in items)
    return Dump(path, at, loaded.taken_at is not None, is_redacted, items, loaded.cluster.complete)
