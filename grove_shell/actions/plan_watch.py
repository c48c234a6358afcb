"""``grove plan --watch``: prints the plan again when the input changes or a deadline passes, until stopped (CL-098)."""

import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from grove_core.document.document_writing import plan_document_as_json
from grove_core.explain import explanation_of_forecast
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_shell.actions.command_input import InputSource
from grove_shell.actions.decision_time import NowWord
from grove_shell.actions.file_states import file_states
from grove_shell.actions.following import InputChanges, follow_cluster, follow_files
from grove_shell.actions.picture_files import require_matplotlib
from grove_shell.actions.plan import PlanOptions, ReadPlan, read_plan, show_plan
from grove_shell.exit_codes import DONE, ERROR, CommandFailed
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
from grove_shell.views.planned_terminations import PendingReplica, pending_replicas
from grove_shell.views.renderers import RENDERERS

_TICK: Final = 1.0  # s
_PLAN_LIVE_EVERY: Final = 60.0  # s; for what no watch shows, such as the clock's effect and nodes


def watch_plan(source: InputSource, options: PlanOptions) -> int:
    """Plan and print until SIGINT or SIGTERM; return the exit code of commands that run until stopped (CL-100).

    Raises:
        CommandFailed: the first plan cannot be made.
    """
    if options.picture is not None:
        require_matplotlib()
    resume_python_gc()
    changes = InputChanges()
    with _stopped_by_signals():
        try:
            return _PlanWatch(source, options, changes).run()
        except KeyboardInterrupt:
            if _is_terminal():
                overwrite_terminal_line("")
            return DONE


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Within the block SIGTERM ends the command as SIGINT does; outside of the main thread nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _PlanWatch:
    """The plans of one command, one after the other."""

    def __init__(self, source: InputSource, options: PlanOptions, changes: InputChanges) -> None:
        self._source, self._options, self._changes = source, options, changes
        self._shown = ""  # the last printed plan, without its time; empty after an input that could not be planned
        self._unreadable = ""  # why the last input could not be read
        self._reported: set[str] = set()
        self._next: PendingReplica | None = None
        self._has_clock = False

    def run(self) -> int:
        """Print the plan now and after each change; never returns but for a failure."""
        source, options = self._source, self._options
        files = (*source.filenames, *source.old, *options.policies, *filter(None, (source.config, source.attempts)))
        known = file_states(files)
        if source.live is not None:
            follow_cluster(source.live, self._changes)
            self._changes.wait(0)
        first = read_plan(source, options)
        if isinstance(first, int):
            return first
        follow_files(files, self._changes, known)
        self._show(first)
        self._note_next_termination(first)
        while self._changes.failure is None:
            self._wait()
            self._report_troubles()
            self._plan_again()
        print_error(self._changes.failure)
        return ERROR

    def _plan_again(self) -> None:
        """Plan, and print the plan where it differs from the last one; an input that cannot be read stays followed."""
        try:
            found = read_plan(self._source, self._options)
        except (CommandFailed, OSError) as fault:
            self._report_unreadable(fault)
            return
        self._unreadable = ""
        if isinstance(found, int):
            self._shown = ""
            return
        if _without_time(found) != self._shown:
            self._print_between(format_time(truncated_to_seconds(_now())))
            self._show(found)
        self._note_next_termination(found)

    def _report_unreadable(self, fault: Exception) -> None:
        """Report once why an input cannot be read."""
        self._shown = ""
        if str(fault) != self._unreadable:
            self._unreadable = str(fault)
            self._print_between(f"{format_time(truncated_to_seconds(_now()))}: the input cannot be read")
            print_error(fault)

    def _show(self, found: ReadPlan) -> None:
        show_plan(found, self._options)
        self._shown = _without_time(found)

    def _note_next_termination(self, found: ReadPlan) -> None:
        self._has_clock = self._decides_at_clock(found)
        forecasts = found.plan.document.forecasts
        pending = pending_replicas(forecasts, map(explanation_of_forecast, forecasts))
        self._next = next((one for one in pending if one.first > found.plan.document.as_of), None)

    def _decides_at_clock(self, found: ReadPlan) -> bool:
        """Whether a later plan has a later time: that of the input, or a given one, stays."""
        if isinstance(self._source.now, datetime) or found.inputs.time.source:
            return False
        is_captured = found.inputs.loaded.taken_at is not None and self._source.live is None
        return not is_captured or self._source.now is NowWord.CLOCK

    def _wait(self) -> None:
        """Wait for a change, for the next deadline, or for a while; count down on a terminal meanwhile."""
        until, shown = monotonic() + _PLAN_LIVE_EVERY, ""
        while True:
            line = self._countdown()[: shutil.get_terminal_size().columns - 1]
            if _is_terminal() and line != shown:
                overwrite_terminal_line(line)
                shown = line
            is_due = self._has_clock and self._next is not None and self._next.first <= _now()
            is_old = self._source.live is not None and monotonic() > until
            if self._changes.wait(0 if is_due or is_old else _TICK) or is_due or is_old:
                break
        if _is_terminal():
            overwrite_terminal_line("")

    def _countdown(self) -> str:
        one, now = self._next, _now()
        if one is None:
            return "no termination ahead; waiting for changes (Ctrl-C ends)"
        replica = f"{one.root.namespace}/{one.root.name} {object_display_name(one.replica)}"
        if not self._has_clock:
            return f"next termination at {clock_time(one.first, now)}: {replica}; waiting for changes (Ctrl-C ends)"
        at = f"{relative_time(one.first, now)}, at {clock_time(one.first, now)}"
        return f"next termination {at}: {replica} (Ctrl-C ends)"

    def _report_troubles(self) -> None:
        for words in [one for one in self._changes.troubles if one not in self._reported]:
            self._reported.add(words)
            print_error(f"not followed by a watch, so planned again every minute: {words}")

    def _print_between(self, words: str) -> None:
        """Print a line between two plans; documents have their own separators."""
        if RENDERERS[self._options.output].shows_page:
            page = StyledTextPage()
            page.add_line()
            page.add_line((f"--- {words} ---", "bold"))
            print_page(page)
        elif self._options.output == "yaml":
            write_stdout("---\n")


def _without_time(found: ReadPlan) -> str:
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
