"""A comparison of two rule sets as Markdown: verdict, a table of the differences, and the sets (CL-090)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from grove_core.compare import FirstTermination, RuleSetComparison
from grove_shell.views.compare.compare_page import RuleSetComparisonReport, rule_set_comparison_page
from grove_shell.views.formatting import (
    MAX_NAMES,
    count_with_noun,
    join_names_with_commas,
    object_display_name,
)
from grove_shell.views.markdown_page import add_markdown_sections, text_of_line, text_page_sections
from grove_shell.views.markdown_text import MarkdownDocument
from grove_shell.views.plan.plan_markdown import impact_cells, time_cell

_ROWS: Final = 50


def compare_markdown(report: RuleSetComparisonReport, *, full: bool) -> str:
    """Return the comparison as Markdown; ``full`` for every deleted clique and every condition that differs."""
    page = rule_set_comparison_page(report, full=full)
    (verdict, *head), *rest = text_page_sections(page)
    written = MarkdownDocument("grove compare")
    written.add_verdict(text_of_line(verdict))
    written.add_text(*map(text_of_line, head))
    rows = [row for one in report.comparisons for row in _rows(one, report.as_of)]
    before, after = report.rules
    columns = ("change", "PodCliques", before, "pods", "GPUs", after, "pods", "GPUs")
    written.add_table(columns, rows[:_ROWS], "difference", "Terminations that differ")
    if len(rows) > _ROWS:
        written.add_text(f"and {count_with_noun(len(rows) - _ROWS, 'more difference')}")
    add_markdown_sections(written, rest)
    return written.text()


def _rows(found: RuleSetComparison, now: datetime) -> Iterator[tuple[str, ...]]:
    for one in found.differences:
        names = join_names_with_commas([ref.name for ref in one.cliques], MAX_NAMES)
        yield (
            one.change.value,
            f"{found.root.namespace}/{found.root.name}: {names}",
            *_end(one.before, now),
            *_end(one.after, now),
        )


def _end(end: FirstTermination | None, now: datetime) -> tuple[str, str, str]:
    if end is None:
        return "kept", "", ""
    when = time_cell(end.at, now)
    times = f", {end.times:,} times" if end.times > 1 else ""
    return f"{object_display_name(end.subject)} terminated {when}{times}", *impact_cells(end.takes)
