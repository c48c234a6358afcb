"""The HTML page of a result that the text page has whole: its lines as sections, with the rules that they cite."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from grove_shell.html.anchors import Anchors
from grove_shell.html.cited_reasons import CitedRules
from grove_shell.html.rendering import render_html
from grove_shell.html.simulation_lanes import SimulationLanes
from grove_shell.html.text_lines import HtmlLine, html_sections
from grove_shell.styled_text_page import StyledTextPage


@dataclass(frozen=True, slots=True)
class ReportSection:
    """Lines between two blank lines; ``has_columns`` is whether spaces align them."""

    lines: tuple[HtmlLine, ...]
    has_columns: bool


def report_html(command: str, page: StyledTextPage, *, title: str = "", lanes: SimulationLanes | None = None) -> str:
    """Return the page of a result as the text of one HTML file (HP-011).

    Args:
        command: such as ``compare``.
        title: what stands above; the first line of the page where it is empty.
        lanes: the PodCliques of a simulation over time; None for other commands.
    """
    cited = CitedRules(Anchors())
    sections = html_sections(page)
    for section in sections:
        for line in section:
            for span in line.spans:
                if span.number:
                    cited.cite_number(span.number, span.code)
    first, *rest = sections or ((),)
    lines = list(first)
    verdict = lines.pop(0) if lines and not title else None
    head = list(takewhile(lambda line: not line.indent and line.label is None and not line.is_prominent, lines))
    if body := lines[len(head) :]:
        rest = [(replace(body[0], is_heading=body[0].is_prominent), *body[1:]), *rest]
    values = {
        "command": command,
        "title": title,
        "verdict": verdict,
        "head": head,
        "sections": [ReportSection(one, _has_columns(one)) for one in rest],
        "lanes": lanes,
        "rules": cited.rules(),
    }
    return render_html("report.html", values)


def _has_columns(section: Sequence[HtmlLine]) -> bool:
    """Whether at least half of the lines are aligned."""
    return 2 * sum(line.has_columns for line in section) >= len(section)
