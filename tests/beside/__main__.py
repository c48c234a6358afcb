"""``python -m tests.beside FOLDER [NAME...]``: play situations with the Go operator, and record them."""

import sys
import time
import traceback
from pathlib import Path

from tests.beside.further_situations import FURTHER
from tests.beside.go_operator import missing
from tests.beside.midway_situations import MIDWAY
from tests.beside.more_situations import MORE
from tests.beside.recorder import Recorder
from tests.beside.situations import FIRST


def main(out: Path, wanted: list[str]) -> int:
    """Record the situations whose names begin with a word that is wanted, or all."""
    if why := missing():
        sys.stderr.write(f"{why}\n")
        return 1
    chosen = {
        name: each
        for name, each in {**FIRST, **MORE, **FURTHER, **MIDWAY}.items()
        if not wanted or name.startswith(tuple(wanted))
    }
    failed = 0
    with Recorder(out) as recorder:
        for name, situation in chosen.items():
            begun = time.monotonic()
            try:
                events = recorder.record(name, situation)
            except Exception:  # noqa: BLE001 - the others can be recorded all the same
                failed += 1
                sys.stdout.write(f"{name}: not recorded\n{traceback.format_exc()}\n")
            else:
                sys.stdout.write(f"{name}: {len(events)} writes, {time.monotonic() - begun:.0f} s\n")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
