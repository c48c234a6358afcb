"""A stand-in for the fabric daemon: it writes the hosts it is given to a file, and says that it is ready.

Each line of its input is a peer map; when the input ends, so does it, and the file goes with it. It needs nothing but
the standard library, since it starts anew with every index.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def write_hosts(path: Path, line: str) -> None:
    """Write the file of hosts as a whole: who reads it sees the map before or the map after."""
    told = json.loads(line)
    text = "".join(f"{address}\t{name}\n" for address, name in told["hosts"])
    passing = path.with_name(f".{path.name}.{os.getpid()}")
    passing.write_text(f"# index {told['index']}\n{text}", encoding="utf-8")
    passing.replace(path)


def main(arguments: list[str]) -> int:
    """Serve until there are no more lines."""
    path = Path(arguments[0])
    signal.signal(signal.SIGTERM, _leave)
    try:
        for line in sys.stdin:
            write_hosts(path, line)
            sys.stdout.write("ready\n")
            sys.stdout.flush()
    finally:
        path.unlink(missing_ok=True)
    return 0


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
