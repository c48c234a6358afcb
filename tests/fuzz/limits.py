"""One input under watch: how long it takes, what it leaves in memory, and where it broke."""

import gc
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NamedTuple

from grove_shell.log_lines import grove_stack_frames
from tests.fuzz.fuzz_target import FuzzTarget

CPU_SECONDS: Final = 10.0
"""For one input, of processor time, so that a busy machine is no find."""
WALL_SECONDS: Final = 120.0
"""For one input that waits for something."""
MOST_GROWTH: Final = 256
"""MiB by which the process may grow after its warm-up: what one input of 200 kB may need at most, and no leak."""
MOST_MEMORY: Final = 6 << 30


class TimeLimitExceeded(BaseException):
    """The time for one input is up. Not an Exception, so that no handler catches it."""


class InputResult(NamedTuple):
    """What became of one input.

    Attributes:
        outcome: in a word; ``BROKEN`` where a promise was broken.
        broken: which, for a person; empty where none was.
        place: the same for every input that breaks it there.
        seconds: of processor time.
    """

    outcome: str
    broken: str
    place: str
    seconds: float


def peak_memory() -> int:
    """The most memory that this process ever had, in MiB."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def limit_memory() -> None:
    """Let what takes all memory end in a MemoryError here, and not in the end of other processes."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def run_input(border: FuzzTarget, way: str, data: bytes) -> InputResult:
    """Feed one input."""
    began = time.process_time()
    outcome, broken, place = "BROKEN", "", ""
    hung: list[str] = []
    try:
        with _limited(hung):
            outcome = border.feed(way, data)
    except (Exception, TimeLimitExceeded) as fault:  # noqa: BLE001 - whatever it is, it is a find
        broken, place = _reported(fault)
    if hung:
        outcome, broken = "BROKEN", f"no answer in {CPU_SECONDS:.0f} s: {hung[0]}"
        place = f"hang {hung[0]}"
    if not gc.isenabled():  # it was broken off where nothing is collected
        gc.enable()
    return InputResult(outcome, broken, place, time.process_time() - began)


@contextmanager
def _limited(hung: list[str]) -> Iterator[None]:
    def ring(_number: int, frame: FrameType | None) -> None:
        hung.append(" < ".join(grove_stack_frames(traceback.extract_stack(frame))[:6]))
        raise TimeLimitExceeded

    before = [signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)


def _reported(fault: BaseException) -> tuple[str, str]:
    """In words, and the place that is the same for every input that ends there."""
    stack = grove_stack_frames(traceback.extract_tb(fault.__traceback__))
    words = "".join(traceback.format_exception_only(fault)).strip()
    name = type(fault).__name__
    place = f"{name} {stack[0] if stack else words[:80]}"
    return f"{words[:600]}\n  at {' < '.join(stack[:8])}", place
