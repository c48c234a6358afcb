"""Exit codes: one list for all commands, part of the interface (CL-001)."""

from typing import Final

DONE: Final = 0
ERROR: Final = 1
CHANGES: Final = 2
FAIL_ON: Final = 3
STALE: Final = 4
USAGE: Final = 64
LOST: Final = 75
INTERRUPTED: Final = 130
