"""Runs the main coroutine of a long-running command."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from typing import Any

from grove_shell.client.api_session import NoServerResponse
from grove_shell.client.connection_settings import NoClusterAccess
from grove_shell.exit_codes import ERROR
from grove_shell.operator.health_server import CannotListen
from grove_shell.page import print_error


def run_main_coroutine(program: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine and return its exit code (CL-001); print one sentence where it cannot start."""
    try:
        return asyncio.run(program)
    except (NoClusterAccess, CannotListen, NoServerResponse) as fault:
        print_error(fault)
        return ERROR
    finally:
        _discard_unwritable_stderr()


def _discard_unwritable_stderr() -> None:
    """Replace an unwritable standard error; else the interpreter flushes it and exits with another code (OP-064)."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
