"""The HTML page of a result that the text page has whole: its lines as sections, with the rules that they cite."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from grove_core.kernel.structs import replace
from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.cited_reasons import CitedRules
from grove_shell.html.rendering import fill_html_template
from grove_shell.html.report_sections import ReportSection, report_section
from grove_shell.html.report_trees import PlansOfResult, html_report_trees
from grove_shell.html.simulation_lanes import SimulationLanes
from grove_shell.html.text_lines import HtmlLine, html_sections, style_classes
from grove_shell.styled_text_page import StyledTextPage

_FEW: Final = 8
"""A page with as many blocks of lines, and no tree, has no filter."""


def report_html(
    command: str,
    page: StyledTextPage,
    *,
    title: str = "",
    title_style: str = "",
    lanes: SimulationLanes | None = None,
    plans: PlansOfResult | None = None,
) -> str:
    """Return the page of a result as the text of one HTML file (HP-011, HP-020).

    Args:
        command: such as ``compare``.
        title: what stands above, in ``title_style``; the first line of the page where it is empty.
        lanes: the PodCliques of a simulation over time; None for other commands.
        plans: what the result was made of; None where that is no plan.
    """
    anchors = HtmlAnchorIds()
    cited = CitedRules(anchors)
    trees = None if plans is None else html_report_trees(plans, anchors, cited)
    found = html_sections(page)
    _cite_rules(found, cited)
    first, *rest = found or ((),)
    lines = list(first)
    verdict = lines.pop(0) if lines and not title else None
    head = list(takewhile(lambda line: not line.indent and line.label is None and not line.is_prominent, lines))
    if body := lines[len(head) :]:
        rest = [(replace(body[0], is_heading=body[0].is_prominent), *body[1:]), *rest]
    sections = [report_section(one, anchors, trees) for one in rest]
    shown = {one.tree.anchor for one in sections if one.tree is not None}
    values = {
        "command": command,
        "title": title,
        "title_classes": style_classes(title_style),
        "verdict": verdict,
        "head": head,
        "sections": sections,
        "lanes": lanes,
        "lane_ids": [anchors.free_id(lane.name) for lane in lanes.lanes] if lanes is not None else [],
        "trees": trees,
        "other_sets": [] if trees is None else [one for one in trees.sets.values() if one.anchor not in shown],
        "has_filter": trees is not None or _block_count(sections) > _FEW,
        "rules": cited.rules(),
    }
    return fill_html_template("report.html", values)


def _cite_rules(sections: Sequence[Sequence[HtmlLine]], cited: CitedRules) -> None:
    for section in sections:
        for line in section:
            for span in line.spans:
                if span.number:
                    cited.cite_number(span.number, span.code)


def _block_count(sections: Sequence[ReportSection]) -> int:
    return sum(len(section.blocks) for section in sections)
