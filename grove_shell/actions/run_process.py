"""Programs that run until they are told to stop."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from typing import Any

from grove_shell.client.api import Unreachable
from grove_shell.client.connection import NoAccess
from grove_shell.exits import ERROR
from grove_shell.operator.health_server import CannotListen
from grove_shell.page import print_error


def run_process(program: Coroutine[Any, Any, int]) -> int:
    """Run to the end; what keeps it from beginning is told in one sentence. Returns the exit code (CL-001)."""
    try:
        return asyncio.run(program)
    except (NoAccess, CannotListen, Unreachable) as fault:
        print_error(fault)
        return ERROR
    finally:
        _give_up_on_what_takes_nothing()


def _give_up_on_what_takes_nothing() -> None:
    """Or the interpreter, which tries once more at its end, leaves with a code of its own (OP-090)."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
