"""Broken bytes for the readers: ``python -m tests.reading.fuzz_reading --minutes 10 --seed 1``.

Seed documents are damaged (bits, bytes, slices, tokens) and read as a file of a random kind, in chunks of a random
size, by one of the parsers. Whatever comes: no exception, an answer in time, and objects or faults (IN-005, IN-014,
IN-028). An input that fails is printed as a literal, ready to become a test.
"""

import argparse
import io
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

from grove_shell.reading.faults import Fault
from grove_shell.reading.items import Item
from grove_shell.reading.json_items import json_items
from grove_shell.reading.sources import items_of
from grove_shell.reading.text import Text
from grove_shell.reading.yaml_items import yaml_items

Way: TypeAlias = Callable[[bytes, int, list[Fault]], list[Item]]

SECONDS_EACH: Final = 5.0
LONGEST: Final = 200_000
CHUNKS: Final = (1, 2, 3, 7, 64, 1000, 1 << 20)

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

SEEDS: Final = (
    b"apiVersion: v1\nitems:\n- kind: Pod\n  metadata: {name: a, uid: u}\n  x: [1, 0777, .5, y]\n- a: b\nkind: List\n",
    b"a: &a {b: 1, c: [2, 3]}\nd: *a\ne:\n  <<: *a\n  b: 5\n---\n# nothing\n---\n? [x]\n: |\n  text\n  more\n",
    b'%YAML 1.1\n%TAG ! tag:x:\n---\n"a\\u263a\\n": !!int "5"\nb: >-\n  fold\n  ed\nc: !x {d: e}\n...\n---\n- 1\n',
    b"{ kind: List, items: [ { a: 'it''s', }, { b: \"x\\ty\" }, ], }\n",
    b"a0: &a0 [x, x]\na1: &a1 [*a0, *a0]\na2: &a2 [*a1, *a1]\na3: [*a2, *a2]\n",
    json.dumps({"apiVersion": "v1", "items": [_POD, _SET, _POD], "kind": "List"}).encode(),
    json.dumps({"kind": "PodList", "items": [_POD, _SET]}, indent=4, ensure_ascii=False).encode(),
    (json.dumps(_POD) + "\n" + json.dumps(_SET) + "\n").encode(),
    json.dumps([_SET, {"kind": "List", "items": [_POD, {}]}]).encode(),
    b'{"a":"\\ud83d\\ude00 \\"\\\\","b":[-0.0,1e999,NaN],"b":{}}',
)
TOKENS: Final = (
    *b"{ } [ ] , : \" ' - ? & * ! | > % @ ` # --- ... << &a *a !!int !!binary !!str ~ null yes .inf .nan 0777".split(),
    *b'0x 1e999 NaN -Infinity \\u \\ud800 \\x \\ items kind List {} [] [{ }] :{ {" "items":[ "kind":"List",'.split(),
    *(
        b"\n",
        b"\t",
        b" ",
        b"  ",
        b"\r\n",
        b"\n---\n",
        b"\n- ",
        b": ",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
    ),
)


def damaged(chance: random.Random) -> bytes:
    """A seed document with some damage."""
    data = bytearray(chance.choice(SEEDS))
    for _ in range(chance.choice((1, 1, 2, 3, 8, 30))):
        at = chance.randrange(len(data) + 1)
        other = chance.choice(SEEDS)
        start = chance.randrange(len(other))
        match chance.randrange(9):
            case 0 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 1 if data:
                data[at % len(data)] = chance.randrange(256)
            case 2:
                del data[at : at + chance.choice((1, 1, 2, 10, 100))]
            case 3:
                del data[at:]
            case 4:
                data[at:at] = other[start : start + chance.choice((1, 5, 50, 500))]
            case 5:
                data[at:at] = data[chance.randrange(at + 1) : at] * chance.choice((1, 2, 20))
            case 6:
                data[at:at] = chance.choice(TOKENS) * chance.choice((1, 1, 1, 2, 300, 3000))
            case _:
                data[at:at] = chance.choice(TOKENS)
        del data[LONGEST:]
    return bytes(data)


def _as_stdin(data: bytes, _size: int, faults: list[Fault]) -> list[Item]:
    return list(items_of("-", faults, io.BytesIO(data)))


def _as_yaml(data: bytes, size: int, faults: list[Fault]) -> list[Item]:
    return list(yaml_items(Text(io.BytesIO(data), size), "f", faults))


def _as_pure_yaml(data: bytes, size: int, faults: list[Fault]) -> list[Item]:
    return list(yaml_items(Text(io.BytesIO(data[:3000]), size), "f", faults, pure=True))


def _as_json(data: bytes, size: int, faults: list[Fault]) -> list[Item]:
    return list(json_items(Text(io.BytesIO(data), size), "f", faults))


WAYS: Final[dict[str, Way]] = {
    "stdin": _as_stdin,
    "yaml": _as_yaml,
    "yaml, python": _as_pure_yaml,
    "json": _as_json,
}


def fed(data: bytes, way: str, size: int) -> str:
    """What became of one input: ``objects``, ``faults``, ``both`` or ``empty list``.

    Raises:
        AssertionError: a promise was broken.
    """
    faults: list[Fault] = []
    began = time.process_time()
    items = WAYS[way](data, size, faults)
    took = time.process_time() - began
    assert took < SECONDS_EACH, f"took {took:.1f} s"
    for fault in faults:
        assert str(fault).isprintable()
    sorted(faults, key=lambda fault: fault.sort_key)
    for item in items:
        assert type(item.value) is dict
        json.dumps(item.value, ensure_ascii=False, allow_nan=False).encode()
    if not items and not faults:
        assert b"items" in data or b"[" in data or b"-" in data
        return "empty list"
    return "both" if items and faults else "objects" if items else "faults"


def main() -> int:
    """Feed until the time is up; the number of broken promises is the exit code, at most 1."""
    parser = argparse.ArgumentParser(description="feed broken bytes to the readers")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    counts: Counter[tuple[str, str]] = Counter()
    broken, slowest = 0, 0.0
    began = told = time.monotonic()
    while (now := time.monotonic()) - began < options.minutes * 60:
        data, way, size = damaged(chance), chance.choice(tuple(WAYS)), chance.choice(CHUNKS)
        try:
            outcome = fed(data, way, size)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a find
            outcome = "BROKEN"
            broken += 1
            print(f"\n{way}, chunks of {size}: {type(error).__name__}: {error}\n{data!r}", flush=True)  # noqa: T201
        slowest = max(slowest, time.monotonic() - now)
        counts[way, outcome] += 1
        if now - told > 10:
            told = now
            print(f"{now - began:6.0f} s  {counts.total():9,} inputs  {broken} broken", file=sys.stderr, flush=True)  # noqa: T201
    print(f"{counts.total():,} inputs, seed {options.seed}, slowest {slowest:.2f} s, {broken} broken")  # noqa: T201
    for (way, outcome), count in sorted(counts.items()):
        print(f"  {way:14} {outcome:12} {count:10,}")  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
