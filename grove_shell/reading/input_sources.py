"""Reads the items of a file, a directory or standard input (IN-016, IN-026, IN-012, IN-084).

Rule for this file: every path gives items and faults, never an exception.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, BinaryIO, Final

from grove_shell.reading.input_faults import NO_SUCH_FILE, InputFault, UnreadableText
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.json_input_items import input_items_from_json
from grove_shell.reading.pod_batch_decoding import TakePods
from grove_shell.reading.utf8_stream import Utf8Stream, file_error_reason

__all__ = [
    "STDIN",
    "STDIN_NAME",
    "InputItem",
    "input_items_in_path",
    "input_name",
    "is_input_file",
    "standard_input_bytes",
]

STDIN: Final = "-"
STDIN_NAME: Final = "stdin"
_PACKED: Final = ".gz"
_SUFFIXES: Final = tuple(f"{name}{end}" for name in (".yaml", ".yml", ".json") for end in ("", _PACKED))
_LIKE_A_MANIFEST: Final = re.compile(r"\.(?:yaml|yml|json)(?![a-z])", re.IGNORECASE)
_BEGINS_LIKE_JSON: Final = re.compile(r'[ \t\n\r]*(?:\{[ \t\n\r]*"|\[[ \t\n\r]*\{[ \t\n\r]*["}])')

_BEGINS_LIKE_A_TABLE: Final = re.compile(r"NAME(?:SPACE)? {2,}[A-Z]")


def standard_input_bytes() -> BinaryIO:
    """Return standard input as bytes; empty if the process has none."""
    return sys.stdin.buffer if sys.stdin is not None else BytesIO()


def input_name(path: str) -> str:
    """Return how messages name a path as the user gave it: ``stdin`` for ``-``."""
    return STDIN_NAME if path == STDIN else path


def input_items_in_path(
    path: str, faults: list[InputFault], stdin: BinaryIO, take_pods: TakePods | None = None
) -> Iterator[InputItem]:
    """Yield the objects of a file, of all files under a directory, or of standard input, one at a time.

    Args:
        path: as the user gave it; ``-`` for standard input.
        faults: problems are appended here as they are found.
        stdin: read to its end for ``-``, and not closed.
        take_pods: takes pods that follow each other in a JSON list, which are not yielded then.

    Raises:
        Nothing for any path or content.
    """
    if path == STDIN:
        yield from _stream_items(stdin, STDIN_NAME, faults, take_pods)
    elif os.path.isdir(path):  # noqa: PTH112 - unlike a Path it takes any text and never raises
        before, empty = len(faults), True
        for file in _files(path, faults):
            empty = False
            yield from _file_items(file, faults, take_pods)
        if empty and len(faults) == before:
            faults.append(
                InputFault(file=path, expected="files named *.yaml, *.yml or *.json", got="a directory of none")
            )
    else:
        yield from _file_items(path, faults, take_pods)


def _files(directory: str, faults: list[InputFault]) -> Iterator[str]:
    """Yield the input files under a directory, in order of their names; other files are skipped (IN-026).

    A file whose name has a suffix of manifests at another place, such as ``pods.yaml.bak``, is a fault.

    Iterative, since the input decides the depth.
    """
    entered: set[tuple[int, int]] = set()  # links may form loops, so each directory is read once (IN-026)
    todo = [directory]
    while todo:
        path = todo.pop()
        if os.path.isdir(path):  # noqa: PTH112 - as above
            todo.extend(reversed(_entries(path, faults, entered)))
        elif is_input_file(path, faults):
            yield path


def is_input_file(path: str, faults: list[InputFault]) -> bool:
    """Return whether a file of a directory is read; one that is named almost like one is a fault (IN-026)."""
    name = os.path.basename(path)  # noqa: PTH119 - paths stay as the user writes them
    if name.endswith(_SUFFIXES) or not os.path.exists(path):  # noqa: PTH110 - as above
        return True  # a link to nowhere cannot be read
    if _LIKE_A_MANIFEST.search(name):
        expected = "a name that ends in .yaml, .yml or .json (also with .gz), or begins with a dot"
        faults.append(InputFault(file=path, expected=expected, got=name, lost=False))
    return False


def _entries(directory: str, faults: list[InputFault], entered: set[tuple[int, int]]) -> list[str]:
    try:
        status = os.stat(directory)  # noqa: PTH116 - as above
        names = os.listdir(directory)  # noqa: PTH208 - as above
    except OSError as error:
        faults.append(InputFault(file=directory, expected="a directory that can be read", got=file_error_reason(error)))
        return []
    identity = status.st_dev, status.st_ino
    if identity in entered:
        return []
    entered.add(identity)
    return [os.path.join(directory, name) for name in sorted(names) if not name.startswith(".")]  # noqa: PTH118 - keeps the name as it was typed, "./" too


def _file_items(path: str, faults: list[InputFault], take_pods: TakePods | None) -> Iterator[InputItem]:
    try:
        raw = open(path, "rb")  # noqa: SIM115, PTH123 - opening may fail, and `with` follows; a path as it was given
    except (OSError, ValueError) as error:
        is_there = not isinstance(error, FileNotFoundError)
        expected, got = ("a file that can be read", file_error_reason(error)) if is_there else ("", NO_SUCH_FILE)
        faults.append(InputFault(file=path, expected=expected, got=got))
        return
    with raw:
        yield from _stream_items(raw, path, faults, take_pods)


def _stream_items(
    raw: BinaryIO, name: str, faults: list[InputFault], take_pods: TakePods | None
) -> Iterator[InputItem]:
    """Yield the objects of a stream as JSON or YAML, chosen by the name or the first characters (IN-016)."""
    text = Utf8Stream(raw)
    try:
        head = text.peek_first_characters()
    except UnreadableText as end:
        faults.append(end.as_input_fault(name))
        return
    if _BEGINS_LIKE_A_TABLE.match(head):  # IN-014
        got = "kubectl's table; use -o json"
        faults.append(InputFault(file=name, document=1, line=1, column=1, expected="objects in JSON or YAML", got=got))
        return
    if name.removesuffix(_PACKED).endswith(".json") or _BEGINS_LIKE_JSON.match(head):
        yield from input_items_from_json(text, name, faults, take_pods)
    else:
        from grove_shell.reading.yaml_input_items import input_items_from_yaml  # noqa: PLC0415 - JSON needs none of it (P11)

        yield from input_items_from_yaml(text, name, faults, take_pods)


def kind_and_metadata(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an object that a report needs, without the rest."""
    return {key: raw.get(key) for key in ("apiVersion", "kind", "metadata")}
