"""Damage: to the bytes of a document, and to its structure where it is JSON.

Structural damage is done to values and written out. What no value can hold (a key that is there twice, a depth or a
number beyond what the writer can write) is a mark in the value, and becomes what it stands for in the text.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import yaml

LONGEST: Final = 200_000
_AGAIN: Final = "\x07"  # behind a key: the key is there twice
_DEEP, _WIDE = "\x06", "\x05"  # before a number: so many levels, so many digits
_MARKED: Final = re.compile(r'"\\(?:u00|x)0([56])(\d+)"')
_TWICE: Final = re.compile(r"\\u0007|\\a")

TOKENS: Final = (
    *b"{ } [ ] , : \" ' - ? & * ! | > % @ ` # --- ... << &a *a !!int !!binary !!str ~ null yes .inf .nan 0777".split(),
    *b'0x 1e999 NaN -Infinity \\u \\ud800 \\x \\ items kind List {} [] [{ }] :{ {" "items":[ "kind":"List",'.split(),
    *(b"\n", b"\t", b" ", b"  ", b"\r\n", b"\n---\n", b"\n- ", b": "),
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
)
NUMBERS: Final = (
    *(0, -1, 1, 2, 2**31 - 1, 2**31, 2**63, -(2**63) - 1, 10**30),
    *(0.5, -0.0, 1e308, float("inf"), float("nan")),
)
_NAMES: Final = ("", " ", "0", "-1", "a/b", "../..", ".", "-", "%s", "{x}", "[red]", "null", "*")
_LONG: Final = ("A" * 300, "x" * 5000, "a." * 150, "9" * 400)
_ODD: Final = (
    "\ud800",
    "\u202e\u2028",
    "☃\U0001f600",
    "e\u0301",
    "\x00",
    "\x1b[31m",
    "\n\n",
    "\u0661",
    "\ufeff",
    "\x85",
)
_TIMES: Final = ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "2026-11-20T09:00:00Z", "2026-02-30T00:00:00Z")
_SPANS: Final = ("0s", "1ns", "4h", "-4h", "2562047h47m16s", "99999999999h", "1e3", "100m", "1Ei")
TEXTS: Final = (*_NAMES, *_LONG, *_ODD, *_TIMES, *_SPANS)
OTHERS: Final[tuple[Any, ...]] = (None, True, False, [], {}, [[]], [None], {"": None}, {"a": {"b": [1]}}, [{}, {}])


def damaged(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """A seed with some damage to its bytes."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 2, 3, 8, 30))):
        at = chance.randrange(len(data) + 1)
        other = chance.choice(seeds)
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


def wounded(seeds: Sequence[str], chance: random.Random) -> Any:
    """The value of a JSON text with some damage to its structure."""
    holder = [json.loads(chance.choice(seeds))]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        if holder:
            _wound(*_place(holder, chance), chance, seeds)
    if holder and chance.random() < 0.1:  # at the end, for what is inside the many is there many times
        _lengthen(*_place(holder, chance), chance)
    return holder[0] if holder else None


def made(seeds: Sequence[str], chance: random.Random, write: Callable[[Any], bytes]) -> bytes:
    """An input no longer than an input may be: four of six damaged in structure, one in its bytes, one in both."""
    kind = chance.randrange(6)
    text = write(json.loads(chance.choice(seeds)) if kind == 0 else wounded(seeds, chance))
    if len(text) > LONGEST:
        text = write(json.loads(chance.choice(seeds)))[:LONGEST]
    return damaged((text,), chance) if kind in {0, 1} else text


def as_json(value: Any) -> bytes:
    """Written as JSON, with the marks made real."""
    return _real(json.dumps(value, separators=(",", ":")))


def as_yaml(value: Any) -> bytes:
    """Written as YAML in blocks, with the marks made real."""
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    held = json.loads(json.dumps(value).replace("\\ud800", "\\ue000"))  # libyaml does not write half a pair
    text = yaml.dump(held, Dumper=dumper, sort_keys=False, width=120)
    return _real(text.replace("\\uE000", "\ud800"))


def _real(text: str) -> bytes:
    marked = _MARKED.sub(_become, _TWICE.sub("", text))
    return marked.encode("utf-8", "surrogatepass")


def _become(mark: "re.Match[str]") -> str:
    size = int(mark[2])
    if mark[1] == "5":
        return "9" * size
    return "[" * size + "]" * size if size % 2 else '{"a":' * size + "1" + "}" * size


def _place(holder: list[Any], chance: random.Random) -> tuple[Any, Any]:
    """Somewhere in a value: any part of it is as likely as any other."""
    places: list[tuple[Any, Any]] = [(holder, 0)]
    for inside, key in places:  # it grows meanwhile
        value = inside[key]
        if isinstance(value, dict | list):
            places.extend((value, step) for step in (value if isinstance(value, dict) else range(len(value))))
    return chance.choice(places)


def _wound(inside: Any, key: Any, chance: random.Random, seeds: Sequence[str]) -> None:
    match chance.randrange(11):
        case 0 | 1:
            inside[key] = chance.choice(NUMBERS)
        case 2 | 3:
            inside[key] = chance.choice(TEXTS)
        case 4 | 5:
            inside[key] = json.loads(json.dumps(chance.choice(OTHERS)))
        case 6:
            del inside[key]
        case 7 if isinstance(inside, dict):
            _rename(inside, key, chance)
        case 7 | 8:
            inside[key] = _part(chance.choice(seeds), chance)
        case 9:
            inside[key] = chance.choice((_DEEP, _WIDE)) + str(chance.choice((40, 255, 257, 480, 600, 998, 5001)))
        case _ if isinstance(inside[key], str) and inside[key]:
            inside[key] = _misspelled(inside[key], chance)
        case _:
            inside[key] = [inside[key]] if chance.random() < 0.5 else {chance.choice(TEXTS): inside[key]}


def _rename(inside: dict[str, Any], key: str, chance: random.Random) -> None:
    """Another key, one of its neighbours', a slip, or the same one twice."""
    value = inside[key]
    makers: tuple[Callable[[], str], ...] = (
        lambda: key + _AGAIN,
        lambda: chance.choice(TEXTS),
        lambda: chance.choice(list(inside)),
        lambda: _misspelled(key, chance) if key else "x",
    )
    name = chance.choice(makers)()
    if not name.endswith(_AGAIN):
        del inside[key]
    inside[name] = value


def _part(seed: str, chance: random.Random) -> Any:
    """Some part of another seed."""
    inside, key = _place([json.loads(seed)], chance)
    return inside[key]


def _lengthen(inside: Any, key: Any, chance: random.Random) -> None:
    """A part many times over, as a list or as the entries of an object; no longer than an input may be."""
    size = len(json.dumps(inside[key])) + 12
    times = min(chance.choice((2, 3, 30, 1000, 20_000)), LONGEST // 2 // size)
    value = inside[key]
    if isinstance(value, list):
        inside[key] = value * max(1, times)
    elif chance.random() < 0.7:
        inside[key] = [value] * times
    else:
        inside[key] = {f"k{number}": value for number in range(times)}


def _misspelled(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    cut = chance.choice(("", text[at] * 2, text[at].swapcase(), "é", " ", "0", "-", "/"))
    return text[:at] + cut + text[at + 1 :]
