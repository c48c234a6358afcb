"""Finds flaws of a JSON value that the scanner of the standard library accepts or cannot locate.

That scanner keeps the last of two equal keys, accepts NaN, turns large numbers into infinity, accepts unpaired
surrogates, and fails on deep nesting (IN-006, IN-012). This check is iterative and twenty times
slower; it runs only after a cheap test was positive.
"""

import math
import re
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs leave it out
from typing import Final, NamedTuple

from grove_shell.reading.input_items import MAX_DEPTH, Problem

_TOKEN: Final = re.compile(r'[ \t\n\r]*(?:([\[\]{},:])|("[^"\\]*(?:\\.[^"\\]*)*")|([^\s\[\]{},:"]+))', re.DOTALL)
HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


class JsonFlaw(NamedTuple):
    """A flaw inside a value.

    Attributes:
        at: position in the text.
        path: of the field, relative to the value.
    """

    at: int
    path: str
    expected: str
    got: str


class TruncatedJson(Exception):
    """The text ends, or is no JSON any more, before the end of the value."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@dataclass(slots=True)
class _Frame:
    is_map: bool
    keys: set[str] = field(default_factory=set)
    key: str | None = None
    index: int = 0


def find_json_flaws(text: str, at: int, outer: int = 0) -> tuple[int, list[JsonFlaw]]:
    """Return the end of the value that begins at ``at``, and its flaws.

    Args:
        outer: levels around the value that count for its depth.

    Raises:
        TruncatedJson: the value does not end in this text.
    """
    frames: list[_Frame] = []
    flaws: list[JsonFlaw] = []
    while True:
        match = _TOKEN.match(text, at)
        if not match:
            raise TruncatedJson(at)
        at = match.end()
        mark, string, word = match.groups()
        if mark:
            _take_mark(mark, match.start(1), frames, flaws, MAX_DEPTH - outer)
        elif string:
            _take_string(text, match.start(2), frames, flaws)
        elif not math.isfinite(_number(word)):
            flaws.append(JsonFlaw(match.start(3), _path(frames), "a finite number", word))
        if not frames:
            return at, flaws


def _take_mark(mark: str, at: int, frames: list[_Frame], flaws: list[JsonFlaw], deepest: int) -> None:
    if mark in "{[":
        frames.append(_Frame(is_map=mark == "{"))
        if len(frames) == deepest + 1:
            flaws.append(JsonFlaw(at, _path(frames[:-1]), f"at most {MAX_DEPTH} levels", "more"))
    elif mark in "}]":
        if not frames:
            raise TruncatedJson(at)
        frames.pop()
    elif mark == "," and frames:
        frames[-1].key = None
        frames[-1].index += 1


def _take_string(text: str, at: int, frames: list[_Frame], flaws: list[JsonFlaw]) -> None:
    try:
        value, _ = scanstring(text, at + 1, True)  # noqa: FBT003 - its C form takes no keyword
    except ValueError:
        raise TruncatedJson(at) from None
    frame = frames[-1] if frames else None
    if frame and frame.is_map and frame.key is None:
        frame.key = value
        if value in frame.keys:
            flaws.append(JsonFlaw(at, _path(frames), "each key once", f'the key "{value}" again'))
        frame.keys.add(value)
    if half := HALF_PAIR.search(value):
        flaws.append(JsonFlaw(at, *surrogate_problem(half, _path(frames))))


def surrogate_problem(half: re.Match[str], path: str) -> Problem:
    """Return the problem of an unpaired surrogate, which UTF-8 cannot encode (IN-006)."""
    return path, "text", f"half a surrogate pair, \\u{ord(half.group()):x}"


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0  # true, false, null


def _path(frames: list[_Frame]) -> str:
    text = ""
    for frame in frames:
        if not frame.is_map:
            text += f"[{frame.index}]"
        elif frame.key:
            text += f".{frame.key}" if text else frame.key
    return text
