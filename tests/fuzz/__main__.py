"""Damaged input at every border: ``python -m tests.fuzz yaml json --minutes 10 --seed 1``.

Without a border it takes all of them, one after the other. An input that breaks a promise is made small, printed as a
literal, ready to become a test, and written to a file; ``--again FILE`` feeds such a file by every way of a border.
"""

import argparse
import random
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.fuzz_targets import TARGETS
from tests.fuzz.limits import MOST_GROWTH, InputResult, limit_memory, peak_memory, run_input
from tests.fuzz.minimize import minimized

_PATIENCE: Final = 10.0  # s between two lines of progress
_WARM: Final = 0.1  # of the time


@dataclass
class Course:
    """What became of the inputs of one border.

    Attributes:
        broken: place -> how often.
        warm, most: MiB at the end of the warm-up, and at the end of all.
    """

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    slowest_way: str = ""
    warm: int = 0
    most: int = 0

    def count(self, way: str, found: InputResult) -> None:
        """Add one."""
        self.outcomes[found.outcome] += 1
        if found.seconds > self.slowest:
            self.slowest, self.slowest_way = found.seconds, way

    @property
    def line(self) -> str:
        """A row of the table."""
        words = ", ".join(f"{outcome} {count:,}" for outcome, count in self.outcomes.most_common())
        slowest = f"{self.slowest:.2f} s ({self.slowest_way})"
        memory = f"{self.warm} -> {self.most} MiB"
        broken = f"{len(self.broken)} places, {self.broken.total():,} inputs" if self.broken else "nothing"
        return f"| {self.name} | {self.outcomes.total():,} | {words} | {slowest} | {memory} | {broken} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Feed until the time is up; 1 if any promise was broken, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    names = [[], *TARGETS]  # argparse holds the default of what may be left out against the choices too
    parser.add_argument("borders", nargs="*", choices=names, metavar="BORDER", help=", ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=10, help="for each border")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for inputs that break a promise")
    parser.add_argument("--again", type=Path, help="feed this file and nothing else")
    options = parser.parse_args(arguments)
    limit_memory()
    courses = []
    for name in options.borders or TARGETS:
        with tempfile.TemporaryDirectory() as folder, TARGETS[name](Path(folder)) as border:
            course = Course(name)
            if options.again is not None:
                _again(border, options.again.read_bytes(), course)
            else:
                _run(border, course, random.Random(options.seed), options.minutes * 60, options.found)
            courses.append(course)
    _say("\n| border | inputs | outcomes | slowest | memory | broken |\n|---|---|---|---|---|---|")
    for course in courses:
        _say(course.line)
    for course in courses:
        for place, count in course.broken.most_common():
            _say(f"{course.name}: {count:,} times {place}")
    return int(any(course.broken for course in courses))


def _run(border: FuzzTarget, course: Course, chance: random.Random, seconds: float, folder: Path) -> None:
    began = reported = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        way = chance.choice(border.ways)
        data = border.make(chance, way)
        found = run_input(border, way, data)
        course.count(way, found)
        course.most = peak_memory()
        if now - began < _WARM * seconds:
            course.warm = course.most
        elif course.most > course.warm + MOST_GROWTH and not found.broken:
            words = f"grew from {course.warm} to {course.most} MiB"
            found, course.warm = InputResult("BROKEN", words, f"memory {way}", found.seconds), course.most
        if found.broken:
            course.broken[found.place] += 1
            if course.broken[found.place] == 1:
                _hand_over(border, course.name, way, data, found, folder)
        if now - reported > _PATIENCE:
            reported = now
            count, broken = course.outcomes.total(), course.broken.total()
            line = f"{course.name} {now - began:6.0f} s  {count:9,} inputs  {course.most} MiB  {broken} broken\n"
            sys.stderr.write(line)


def _hand_over(border: FuzzTarget, name: str, way: str, data: bytes, found: InputResult, folder: Path) -> None:
    """Show an input that breaks a promise for the first time at its place."""
    if not found.place.startswith(("hang", "memory")):
        data = minimized(data, lambda smaller: run_input(border, way, smaller).place == found.place)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{zlib.crc32(found.place.encode()):08x}"
    path.write_bytes(data)
    _say(f"\nBROKEN {name}, {way}: {found.broken}\n{path}, {len(data)} bytes:\n{data[:3000]!r}")


def _again(border: FuzzTarget, data: bytes, course: Course) -> None:
    for way in border.ways:
        found = run_input(border, way, data)
        course.count(way, found)
        if found.broken:
            course.broken[found.place] += 1
            _say(f"\nBROKEN {course.name}, {way}: {found.broken}")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command that prints


if __name__ == "__main__":
    sys.exit(main())
