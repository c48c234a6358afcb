"""The screen of ``grove watch``: headline and clock, the objects, the reasons of the selected one, and an edit."""

import asyncio
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Input, Static

from grove_core.kernel.refs import Ref
from grove_shell.exit_codes import DONE
from grove_shell.following.background_thread import SerialBackgroundThread
from grove_shell.following.followed_input import FollowedInput
from grove_shell.styled_text_page import StyledTextPage, escape_unprintable
from grove_shell.watch_screen.object_list import ExpandableObjectRows
from grove_shell.watch_screen.plan_loop import PlanRefreshLoop, WatchOptions
from grove_shell.watch_screen.screen_layout import BREAKPOINTS, STYLE
from grove_shell.watch_screen.screen_rows import ScreenRow, initially_open_rows, next_matching_row
from grove_shell.watch_screen.status_lines import clock_line, outdated_screen_text, page_from_text
from grove_shell.watch_screen.text_views import KeyHelp, PagePane
from grove_shell.watch_screen.watched_plan import WatchedPlan, row_reasons

_OPENED_AT_FIRST: Final = 60
_REASONS_AFTER: Final = 0.1  # s on a row
_SECOND: Final = 1_000_000  # µs


class WatchApp(App[int]):
    """Follows an input and shows its plan; it decides nothing (WA-001)."""

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    CSS = STYLE
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c,ctrl+q", "leave", show=False),
        Binding("slash", "search", show=False),
        Binding("n", "next_termination", show=False),
        Binding("a", "attention", show=False),
        Binding("e", "edit", show=False),
        Binding("i", "notes", show=False),
        Binding("question_mark", "help", show=False),
        Binding("escape", "end_search", show=False),
    ]

    def __init__(self, followed: FollowedInput, options: WatchOptions) -> None:
        super().__init__()
        self._options = options
        self._thread = SerialBackgroundThread()
        self._plans = PlanRefreshLoop(followed, options, self._thread, self)
        self._plan: WatchedPlan | None = None
        self._needs_attention_only = False
        self._shows_notes = False
        self._searched = ""
        self._headline = Static(Text("reading ..."), id="headline")
        self._clock = Static(Text(), id="clock")
        self._trouble = Static(Text(), id="trouble")
        self._objects = ExpandableObjectRows(datetime.now(UTC), "objects")
        self._reasons = PagePane("reasons")
        self._edit = PagePane("edit", "planning the edit ...")
        self._search = Input(id="search", placeholder="search names, states, nodes", select_on_focus=False)
        self._keys = Static(self._known_keys, id="keys")

    def compose(self) -> ComposeResult:
        """Yield the parts of the screen, from the top."""
        yield self._headline
        yield self._clock
        yield self._trouble
        with Container(id="body"):
            yield self._objects
            with Container(id="panes"):
                yield self._reasons
                yield self._edit
        yield self._search
        yield self._keys

    def on_mount(self) -> None:
        """Begin to follow the input and to draw the clock."""
        self.set_class(bool(self._options.edits), "-has-edits")
        self._objects.focus()
        self.run_worker(self._plans.run(), group="loop")
        self.run_worker(self._draw_clock(), group="clock")
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.action_leave)

    @property
    def _known_keys(self) -> Text:
        edit = "  e edit" if self._options.edits else ""
        keys = f" q quit  / search  n next termination  a attention{edit}  i notes  ? help"
        return Text(keys, "dim", no_wrap=True)

    @property
    def is_at_rest(self) -> bool:
        """Whether a plan is shown with the reasons of its selected row."""
        return self._plan is not None and bool(self._reasons.page.lines)

    @property
    def _now(self) -> datetime:
        plan = self._plan
        return datetime.now(UTC) if plan is None or plan.clock_runs else plan.as_of

    async def _draw_clock(self) -> None:
        """Draw the clocks at the beginning of every second."""
        while True:
            self._show_time()
            await asyncio.sleep((_SECOND - datetime.now(UTC).microsecond) / _SECOND)

    def _show_time(self) -> None:
        if self._plan is not None:
            line = Text(clock_line(self._plan, self._now), "dim", no_wrap=True, overflow="ellipsis")
            self._clock.update(line)
            self._objects.show_time(self._now)

    def show_plan(self, plan: WatchedPlan) -> None:
        """Show a new plan; at first open what needs attention, and go to the first termination."""
        is_first, self._plan = self._plan is None, plan
        notes = "  (notes: i)" if plan.notes.lines else ""
        self._headline.update(Text.assemble(*plan.headline, (notes, "dim")))
        select = None
        if is_first:
            self._objects.opened.update(initially_open_rows(plan.rows, _OPENED_AT_FIRST))
            first = next_matching_row(plan.rows, None, lambda row: row.is_termination)
            select = first.subject if first is not None else None
        self._show_time()
        self._objects.show_rows(self._shown_rows(), select)

    def show_edit(self, page: StyledTextPage) -> None:
        """Show the plan of the edit."""
        self._edit.show(page)

    def show_trouble(self, connection: str, failure: StyledTextPage | None) -> None:
        """Show why the screen may be out of date, and since when; nothing where it is not."""
        text = outdated_screen_text(connection, failure, None if self._plan is None else self._plan.as_of)
        self._trouble.update(text)
        self._trouble.set_class(bool(text.plain), "-shown")
        if self._plan is None and failure is not None:
            self._reasons.show(failure)

    def _shown_rows(self) -> tuple[ScreenRow, ...]:
        rows = self._plan.rows if self._plan is not None else ()
        return tuple(row for row in rows if row.state.needs_attention) if self._needs_attention_only else rows

    def on_expandable_object_rows_selected(self, message: ExpandableObjectRows.Selected) -> None:
        """Show the reasons of the selected row, and the keys in place of what was not found."""
        self._keys.update(self._known_keys)
        if not self._shows_notes:
            self.run_worker(self._show_reasons(message.row), group="reasons", exclusive=True)

    async def _show_reasons(self, row: ScreenRow | None) -> None:
        await asyncio.sleep(_REASONS_AFTER)
        plan = self._plan
        if row is None or plan is None:
            self._reasons.show(page_from_text("no set needs attention" if self._needs_attention_only else ""))
            return
        page = await self._thread.run(partial(row_reasons, plan, row, self._options.plan.rules))
        self._reasons.show(page)

    def action_leave(self) -> None:
        """End with exit code 0; the terminal is as before."""
        self.exit(DONE)

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(KeyHelp())

    def action_notes(self) -> None:
        """Show the notes of the plan in place of reasons, or the reasons again."""
        self._shows_notes = not self._shows_notes and self._plan is not None
        self.remove_class("-edits")
        if self._shows_notes and self._plan is not None:
            self.workers.cancel_group(self, "reasons")
            notes = self._plan.notes
            self._reasons.show(notes if notes.lines else page_from_text("the plan has no notes"))
        else:
            self.run_worker(self._show_reasons(self._objects.selected), group="reasons", exclusive=True)

    def action_edit(self) -> None:
        """Show the plan of the edit in place of reasons, or the reasons again."""
        if self._options.edits:
            self.toggle_class("-edits")

    def action_attention(self) -> None:
        """Show only sets that need attention, or all."""
        self._needs_attention_only = not self._needs_attention_only
        self._objects.show_rows(self._shown_rows())

    def action_next_termination(self) -> None:
        """Go to the next replica that waits for its end, or that is terminated now."""
        if not self._go_to_next(lambda row: row.is_termination):
            self._keys.update(Text(" no termination is planned", "bold", no_wrap=True))

    def action_search(self) -> None:
        """Begin a search below the selected row."""
        self._search.value = ""
        self._search.add_class("-shown")
        self._search.focus()

    def action_end_search(self) -> None:
        """Go back to the list."""
        self._search.remove_class("-shown")
        self._objects.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go to the next row that has the text; without a text to the next one of the last search."""
        self._searched = message.value.strip() or self._searched
        self.action_end_search()
        if self._searched and not self._go_to_next(lambda row: row.contains(self._searched)):
            self._keys.update(Text(f" not found: {escape_unprintable(self._searched)}", "bold", no_wrap=True))

    def _go_to_next(self, matches: Callable[[ScreenRow], bool]) -> bool:
        """Select the next row that matches, and open the rows around it; return whether there is one."""
        plan, selected = self._plan, self._objects.selected
        if plan is None:
            return False
        found = next_matching_row(plan.rows, selected.subject if selected is not None else None, matches)
        if found is None:
            return False
        self._open_around(plan, found.subject)
        if self._needs_attention_only and plan.set_of(found.subject) not in {row.subject for row in self._shown_rows()}:
            self._needs_attention_only = False
        self._objects.show_rows(self._shown_rows(), found.subject)
        return True

    def _open_around(self, plan: WatchedPlan, subject: Ref) -> None:
        while subject in plan.parents:
            subject = plan.parents[subject]
            self._objects.opened.add(subject)
