"""Exit codes: one list for all commands, part of the interface (CL-001); and the error that ends a command."""

from typing import Final

DONE: Final = 0
ERROR: Final = 1  # bad input, a refused manifest, no way to the cluster
CHANGES: Final = 2  # with --detailed-exitcode
FAIL_ON: Final = 3  # a class of --fail-on, an expectation that was not met, a set without a place
STALE: Final = 4  # a saved plan is not what would be planned now
USAGE: Final = 64
LOST: Final = 75  # the Lease: another process acts now
INTERRUPTED: Final = 130


class CommandFailed(Exception):
    """A command cannot go on: its argument, a text or a page, is printed, and the exit code is 1 (CL-001)."""
