"""What ``grove explain`` shows of the forecast: steps round by round, and what an update deletes (CL-125, CL-126)."""

from collections.abc import Iterable
from typing import Any, Final

from grove_core.document.edit_format import deleted_pod_as_json
from grove_core.document.plan_document import step_action_name
from grove_core.document.step_writing import ref_as_json, step_as_json
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Delete, Step, total_deletion_impact
from grove_core.kernel.time_formats import format_time
from grove_core.object_explanation import ObjectExplanation
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    MAX_NAMES,
    clock_time,
    count_with_noun,
    deletion_impact_text,
    join_names_with_commas,
    relative_time,
    rule_citation,
)
from grove_shell.views.plan.edit_lines import ASSUMED, edit_stage_lines, reason_stages_end
from grove_shell.views.plan.edits_summary import pods_and_gpus_text, unknown_update_reason_text

_MANY: Final = 20
_STAGES: Final = 20


def finding_scope_text(inquiry: ObjectExplanation, finding: Finding) -> str:
    """Return in words that a finding is of another replica (CL-127), or holds after the steps of the plan (CL-125)."""
    if inquiry.is_of_other_replica(finding):
        return ", only for other replicas of it"
    return ", after the steps of the plan" if inquiry.is_after_steps(finding) else ""


def add_termination_averted_by_plan(page: StyledTextPage, inquiry: ObjectExplanation, finding: Finding) -> None:
    """Add when a replica would be terminated but for the steps of the plan, in the words of the plan (CL-125)."""
    until, now = inquiry.averted_until(finding), inquiry.snapshot.now
    if finding.question == TERMINATION and until is not None:
        when = f"{clock_time(until, now)} ({relative_time(until, now)})"
        page.add_line(f"    it would be terminated at {when}; the steps of the plan prevent that")


def add_later_steps(page: StyledTextPage, inquiry: ObjectExplanation) -> None:
    """Add the steps of later rounds, and the pods that the update of an edit deletes, stage by stage (CL-126)."""
    start, stages = inquiry.snapshot.now, list(inquiry.update_stages())
    for one in inquiry.later_rounds():
        at = f" at {clock_time(one.at, start)}" if one.at > start else ""
        steps = [step for step in one.steps if not (stages and _deletes_pod(step))]  # its stage says it
        add_step_lines(page, steps, f"round {one.number}{at}")
    for number, stage in stages[:_STAGES]:
        for line in edit_stage_lines(number, stage, full=False):
            label = f"  {line.label.lower()} in " if line.text.startswith("stage") else "  "
            page.add_line((label, line.style), line.text)
        because = {pod.because.rule.code: pod.because for pod in stage.deleted if pod.because is not None}
        add_reasons(page, list(because.values())[:_MANY])
    if len(stages) > _STAGES:
        page.add_line(f"  and {count_with_noun(len(stages) - _STAGES, 'more stage')} (grove plan -v lists all)")
    edit = None if inquiry.forecast is None else inquiry.forecast.edit
    if edit is not None and edit.update is None:
        page.add_line(f"  what the edit restarts is unknown: {unknown_update_reason_text((edit,))}")
    elif edit is not None and edit.update is not None and edit.update.unreached.pods:
        later = f"{pods_and_gpus_text(edit.update.unreached)} of the set restart later{reason_stages_end(edit.update)}"
        page.add_line(f"  {later}")
    if stages:
        page.add_line((f"  {ASSUMED}", "dim"))


def _deletes_pod(step: Step) -> bool:
    return isinstance(step.action, Delete) and step.target.kind == "Pod"


def add_step_lines(page: StyledTextPage, steps: Iterable[Step], when: str) -> None:
    """Add steps, grouped by kind and reason."""
    alike: dict[tuple[str, str, str], list[Step]] = {}
    for step in steps:
        alike.setdefault((step_action_name(step.action), step.target.kind, step.because[0].rule.code), []).append(step)
    for (action, kind, _), same in alike.items():
        names = join_names_with_commas([step.target.name for step in same], MAX_NAMES)
        goes = deletion_impact_text(total_deletion_impact(same)) if kind != "Pod" else ""
        page.add_line(
            f"  {when}: ",
            (f"{action} ", "bold"),
            count_with_noun(len(same), kind),
            f" with {goes}" if goes else "",
            f", {names}",
        )
        add_reasons(page, same[0].because)


def add_reasons(page: StyledTextPage, because: Iterable[Reason]) -> None:
    """Add a line for each reason."""
    for reason in because:
        page.add_line(f"    {reason.sentence}", rule_citation(reason))


def later_steps_as_json(inquiry: ObjectExplanation) -> dict[str, Any]:
    """Return what the steps of the plan avert, and what follows its first round; without empty fields (CL-126)."""
    averted = [(one, inquiry.averted_until(one)) for one in inquiry.findings() if one.question == TERMINATION]
    shown: dict[str, Any] = {
        "averted": [{"subject": ref_as_json(one.subject), "until": format_time(at)} for one, at in averted if at],
        "laterSteps": [
            {"round": one.number, "at": format_time(one.at), **step_as_json(step)}
            for one in inquiry.later_rounds()
            for step in one.steps
        ],
        "deletedByUpdate": [
            {"stage": number, **deleted_pod_as_json(pod)}
            for number, stage in inquiry.update_stages()
            for pod in stage.deleted
        ],
    }
    return {key: value for key, value in shown.items() if value}
