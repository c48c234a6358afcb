"""``grove plan --watch``: prints the plan again when the input changes or a deadline passes, until stopped (CL-098)."""

import asyncio
import shutil
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final

from grove_core.document.document_writing import plan_document_as_json
from grove_core.explain import explanation_of_forecast
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_shell.actions.command_input import InputSource
from grove_shell.actions.picture_files import require_matplotlib
from grove_shell.actions.plan import PlanWithPageContext, SetsNotInInput, read_input_and_plan, show_plan
from grove_shell.actions.planned_input import PlanOptions
from grove_shell.exit_codes import DONE, CommandFailed
from grove_shell.following.background_thread import SerialBackgroundThread
from grove_shell.following.deadlines import next_deadline
from grove_shell.following.followed_input import FollowedInput, followed_input
from grove_shell.python_gc import resume_python_gc
from grove_shell.styled_text_page import (
    StyledTextPage,
    is_stderr_terminal,
    json_text,
    overwrite_terminal_line,
    print_error,
    print_page,
    write_stdout,
)
from grove_shell.views.formatting import clock_time, object_display_name, relative_time
from grove_shell.views.plan.planned_terminations import ReplicaPendingTermination, replicas_pending_termination
from grove_shell.views.renderers import RENDERERS

_TICK: Final = 1.0  # s
_SETTLED_AFTER: Final = 0.5  # s without a change
_LONGEST_WAIT: Final = 5.0  # s, for changes that go on
_RETRY: Final = timedelta(seconds=5)  # after an input that could not be planned


def print_plan_on_changes(source: InputSource, options: PlanOptions) -> int:
    """Plan and print until SIGINT or SIGTERM; return the exit code of commands that run until stopped (CL-100).

    Raises:
        CommandFailed: the first plan cannot be made.
    """
    if options.picture is not None:
        require_matplotlib()
    resume_python_gc()
    try:
        return asyncio.run(_watch(source, options))
    except SetsNotInInput as fault:
        print_error(fault)
        return fault.code
    except (KeyboardInterrupt, asyncio.CancelledError):
        if _is_terminal():
            overwrite_terminal_line("")
        return DONE


async def _watch(source: InputSource, options: PlanOptions) -> int:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine runs in one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    also = (*source.old, *options.policies, *filter(None, (source.config, source.attempts)))
    async with followed_input(source, also) as followed:
        return await _PlanWatch(followed, options).run()


