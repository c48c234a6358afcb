"""The list of objects on the screen: rows that open and close, a cursor, and only the lines in sight drawn."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from grove_core.kernel.refs import Ref
from grove_shell.watch_screen.row_text import Columns, columns_for, row_text
from grove_shell.watch_screen.screen_rows import ScreenRow, VisibleRow, visible_rows


class ExpandableObjectRows(ScrollView, can_focus=True):
    """Rows of sets, and below each open row those inside it.

    Attributes:
        opened: the objects whose rows are open.
        now: the time that clocks are drawn for.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("right,l", "open", show=False),
        Binding("left,h", "close", show=False),
        Binding("enter,space", "open_or_close", show=False),
    ]

    class Selected(Message):
        """Another row is selected, or the selected one has changed."""

        def __init__(self, row: ScreenRow | None) -> None:
            """Keep the row; None where there is none."""
            super().__init__()
            self.row = row

    def __init__(self, now: datetime, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self.opened: set[Ref] = set()
        self.now = now
        self._tops: tuple[ScreenRow, ...] = ()
        self._lines: list[VisibleRow] = []
        self._columns = Columns(0, 0, 0, 0)
        self._cursor = 0

    @property
    def selected(self) -> ScreenRow | None:
        """The row under the cursor; None without rows."""
        return self._lines[self._cursor].row if self._lines else None

    def show_rows(self, tops: Sequence[ScreenRow], select: Ref | None = None) -> None:
        """Show other rows; the cursor stays on its object, or goes to ``select``.

        Where its object is gone, it stays on its line.
        """
        kept = select or (self.selected.subject if self.selected is not None else None)
        self._tops = tuple(tops)
        self._lines = list(visible_rows(self._tops, self.opened))
        places = {one.row.subject: place for place, one in enumerate(self._lines)}
        self._cursor = min(places.get(kept, self._cursor) if kept else self._cursor, max(len(self._lines) - 1, 0))
        self._fit()
        self.refresh()
        self.post_message(self.Selected(self.selected))

    def show_time(self, now: datetime) -> None:
        """Draw the clocks for a time."""
        self.now = now
        if self._columns.end:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        place = y + self.scroll_offset.y
        if place >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        one, is_selected = self._lines[place], place == self._cursor
        is_open = one.row.subject in self.opened
        text = row_text(one, self._columns, self.now, is_open=is_open, is_selected=is_selected)
        strip = Strip(text.render(self.app.console)).adjust_cell_length(self.size.width)
        style = self.rich_style + Style(reverse=self.has_focus, underline=not self.has_focus) if is_selected else None
        return strip.apply_style(style or self.rich_style)

    def on_resize(self, _event: events.Resize) -> None:
        """Fit the columns to the new width."""
        self._fit()

    def on_click(self, event: events.Click) -> None:
        """Select the row under the pointer; open or close it where it is selected already."""
        place = event.y + self.scroll_offset.y
        if place < len(self._lines):
            if place == self._cursor:
                self.action_open_or_close()
            else:
                self.action_move(place - self._cursor)

    def action_move(self, rows: int) -> None:
        """Move the cursor by a number of rows."""
        self._cursor = min(max(self._cursor + rows, 0), max(len(self._lines) - 1, 0))
        self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.Selected(self.selected))

    def action_page(self, pages: int) -> None:
        """Move the cursor by a number of pages."""
        self.action_move(pages * max(self.size.height - 1, 1))

    def action_open_or_close(self) -> None:
        """Open or close the row under the cursor."""
        row = self.selected
        if row is not None and row.subject in self.opened:
            self.opened.discard(row.subject)
            self.show_rows(self._tops)
        else:
            self.action_open()

    def action_open(self) -> None:
        """Open the row under the cursor."""
        row = self.selected
        if row is not None and row.children:
            self.opened.add(row.subject)
            self.show_rows(self._tops)

    def action_close(self) -> None:
        """Close the row under the cursor; go to the row around it where it is closed."""
        row = self.selected
        if row is None:
            return
        if row.subject in self.opened:
            self.opened.discard(row.subject)
            self.show_rows(self._tops)
            return
        depth = self._lines[self._cursor].depth
        above = (place for place in range(self._cursor, -1, -1) if self._lines[place].depth < depth)
        self.action_move(next(above, self._cursor) - self._cursor)

    def _fit(self) -> None:
        width = self.scrollable_content_region.width
        self._columns = columns_for(self._lines, width)
        self.virtual_size = Size(width, len(self._lines))
        self._scroll_to_cursor()

    def _scroll_to_cursor(self) -> None:
        """Scroll to the cursor, and to the row of its set where both fit."""
        above = (place for place in range(self._cursor, 0, -1) if self._lines[place].depth == 0) if self._lines else ()
        first = next(iter(above), 0)
        if self._cursor - first >= self.size.height:
            first = self._cursor
        self.scroll_to_region(Region(0, first, 1, self._cursor - first + 1), animate=False, force=True)
