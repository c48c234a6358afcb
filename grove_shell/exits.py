"""Exit codes: one list for all commands, part of the interface (CL-001)."""

from typing import Final

DONE: Final = 0
ERROR: Final = 1
CHANGES: Final = 2
FAIL_ON: Final = 3
USAGE: Final = 64
INTERRUPTED: Final = 130
