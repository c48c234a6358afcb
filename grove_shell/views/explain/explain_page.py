"""The page of ``grove explain``: the verdicts on an object, its cliques and pods, and the steps on it."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.verdicts import TERMINATES
from grove_core.document.plan_document import RuleSetSource
from grove_core.forecast_explanation import EntryUrgency, withholds_scheduling_gate_removal
from grove_core.kernel.decisions import Finding, SubjectHealth, reasons_for_question
from grove_core.kernel.questions import AVAILABILITY, BREACH, PREDICTION, SCHEDULED, TERMINATION
from grove_core.object_explanation import ObjectExplanation
from grove_core.object_lookup import KINDS_WITHOUT_PODS
from grove_core.plan.termination_hints import hints_by_replica
from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_core.resources.pod import Pod, ready_pod_count
from grove_core.resources.podclique import PodClique
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.explain.explained_object import ExplainedObject, pending_hints_of_object, pods_in_explanation
from grove_shell.views.explain.explained_steps import (
    add_later_steps,
    add_reasons,
    add_step_lines,
    add_termination_averted_by_plan,
    finding_scope_text,
)
from grove_shell.views.explain.pod_placement_lines import add_placement_lines
from grove_shell.views.formatting import (
    STYLES,
    clock_time,
    count_with_noun,
    object_display_name,
    relative_time,
    rule_citation,
)
from grove_shell.views.plan.explained_planned_object import add_planned_object_lines
from grove_shell.views.plan.foreign_gate_lines import foreign_gate_sentences_of_clique
from grove_shell.views.plan.manifest_notes import add_edited_object_lines, add_redacted_field_lines
from grove_shell.views.plan.plan_headline import time_and_rules_line
from grove_shell.views.plan.termination_hint_lines import first_sentence_of_scheduler_message, termination_hint_lines

_WITHOUT_PODS: Final = frozenset({PREDICTION, BREACH, SCHEDULED, TERMINATION, AVAILABILITY})
"""Questions whose answer is the same of every set that has no placed pod yet."""
_MANY: Final = 20
_CLIQUES: Final = 40


class ExplainHeader(NamedTuple):
    """The first lines of the page.

    Attributes:
        source: what chose the rule set (CL-055).
        time_from: ``input`` where the time is the newest one in the input; else empty (IN-081).
        other: which operator runs the cluster, where the rule set is that of another one (GF-111); else empty.
        edited: the edited topologies, and the edited sets of the objects (CL-102).
        hidden: ``namespace/name`` of edited sets -> fields that a capture redacted (ED-015).
    """

    now: datetime
    rules: str
    source: RuleSetSource
    other: str
    time_from: str = ""
    edited: tuple[str, ...] = ()
    hidden: Mapping[str, Sequence[ManifestChange]] = MappingProxyType({})


def explain_page(objects: Iterable[ExplainedObject], top: ExplainHeader, *, only_guards: bool) -> StyledTextPage:
    """Return the page of some objects.

    Args:
        only_guards: whether to show only why nothing is terminated (CL-015).
    """
    page = StyledTextPage()
    page.add_line((time_and_rules_line(top.now, top.rules, top.source, top.time_from), "dim"))
    if top.other:
        page.add_line(("note: ", "bold"), top.other)
    add_edited_object_lines(page, top.edited)
    add_redacted_field_lines(page, top.hidden.items(), full=False)
    for index, one in enumerate(objects):
        if index:
            page.add_line()
        for why in reasons_for_question(PREDICTION, one.inquiry.plan.findings):
            page.add_line(("NOT PREDICTED: ", STYLES[EntryUrgency.UNKNOWN]), why.sentence, rule_citation(why))
        _object(page, one, only_guards=only_guards)
    return page


def _object(page: StyledTextPage, one: ExplainedObject, *, only_guards: bool) -> None:
    """Add what is said of one object."""
    inquiry, course = one.inquiry, one.course
    absent = ", which does not exist yet: the plan creates it" if course else ""
    if not one.is_in_input:
        absent = f": whether it exists is not known, because the input has not every {inquiry.kind}"
    page.add_line((f"{inquiry.kind} {inquiry.ref.namespace}/{inquiry.name}", "bold"), absent)
    if one.creation:
        page.add_line("  the operator creates it where it is missing:")
        add_reasons(page, one.creation)
    if course:
        add_planned_object_lines(page, course)
        if inquiry.kind == "Pod":
            page.add_line(("  the last letters of its name are random: the operator may choose others", "dim"))
        page.add_line(("  after the last round of the plan:", "bold"))
    before = len(page.lines)
    if only_guards:
        _guards(page, inquiry)
    else:
        _whole(page, inquiry, _WITHOUT_PODS if course else frozenset({PREDICTION}))
        add_placement_lines(page, one.placements, inquiry.name if inquiry.kind == "Pod" else "")
    if course and len(page.lines) == before:
        page.add_line("  nothing is left to do for it")


def _whole(page: StyledTextPage, inquiry: ObjectExplanation, left_out: AbstractSet[str]) -> None:
    """Add the findings, PodCliques and steps; ``left_out`` names the questions whose findings are not shown."""
    now, hints = inquiry.snapshot.now, hints_by_replica(pending_hints_of_object(inquiry))
    shows_all = inquiry.kind in {"PodClique", "Pod"}  # of larger objects only what is not as it should be
    for finding in inquiry.findings():
        if finding.question not in left_out and (shows_all or finding.health is not SubjectHealth.HEALTHY):
            where = finding_scope_text(inquiry, finding)
            page.add_line(f"  {finding.question}: ", (finding.verdict, "bold"), f"  {finding.subject.short}{where}")
            add_termination_averted_by_plan(page, inquiry, finding)
            _because(page, finding)
            if finding.question == TERMINATION and finding.subject in hints:
                is_due = finding.verdict == TERMINATES
                for line in termination_hint_lines(hints[finding.subject], now, is_due=is_due):
                    page.add_line(f"    {line}")
    _conditions(page, inquiry)
    for clique in inquiry.cliques[:_CLIQUES]:
        _clique(page, inquiry, clique)
    if len(inquiry.cliques) > _CLIQUES:
        page.add_line(f"  and {count_with_noun(len(inquiry.cliques) - _CLIQUES, 'more PodClique')}")
    _course(page, inquiry)
    add_later_steps(page, inquiry)
    wake = inquiry.plan.wake_at
    if wake is not None and not inquiry.is_averted_time(wake):
        page.add_line(f"  the set is reconciled again at {clock_time(wake, now)} ({relative_time(wake, now)})")


def _conditions(page: StyledTextPage, inquiry: ObjectExplanation) -> None:
    """Add the conditions of a gang or group, with the messages of its scheduler (CL-071, CL-085)."""
    for ref, one in inquiry.conditions():
        of = "" if (ref.kind, ref.name) == (inquiry.kind, inquiry.name) else f" of {object_display_name(ref)}"
        page.add_line(f"  condition {one.type}{of}: ", (one.status.value, "bold"), f"  {one.reason}: {one.message}")


def _course(page: StyledTextPage, inquiry: ObjectExplanation) -> None:
    """Add the steps of the first round, grouped by kind and reason, and the withheld ones (CL-015)."""
    add_step_lines(page, inquiry.planned_steps(), "now")
    held = [
        withheld for withheld in inquiry.withheld_steps() if not withholds_scheduling_gate_removal(withheld)
    ]  # gates are among the verdicts
    for withheld in held[:_MANY]:
        page.add_line("  ", ("withheld: ", STYLES[EntryUrgency.HELD]), object_display_name(withheld.target))
        for reason in withheld.because[:_MANY]:
            where = "" if reason.subject == withheld.target else f"{reason.subject.short}: "
            page.add_line(f"    {where}{reason.sentence}", rule_citation(reason))
    if len(held) > _MANY:
        page.add_line(f"  and {len(held) - _MANY:,} more withheld")


def _guards(page: StyledTextPage, inquiry: ObjectExplanation) -> None:
    if inquiry.kind in KINDS_WITHOUT_PODS:
        page.add_line("  gang termination deletes PodCliques with their pods; it does not delete this object")
        return
    guards = list(inquiry.findings_against_termination())
    if not guards:
        page.add_line("  none of its cliques has too few ready pods, and nothing above it is terminated")
    for finding in guards:
        if finding.verdict == TERMINATES:
            page.add_line(f"  {finding.subject.short}: ", ("it is terminated now", "bold red"))
        else:
            where = finding_scope_text(inquiry, finding)
            page.add_line(f"  {finding.subject.short}: ", (f"{finding.question} {finding.verdict}", "bold"), where)
            add_termination_averted_by_plan(page, inquiry, finding)
        _because(page, finding)


def _because(page: StyledTextPage, finding: Finding) -> None:
    for reason in finding.because:
        where = "" if reason.subject == finding.subject else f"{reason.subject.short}: "
        page.add_line(f"    {where}{reason.sentence}", rule_citation(reason))


def _clique(page: StyledTextPage, inquiry: ObjectExplanation, clique: PodClique) -> None:
    pods = inquiry.pods_of_clique(clique)
    leaving = [pod for pod in pods if pod.deleting]
    ready, wanted = ready_pod_count(pods), count_with_noun(len(pods) - len(leaving), "pod")
    needed = f"at least {clique.min_available} needed"
    more = f"; {count_with_noun(len(leaving), 'pod')} being deleted" if leaving else ""
    going = ", being deleted" if clique.deleting else ""
    page.add_line(f"  {clique.ref.name}: {ready} of {wanted} ready, {needed}{more}{going}")
    shown = [
        pod for pod in pods_in_explanation(inquiry, clique) if not pod.ready or pod.deleting or inquiry.kind == "Pod"
    ]
    for pod in shown[:_MANY]:
        going = ", terminating" if pod.deleting else ""
        state = _state(pod, whole=inquiry.kind == "Pod")
        page.add_line(f"    {pod.name}: {state}{going}" + (f", on {pod.node}" if pod.node else ""))
    if len(shown) > _MANY:
        page.add_line(f"    and {len(shown) - _MANY:,} more")
    for sentence in foreign_gate_sentences_of_clique(clique, shown):
        page.add_line(f"    {sentence}")


def _state(pod: Pod, *, whole: bool) -> str:
    """Return why a pod is not ready, in the words of its status where it has any.

    Args:
        whole: whether to return the whole message of the scheduler; else its first sentence.
    """
    if pod.ready:
        return "ready"
    if pod.gated and pod.foreign_gates:
        return f"held by the scheduling gate {', '.join(pod.foreign_gates)}, which Grove does not remove"
    if pod.trouble:
        message = pod.unplaced_because if whole else first_sentence_of_scheduler_message(pod.unplaced_because)
        return f"{pod.trouble}: {message}" if message else pod.trouble
    return "scheduled, not ready" if pod.scheduled else "gated" if pod.gated else "not scheduled"
