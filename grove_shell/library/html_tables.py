"""HTML for notebooks: plain tables. What an input says is text in them, never markup (LB-016).

There are no colours, so that a notebook shows them in those of its theme.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import starmap
from types import MappingProxyType
from typing import Any, Final

from grove_core.kernel.time_formats import format_time
from grove_core.plan.update_forecast import PodsAndGpus
from grove_shell.styled_text_page import escape_unprintable

_CAPTION: Final = "caption-side:top;text-align:left;font-weight:bold;padding:12px 0 4px"
_CELL: Final = "text-align:left;vertical-align:top;padding:2px 8px 2px 0"
_ON_ONE_LINE: Final = frozenset({"at", "until", "before", "after", "rule"})
_HEADINGS: Final = MappingProxyType(
    {"gpus": "GPUs", "pods_needed": "ready pods needed", "finds_room": "finds room again"}
)
_UNKNOWN: Final = "not known"
_UNKNOWN_IF_NONE: Final = frozenset(
    {"pods", "ready", "gpus", "finds_room", "restarts", "removes", "terminates", "adds"}
)
"""Columns in which None stands for what is not known; elsewhere it stands for nothing."""
_WORDS: Final = MappingProxyType({None: "", True: "yes", False: "no"})


def html_page_of_tables(title: str, *parts: str) -> str:
    """Return a title and tables."""
    return f"<p><b>{_text(title)}</b></p>{''.join(parts)}"


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; empty without rows."""
    found = ["".join(starmap(_cell, zip(columns, row, strict=True))) for row in rows]
    if not found:
        return ""
    names = (_HEADINGS.get(column, column.replace("_", " ")) for column in columns)
    head = "".join(f'<th style="{_CELL}">{_text(name)}</th>' for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in found)
    title = f'<caption style="{_CAPTION}">{_text(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(column: str, value: Any) -> str:  # noqa: ANN401 - a value of any cell
    style = f"{_CELL};white-space:nowrap" if column in _ON_ONE_LINE else _CELL
    shown = _UNKNOWN if value is None and column in _UNKNOWN_IF_NONE else _shown(value)
    return f'<td style="{style}">{_text(shown)}</td>'


def _text(text: str) -> str:
    """Return a text as HTML that shows it; characters that steer a terminal or turn text around are escaped."""
    return escape(escape_unprintable(text))


def _shown(value: Any) -> str:  # noqa: ANN401 - a value of any cell
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return next((show(value) for kind, show in _SHOWN if isinstance(value, kind)), str(value))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _pods_and_gpus(value: PodsAndGpus) -> str:
    return f"{_count(value.pods, 'pod')}, {_count(value.gpus, 'GPU')}"


_SHOWN: Final[tuple[tuple[Any, Callable[[Any], str]], ...]] = (
    (datetime, format_time),
    (PodsAndGpus, _pods_and_gpus),
    (Mapping, lambda value: ", ".join(f"{key}: {_shown(one)}" for key, one in value.items())),
    (tuple | list, lambda value: ", ".join(map(_shown, value))),
)
"""Kind of a value -> how it is shown; the first that fits."""
