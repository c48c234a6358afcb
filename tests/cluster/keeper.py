"""Holds the programs of one control plane, and ends them when the process that started them ends, however that happens.

A process of its own, spoken to in lines of JSON. It starts programs as its children and waits for the end of its
standard input, which comes with the end of the asking process: also of one that was killed. On Linux a keeper that is
killed takes its children along. Nothing here needs more than the standard library, and nothing starts a thread.

    {"start": [name, [argv ...], path of its log]}   answered by the process id
    {"ended": null}                                  answered by {name: exit code} of all that ended
"""

import contextlib
import ctypes
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None) if sys.platform == "linux" else None


def _end_with_keeper() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _start(argv: list[str], log: str) -> subprocess.Popen[bytes]:
    with Path(log).open("wb") as file:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=Path(log).parent,
            preexec_fn=_end_with_keeper,  # noqa: PLW1509 - there is no second thread
        )


def keep() -> None:
    """Do what the lines say, until there are no more."""
    programs: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for line in sys.stdin:
            answer: Any
            match json.loads(line):
                case {"start": [name, argv, log]}:
                    programs[name] = _start(argv, log)
                    answer = programs[name].pid
                case _:
                    answer = {name: code for name, p in programs.items() if (code := p.poll()) is not None}
            print(json.dumps(answer), flush=True)  # noqa: T201 - the protocol
    finally:
        for program in programs.values():
            program.kill()  # nothing in a control plane for tests is worth a farewell
        for program in programs.values():
            program.wait()


def _leave(*_: object) -> NoReturn:
    raise SystemExit


def main(folder_to_remove: str | None) -> None:
    """Keep, then remove the folder if there is one to remove."""
    signal.signal(signal.SIGTERM, _leave)
    try:
        with contextlib.suppress(BrokenPipeError):  # the caller is gone
            keep()
    finally:
        if folder_to_remove:
            shutil.rmtree(folder_to_remove, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
