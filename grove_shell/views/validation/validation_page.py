"""Pages and documents of ``grove validate``: verdicts on manifests, and whether an operator would start."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from grove_core.kernel.admission import AdmissionVerdict, AdmissionWarning, Deny, FieldRemark
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.resources.crd_name_clashes import NamesInCrd, crd_name_clashes
from grove_shell.manifests.crd_definitions import grove_crd_names
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_items import item_display_name
from grove_shell.reading.input_sources import InputItem
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import admission_remark_as_json, count_with_noun, rule_citation

JudgedManifest: TypeAlias = tuple[InputItem, Decision[AdmissionVerdict]]


def validation_page(
    judged: Sequence[JudgedManifest],
    others: Mapping[str, int],
    positions: FieldPositions,
    *,
    warned: Sequence[JudgedManifest] = (),
    is_reported: bool,
) -> StyledTextPage:
    """Return the page of verdicts.

    Args:
        others: kind -> how many objects were not judged.
        positions: of the fields in their files.
        warned: objects that no operator of Grove admits, with warnings (WL-250).
        is_reported: whether problems of the input are printed already.
    """
    page = StyledTextPage()
    if not judged and not is_reported:
        page.add_line(("nothing was checked: no PodCliqueSet in the input", "bold"))
    for item, decision in judged:
        verdict, warnings = decision.verdict, decision.verdict.warnings
        refusals = verdict.objections if isinstance(verdict, Deny) else ()
        word = ("refused", "bold red") if refusals else ("admitted", "bold green")
        problems = f", {count_with_noun(len(refusals), 'problem')}" if refusals else ""
        cautions = f", {count_with_noun(len(warnings), 'warning')}" if warnings else ""
        page.add_line(f"{item.file}: {item_display_name(item)}: ", word, problems + cautions)
        for objection in refusals:
            line = _line_text(item, objection, positions)
            page.add_line("  ", str(objection), rule_citation(objection.reason), line)
        _add_warnings(page, item, warnings, positions)
    for item, decision in warned:
        warnings = decision.verdict.warnings
        page.add_line(f"{item.file}: {item_display_name(item)}: {count_with_noun(len(warnings), 'warning')}")
        _add_warnings(page, item, warnings, positions)
    if others:
        page.add_line((f"not checked: {', '.join(f'{count:,} {kind}' for kind, count in others.items())}", "dim"))
    return page


def _add_warnings(
    page: StyledTextPage, item: InputItem, warnings: Iterable[AdmissionWarning], positions: FieldPositions
) -> None:
    for warning in warnings:
        line = _line_text(item, warning, positions)
        page.add_line("  ", ("warning: ", "yellow"), str(warning), rule_citation(warning.reason), line)


def _line_text(item: InputItem, remark: FieldRemark, positions: FieldPositions) -> Span:
    place = positions.position_of(item, remark.path)
    return (f"  line {place[0]}", "dim") if place is not None else ("", "")


def validation_as_json(
    judged: Iterable[JudgedManifest], others: Mapping[str, int], positions: FieldPositions
) -> dict[str, Any]:
    """Return the verdicts as JSON."""
    verdicts = [_verdict_as_json(item, decision, positions) for item, decision in judged]
    return {"verdicts": verdicts, "notJudged": dict(others)}


def _verdict_as_json(
    item: InputItem, decision: Decision[AdmissionVerdict], positions: FieldPositions
) -> dict[str, Any]:
    def shown(remark: FieldRemark) -> dict[str, Any]:
        place = positions.position_of(item, remark.path)
        where = {} if place is None else {"line": place[0], "column": place[1]}
        return {**admission_remark_as_json(remark), **where}

    objections = decision.verdict.objections if isinstance(decision.verdict, Deny) else ()
    return {
        "file": item.file,
        "document": item.document,
        "object": item_display_name(item),
        "verdict": type(decision.verdict).__name__,
        "objections": [shown(objection) for objection in objections],
        "warnings": [shown(warning) for warning in decision.verdict.warnings],
    }


def taken_crd_names_page(found: Iterable[NamesInCrd], *, none_taken: str = "") -> StyledTextPage:
    """Return a line for each name of our definitions that another definition has or claims (CL-032).

    Args:
        none_taken: a line where there is none.
    """
    page = StyledTextPage()
    for clash in crd_name_clashes(found, grove_crd_names()):
        page.add_line(("name taken: ", "bold red"), clash.sentence, ("  CL-032", "dim"))
    if none_taken and not page.lines:
        page.add_line(none_taken, ("  CL-032", "dim"))
    return page


def operator_start_page(notices: Iterable[Reason]) -> StyledTextPage:
    """Return that an operator would start, and what follows from the cluster (CL-032, SC-008)."""
    page = StyledTextPage()
    page.add_line(("would start", "bold green"))
    for notice in notices:
        page.add_line(notice.sentence, (f"  {notice.rule.requirement}", "dim"))
    return page