class _PlanWatch:
    """The plans of one command, one after the other."""

    def __init__(self, followed: FollowedInput, options: PlanOptions) -> None:
        self._followed, self._options = followed, options
        self._thread = SerialBackgroundThread()
        self._changed = asyncio.Event()
        self._shown = ""  # the last printed plan, without its time; empty after an input that could not be planned
        self._unreadable = ""  # why the last input could not be read
        self._reported: set[str] = set()
        self._next: ReplicaPendingTermination | None = None
        self._due: datetime | None = None  # when to plan again without a change
        self._has_clock = False

    async def run(self) -> int:
        """Print the plan now and after each change; never returns but for a failure."""
        following = asyncio.create_task(self._followed.follow(self._changed.set))
        try:
            self._show(await self._plan())
            while not following.done():
                await self._wait()
                await self._plan_again()
            return following.result() or DONE  # an internal error is raised
        finally:
            following.cancel()
            await asyncio.wait({following})

    async def _plan(self) -> PlanWithPageContext:
        """Read the input and plan it; what is wrong with the connection meanwhile is reported."""
        reading = asyncio.ensure_future(self._followed.source())
        while not (await asyncio.wait({reading}, timeout=_LONGEST_WAIT))[0]:
            self._report_troubles()
        source, begun = reading.result(), _now()
        found = await self._thread.run(lambda: read_input_and_plan(source, self._options))
        document = found.plan.document
        stories = tuple(map(explanation_of_forecast, document.forecasts))
        pending = replicas_pending_termination(document.forecasts, stories)
        self._next = next((one for one in pending if one.first > document.as_of), None)
        self._has_clock = begun <= document.as_of <= _now()
        self._due = next_deadline(document, stories) if self._has_clock else None
        return found

    async def _plan_again(self) -> None:
        """Plan, and print the plan where it differs from the last one; an input that cannot be read stays followed."""
        self._report_troubles()
        self._due = None
        if self._followed.trouble:  # a plan of what may be out of date is not printed
            self._shown = ""
            return
        try:
            found = await self._plan()
        except (CommandFailed, OSError) as fault:
            self._due = _now() + _RETRY
            self._report_unreadable(fault)
            return
        self._unreadable = ""
        if _without_time(found) != self._shown:
            self._print_between(format_time(truncated_to_seconds(_now())))
            self._show(found)

    def _report_unreadable(self, fault: Exception) -> None:
        """Report once why nothing can be planned."""
        self._shown = ""
        if str(fault) != self._unreadable:
            self._unreadable = str(fault)
            what = "nothing is planned" if isinstance(fault, SetsNotInInput) else "the input cannot be read"
            self._print_between(f"{format_time(truncated_to_seconds(_now()))}: {what}")
            print_error(fault)

    def _show(self, found: PlanWithPageContext) -> None:
        show_plan(found, self._options)
        self._shown = _without_time(found)

    async def _wait(self) -> None:
        """Wait for changes until no more follow for a moment, or for the next deadline; count down on a terminal."""
        shown = ""
        while not self._changed.is_set() and (self._due is None or self._due > _now()):
            line = self._countdown()[: shutil.get_terminal_size().columns - 1]
            if _is_terminal() and line != shown:
                overwrite_terminal_line(line)
                shown = line
            await self._await_change(_TICK)
        until = monotonic() + _LONGEST_WAIT
        while self._changed.is_set() and monotonic() < until:
            self._changed.clear()
            await self._await_change(_SETTLED_AFTER)
        self._changed.clear()
        if _is_terminal():
            overwrite_terminal_line("")

    async def _await_change(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _countdown(self) -> str:
        one, now = self._next, _now()
        if self._followed.trouble:
            return "no connection; trying again (Ctrl-C ends)"
        if self._unreadable:
            return "nothing is planned; waiting for changes (Ctrl-C ends)"
        if one is None:
            return "no termination ahead; waiting for changes (Ctrl-C ends)"
        replica = f"{one.root.namespace}/{one.root.name} {object_display_name(one.replica)}"
        if not self._has_clock:
            return f"next termination at {clock_time(one.first, now)}: {replica}; waiting for changes (Ctrl-C ends)"
        at = f"{relative_time(one.first, now)}, at {clock_time(one.first, now)}"
        return f"next termination {at}: {replica} (Ctrl-C ends)"

    def _report_troubles(self) -> None:
        """Report once what is wrong with the connection."""
        for words in {self._followed.unwatched, self._followed.trouble} - self._reported - {""}:
            self._reported.add(words)
            print_error(words)

    def _print_between(self, words: str) -> None:
        """Print a line between two plans; documents have their own separators."""
        if RENDERERS[self._options.output].shows_page:
            page = StyledTextPage()
            page.add_line()
            page.add_line((f"--- {words} ---", "bold"))
            print_page(page)
        elif self._options.output == "yaml":
            write_stdout("---\n")


def _without_time(found: PlanWithPageContext) -> str:
    """Return a plan as text that is the same at a later time, if nothing else has changed."""
    document = found.plan.document
    text = json_text(plan_document_as_json(document, decisions=False))
    for now in (document.as_of, truncated_to_seconds(document.as_of)):
        text = text.replace(format_time(now), "now")
    return text


def _now() -> datetime:
    return datetime.now(UTC)


def _is_terminal() -> bool:
    return is_stderr_terminal() and sys.stdout is not None and sys.stdout.isatty()
