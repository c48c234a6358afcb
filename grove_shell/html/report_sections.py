"""Sections of a text page for an HTML page: each with an id, its lines in blocks that a filter keeps whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.report_trees import ReportTrees, SetTreeView
from grove_shell.html.text_lines import HtmlLine

_REPLICA: Final = re.compile(r"replica (\d+) of ")
_OBJECT: Final = re.compile(r"\b[\w.-]+/([a-z0-9][a-z0-9.-]*[a-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """Lines between two blank lines.

    Attributes:
        anchor: the id of the section; empty without a heading.
        heading: its first line; None where it has none.
        blocks: the other lines, each with the lines below it that belong to it.
        has_columns: whether spaces align them.
        tree: of the set that the section is about; None without one.
    """

    anchor: str
    heading: HtmlLine | None
    blocks: tuple[tuple[HtmlLine, ...], ...]
    has_columns: bool
    tree: SetTreeView | None


def report_section(lines: Sequence[HtmlLine], anchors: HtmlAnchorIds, trees: ReportTrees | None) -> ReportSection:
    """Return a section; the id of one about a set is that of the set."""
    heading = lines[0] if lines[0].is_heading else None
    rest = lines[1:] if heading is not None else lines
    has_columns = 2 * sum(line.has_columns for line in rest) >= len(rest)
    tree = None if heading is None or trees is None else trees.sets.get(heading.spans[0].text.strip())
    return ReportSection(
        anchor=tree.anchor if tree is not None else _anchor(heading, anchors),
        heading=heading,
        blocks=tuple(_blocks(rest, has_columns=has_columns)),
        has_columns=has_columns,
        tree=tree,
    )


def _anchor(heading: HtmlLine | None, anchors: HtmlAnchorIds) -> str:
    """Return the id of a section: the name of the first object in its heading, else the heading."""
    if heading is None:
        return ""
    found, replica = _OBJECT.search(heading.text), _REPLICA.search(heading.text)
    name = "" if found is None else found[1]
    return anchors.free_id(f"{name}-{replica[1]}" if name and replica else name, heading.text.strip())


def _blocks(lines: Sequence[HtmlLine], *, has_columns: bool) -> Iterator[tuple[HtmlLine, ...]]:
    """Yield lines with those that are indented below them; in columns those without a word in the first column."""
    block: list[HtmlLine] = []
    least = 0
    for line in lines:
        if block and (line.label is not None or line.indent < least):
            yield tuple(block)
            block = []
        if not block:
            least = line.indent + (len(line.text.split(" ")[0]) if has_columns else 1)
        block.append(line)
    if block:
        yield tuple(block)
