"""The line of a row: name, state as a word, time left, and counts, in columns (WA-003, WA-004)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from rich.text import Text

from grove_shell.views.tree.object_states import STATE_STYLES, ObjectState
from grove_shell.watch_screen.screen_rows import ScreenRow, VisibleRow

_INDENT: Final = 2
_OPEN, _CLOSED, _LEAF = "▾ ", "▸ ", "  "
_CURSOR, _NO_CURSOR = ">", " "
_GAP: Final = 2
_LARGEST_NAME_SHARE: Final = 0.5
_LEAST_NAME: Final = 8
_NARROW: Final = 100  # cells


class Columns(NamedTuple):
    """Widths of the columns in cells, without the gaps between them.

    Attributes:
        end: 0 where no row ends.
        detail: what is left of the width; a longer detail is cut, and ends with an ellipsis.
        is_narrow: whether ``ends`` is left out, and counts are written as ``1/2 ready, 2 needed``.
    """

    name: int
    state: int
    end: int
    detail: int
    is_narrow: bool = False


def columns_for(rows: Sequence[VisibleRow], width: int) -> Columns:
    """Return the columns that fit some rows; names take at most half of the width, and leave room for state and end."""
    name = max((_head_width(one) + len(one.row.name) for one in rows), default=0)
    state = max((len(state_word(one.row)) for one in rows), default=0)
    has_end = any(one.row.ends_at is not None for one in rows)
    is_narrow = width < _NARROW
    end = len("in 0:00:00" if is_narrow else "ends in 0:00:00") if has_end else 0
    right = _GAP + state + (_GAP + end if end else 0)
    name = max(min(name, int(width * _LARGEST_NAME_SHARE), width - right), _LEAST_NAME)
    return Columns(name, state, end, max(width - name - right - _GAP, 0), is_narrow)


def row_text(
    visible: VisibleRow, columns: Columns, now: datetime, *, is_open: bool = False, is_selected: bool = False
) -> Text:
    """Return the line of a row; the selected one is marked by a character, too.

    Args:
        visible: the row, and how deep it is in the tree.
        now: that the time left until an end is counted from.
        is_open: whether the rows inside it are shown.
    """
    row, depth = visible
    head = (_CURSOR if is_selected else _NO_CURSOR) + " " * (_INDENT * depth)
    head += (_OPEN if is_open else _CLOSED) if row.children else _LEAF
    name = shorten_middle(row.name, max(columns.name - len(head), 1))
    style = STATE_STYLES[row.state]
    text = Text(no_wrap=True)
    text.append(f"{head}{name}".ljust(columns.name), "bold" if depth == 0 else "")
    text.append(" " * _GAP)
    text.append(state_word(row).ljust(columns.state), style)
    if columns.end:
        end = row_end_time_text(row, now).removeprefix("ends " if columns.is_narrow else "")
        text.append(" " * _GAP)
        text.append(end.ljust(columns.end), style if row.is_termination else "")
    text.append(" " * _GAP)
    text.append(_detail(row, columns), "dim")
    return text


def _detail(row: ScreenRow, columns: Columns) -> str:
    detail = row.detail
    if columns.is_narrow:
        detail = (
            detail.replace(" of ", "/", 1)
            .replace("pods ready", "ready", 1)
            .replace(" replicas available,", " replicas,", 1)
            .replace("at least ", "", 1)
        )
        if len(detail) > columns.detail and detail.endswith(" needed"):
            detail = detail.partition(",")[0]
    return detail if len(detail) <= columns.detail else f"{detail[: max(columns.detail - 1, 0)]}…"


def state_word(row: ScreenRow) -> str:
    """Return the state of a row as words; ``waiting inside`` where it is that of something inside it."""
    is_inside = not row.is_own_state and row.state is not ObjectState.READY
    return f"{row.state.value} inside" if is_inside else row.state.value


def row_end_time_text(row: ScreenRow, now: datetime) -> str:
    """Return when a row ends, such as ``ends in 0:09:00`` or ``ends now``; empty where no end is planned."""
    if row.ends_at is None:
        return "ends now" if row.is_termination and row.state is ObjectState.ENDS else ""
    return "ends now" if row.ends_at <= now else f"ends in {hours_minutes_seconds_text(row.ends_at - now)}"


def hours_minutes_seconds_text(span: timedelta) -> str:
    """Return hours, minutes and seconds, ``0:09:00``; parts of a second count as one."""
    seconds = -(-span // timedelta(seconds=1))
    return f"{seconds // 3600:,}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def shorten_middle(name: str, width: int) -> str:
    """Return a name with its middle left out where it is longer than a width: its end tells pods apart."""
    if len(name) <= width:
        return name
    end = width // 2
    return f"{name[: width - end - 1]}…{name[len(name) - end :]}" if width > 1 else "…"


def _head_width(visible: VisibleRow) -> int:
    return len(_NO_CURSOR) + _INDENT * visible.depth + len(_LEAF)
