"""Writes the peer map to a hosts file; runs in place of a fabric daemon.

Each line of standard input is a peer map as JSON; each written map is confirmed with ``ready``. At the end of the input
the file is deleted. The module imports the standard library alone, because it starts again with every index.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def write_hosts_file(path: Path, line: str) -> None:
    """Replace the hosts file atomically with the peer map of a JSON line."""
    peers = json.loads(line)
    text = "".join(f"{address}\t{name}\n" for address, name in peers["hosts"])
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(f"# index {peers['index']}\n{text}", encoding="utf-8")
    temporary.replace(path)


def main(arguments: list[str]) -> int:
    """Write peer maps to the file named by the first argument until the input ends; return the exit code."""
    path = Path(arguments[0])
    signal.signal(signal.SIGTERM, _exit)
    try:
        for line in sys.stdin:
            write_hosts_file(path, line)
            sys.stdout.write("ready\n")
            sys.stdout.flush()
    finally:
        path.unlink(missing_ok=True)
    return 0


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
