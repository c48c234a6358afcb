"""``grove watch``: checks that a screen can be shown, connects, and runs it."""

import asyncio
import os
import sys
from importlib.util import find_spec
from typing import Final

from grove_core.kernel.structs import replace
from grove_shell.actions.command_input import InputSource
from grove_shell.exit_codes import DONE, ERROR, USAGE, CommandFailed
from grove_shell.following.followed_input import followed_input
from grove_shell.styled_text_page import print_error
from grove_shell.watch_screen.plan_loop import WatchOptions
from grove_shell.watch_screen.watched_plan import watched_plan

NEEDS_TEXTUAL: Final = "grove watch needs Textual: pip install 'grove-plan[watch]'"
NEEDS_TERMINAL: Final = "grove watch shows a screen and needs a terminal; grove plan prints the same plan"


def watch(source: InputSource, options: WatchOptions) -> int:
    """Show the screen until the user leaves it. Returns the exit code (CL-001).

    Raises:
        CommandFailed: Textual is missing, or there is nothing to show at first.
    """
    if find_spec("textual") is None:
        raise CommandFailed(NEEDS_TEXTUAL)
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        print_error(NEEDS_TERMINAL)
        return USAGE
    if not os.environ.get("NO_COLOR"):
        os.environ.pop("NO_COLOR", None)  # an empty one asks for nothing, and Textual heeds it
    return asyncio.run(_watch(source, options))


async def _watch(source: InputSource, options: WatchOptions) -> int:
    from grove_shell.watch_screen.watch_app import WatchApp  # noqa: PLC0415 - Textual may be missing

    async with followed_input(source, options.edits) as followed:
        if source.live is None:  # what is wrong with the files at first is printed, as grove plan does
            options = replace(options, first=watched_plan(source, options.plan))
        returned = await WatchApp(followed, options).run_async()
    return ERROR if returned is None else returned or DONE  # a screen that an internal error ends returns nothing
