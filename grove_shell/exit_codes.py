"""Exit codes: one list for all commands, part of the interface (CL-001)."""

from typing import Final

DONE: Final = 0
ERROR: Final = 1  # bad input, a refused manifest, no way to the cluster
CHANGES: Final = 2  # with --detailed-exitcode
FAIL_ON: Final = 3  # a class of --fail-on, an expectation that was not met, a set without a place
STALE: Final = 4  # a saved plan is not what would be planned now
USAGE: Final = 64
LOST: Final = 75  # the Lease: another process acts now
INTERRUPTED: Final = 130
