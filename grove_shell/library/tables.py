"""Rows of a result: a tuple of rows with names, which knows its columns where it is empty too (LB-014)."""

from collections.abc import Iterable
from typing import Any, TypeVar

from grove_shell.library.html_tables import html_table

RowT = TypeVar("RowT", bound=tuple[Any, ...])


class Table(tuple[RowT, ...]):  # noqa: SLOT001 - a tuple has no slots with values
    """Some rows, each a tuple with names; equal to a tuple of these rows.

    Attributes:
        columns: names of the columns in order, also where there is no row.

    Example:
        >>> import grove_shell as grove
        >>> waiting = grove.plan(grove.read("examples/real-cluster.yaml")).waiting
        >>> waiting.columns
        ('until', 'set', 'replica', 'because', 'pods_needed', 'finds_room', 'room_unknown')
        >>> waiting.to_columns()["replica"]
        ['qwen replica 1', 'deepseek-0-prefill replica 0']
    """

    columns: tuple[str, ...]

    def __new__(cls, rows: Iterable[RowT] = (), columns: Iterable[str] = ()) -> "Table[RowT]":
        """Take the rows."""
        made = super().__new__(cls, rows)
        made.columns = tuple(columns)
        return made

    def to_columns(self) -> dict[str, list[Any]]:
        """Return column -> its values, as data frames take it."""
        return {name: [row[index] for row in self] for index, name in enumerate(self.columns)}

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table("", self.columns, self) or "<p>no rows</p>"


def table_of(kind: type[RowT], rows: Iterable[RowT]) -> Table[RowT]:
    """Return rows of one type of named tuples as a table."""
    return Table(rows, getattr(kind, "_fields", ()))
