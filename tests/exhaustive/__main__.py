"""``python -m tests.exhaustive [design] [F3] [F2]`` compares all states, of the wide scopes too, and counts them."""

import sys
import time

from tests.exhaustive.comparison import SCOPES, WIDE_SCOPES, Difference, compare


def main(chosen: list[str]) -> int:
    """Compare the scopes of the chosen specifications; return 1 at the first difference."""
    for specification in chosen or [*SCOPES]:
        for name, scope in (SCOPES[specification] | WIDE_SCOPES[specification]).items():
            began = time.monotonic()
            try:
                count = compare(specification, scope)
            except Difference as found:
                print(f"{specification}, {name}:\n{found}")  # noqa: T201 - it is a report
                return 1
            seconds = time.monotonic() - began
            print(f"{specification}, {name}: {count.states} states ({seconds:.0f} s)", flush=True)  # noqa: T201 - it is a report
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
