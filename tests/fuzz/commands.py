"""The command line in this process, and what it promises whatever it is given (CL-001, IN-030)."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, Final, NamedTuple

from grove_shell import exit_codes
from grove_shell.cli.main import run_command_line

NOW: Final = "2026-11-20T09:00:00Z"
CODES: Final = frozenset(
    {exit_codes.DONE, exit_codes.ERROR, exit_codes.CHANGES, exit_codes.FAIL_ON, exit_codes.STALE, exit_codes.USAGE}
)
_WORDS: Final = {
    exit_codes.DONE: "done",
    exit_codes.ERROR: "refused",
    exit_codes.FAIL_ON: "fail-on",
    exit_codes.USAGE: "usage",
}


class Broken(AssertionError):
    """A promise was broken; the message says which."""


class Said(NamedTuple):
    """What a command left."""

    code: int
    out: str
    err: str


def said(*words: str) -> Said:
    """Run a command; whatever it raises is raised."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_command_line(words, "grove")
    return Said(code, out.getvalue(), err.getvalue())


def kept(*words: str) -> str:
    """Run a command and hold it to its promises; the outcome in a word.

    Raises:
        Broken: with the promise.
    """
    reported = said(*words)
    for problem in problems_of(reported, structured="json" in words):
        raise Broken(problem)
    return _WORDS.get(reported.code, str(reported.code))


def problems_of(reported: Said, *, structured: bool) -> Iterator[str]:
    """Every promise that was not kept."""
    if reported.code not in CODES:
        yield f"exit code {reported.code}"
    if reported.code and not (reported.out + reported.err).strip():
        yield f"exit code {reported.code}, and not a word"
    if "Traceback" in reported.out + reported.err:
        yield "a traceback was printed"
    for line in (reported.err + reported.out).split("\n"):
        if not line.isprintable():
            yield f"not printable: {line!r}"
    if structured and reported.out:
        try:
            json.loads(reported.out, parse_constant=_refuse)
            reported.out.encode()
        except ValueError as fault:
            yield f"no JSON on standard output: {fault}"


def _refuse(constant: str) -> Any:
    raise ValueError(f"the number {constant}")
