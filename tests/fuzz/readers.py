"""The readers of YAML and JSON alone: objects or faults, in chunks of any size (IN-030, IN-014, IN-026)."""

import io
import json
import zlib
from collections.abc import Callable
from typing import Final, TypeAlias

from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.input_sources import input_items_in_path
from grove_shell.reading.json_input_items import input_items_from_json
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_input_items import input_items_from_yaml
from tests.fuzz.commands import Broken

Way: TypeAlias = Callable[[bytes, int, list[InputFault]], list[InputItem]]

CHUNKS: Final = (1, 2, 3, 7, 64, 1000, 1 << 20)
_PURE: Final = 3_000
"""Bytes for PyYAML's own parser, which is forty times as slow."""

_POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "ml", "uid": "u", "labels": {"a.b/c": "yes", "0777": "☃"}},
    "spec": {"containers": [{"name": "m", "args": ["--x", "1e3", ""]}], "priority": 0},
    "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T09:00:00Z"}]},
}
_SET: Final[dict[str, object]] = {
    **_POD,
    "kind": "PodCliqueSet",
    "metadata": {"name": "s"},
    "x": [1.0, -1e3, None, True, {"a": []}],
}

YAML: Final = (
    b"apiVersion: v1\nitems:\n- kind: Pod\n  metadata: {name: a, uid: u}\n  x: [1, 0777, .5, y]\n- a: b\nkind: List\n",
    b"a: &a {b: 1, c: [2, 3]}\nd: *a\ne:\n  <<: *a\n  b: 5\n---\n# nothing\n---\n? [x]\n: |\n  text\n  more\n",
    b'%YAML 1.1\n%TAG ! tag:x:\n---\n"a\\u263a\\n": !!int "5"\nb: >-\n  fold\n  ed\nc: !x {d: e}\n...\n---\n- 1\n',
    b"{ kind: List, items: [ { a: 'it''s', }, { b: \"x\\ty\" }, ], }\n",
    b"a0: &a0 [x, x]\na1: &a1 [*a0, *a0]\na2: &a2 [*a1, *a1]\na3: [*a2, *a2]\n",
)
JSON: Final = (
    json.dumps({"apiVersion": "v1", "items": [_POD, _SET, _POD], "kind": "List"}).encode(),
    json.dumps({"kind": "PodList", "items": [_POD, _SET]}, indent=4, ensure_ascii=False).encode(),
    (json.dumps(_POD) + "\n" + json.dumps(_SET) + "\n").encode(),
    json.dumps([_SET, {"kind": "List", "items": [_POD, {}]}]).encode(),
    b'{"a":"\\ud83d\\ude00 \\"\\\\","b":[-0.0,1e999,NaN],"b":{}}',
)
"""Documents with every construct that the readers treat in a way of its own."""


def _as_stdin(data: bytes, _size: int, faults: list[InputFault]) -> list[InputItem]:
    return list(input_items_in_path("-", faults, io.BytesIO(data)))


def _as_yaml(data: bytes, size: int, faults: list[InputFault]) -> list[InputItem]:
    return list(input_items_from_yaml(Utf8Stream(io.BytesIO(data), size), "f", faults))


def _as_pure_yaml(data: bytes, size: int, faults: list[InputFault]) -> list[InputItem]:
    return list(input_items_from_yaml(Utf8Stream(io.BytesIO(data[:_PURE]), size), "f", faults, pure=True))


def _as_json(data: bytes, size: int, faults: list[InputFault]) -> list[InputItem]:
    return list(input_items_from_json(Utf8Stream(io.BytesIO(data), size), "f", faults))


READERS: Final[dict[str, Way]] = {
    "read stdin": _as_stdin,
    "read yaml": _as_yaml,
    "read yaml, python": _as_pure_yaml,
    "read json": _as_json,
}


def read(way: str, data: bytes) -> str:
    """What became of one input: ``objects``, ``faults``, ``both`` or ``empty list``.

    Raises:
        Broken: a promise was broken.
    """
    faults: list[InputFault] = []
    items = READERS[way](data, CHUNKS[zlib.crc32(data) % len(CHUNKS)], faults)
    for fault in sorted(faults, key=lambda fault: fault.sort_key):
        if not str(fault).isprintable():
            raise Broken(f"not printable: {str(fault)!r}")
    for item in items:
        if type(item.value) is not dict:
            raise Broken(f"an object of type {type(item.value).__name__}")
        json.dumps(item.value, ensure_ascii=False, allow_nan=False).encode()
    if items or faults:
        return "both" if items and faults else "objects" if items else "faults"
    if not (b"items" in data or b"[" in data or b"-" in data):
        raise Broken("neither an object nor a fault")
    return "empty list"
