"""Tables for notebooks. What an input says is text in them, never markup."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Any

from grove_core.kernel.time_formats import format_time


def html_escaped(text: str) -> str:
    """Return a text as HTML that shows it."""
    return escape(text)


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; empty without rows."""
    found = ["".join(f"<td>{escape(_shown(value))}</td>" for value in row) for row in rows]
    if not found:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{row}</tr>" for row in found)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:  # noqa: ANN401 - a value of any cell
    if value is None:
        return ""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(one)}" for key, one in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value))
    return str(value)
