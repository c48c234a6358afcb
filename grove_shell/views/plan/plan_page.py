"""The page of ``grove plan``: the headline, then each set with its terminations, their causes, and its rounds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from grove_core.document.plan_document import PlanDocument, step_action_name
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.decisions import reasons_for_question
from grove_core.kernel.questions import (
    DEFECT,
    FAILED_WRITE,
    FOREIGN_GATE,
    LATE_START,
    LEAVING_PODS,
    LOST_NODE,
    MISPLACEMENT,
    SCALED,
    STALE_GANG,
)
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Delete, Step, removes_set_finalizer
from grove_core.plan.forecast import Forecast
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    STYLES,
    add_page_entry_with_reasons,
    clock_time,
    count_with_noun,
    join_names_with_commas,
    object_display_name,
    padded_entry_label,
    rule_citation,
)
from grove_shell.views.plan.edit_lines import add_edit_lines
from grove_shell.views.plan.foreign_gate_lines import foreign_gate_sentence
from grove_shell.views.plan.plan_entry_lines import (
    add_replica_outcome_lines,
    split_shown_and_hidden,
    unlisted_entries_text,
)
from grove_shell.views.plan.plan_headline import add_plan_headline
from grove_shell.views.plan.plan_notes import PlanPageContext, add_plan_notes
from grove_shell.views.plan.plan_round_lines import (
    add_gated_cliques,
    add_later_termination_lines,
    add_plan_rounds,
    created_counts_by_kind,
    update_steps_on_plan_page,
)
from grove_shell.views.plan.policy_lines import add_policy_results

_ENTRIES: Final = 20
_ACTIONS: Final[Mapping[str, str]] = {
    "create": "creation",
    "ensure": "ensured object",
    "apply": "change",
    "delete": "deletion",
    "dropFinalizer": "finalizer removal",
    "setStatus": "status update",
}
_NOTICE_WORDS: Final[Mapping[str, str]] = {
    FAILED_WRITE: "FAILED",
    LOST_NODE: "LOST NODE",
    LEAVING_PODS: "LEAVING",
    LATE_START: "RISK",
    STALE_GANG: "EVICTION",
    DEFECT: "DEFECT",
    SCALED: "SCALED",
    FOREIGN_GATE: "GATED",
}
"""Question of a notice -> the word before it. Those of predictions and of places have entries of their own."""
ForecastAndStory: TypeAlias = tuple[Forecast, ForecastExplanation]


def plan_page(document: PlanDocument, context: PlanPageContext) -> StyledTextPage:
    """Return the page of a plan."""
    page, now = StyledTextPage(), document.as_of
    entries = [(forecast, explanation_of_forecast(forecast)) for forecast in document.forecasts]
    by_urgency = sorted(entries, key=lambda entry: entry[1].urgency_rank)
    add_policy_results(page, context.policies, full=context.verbose)
    is_incomplete = context.loaded.lacks_objects
    add_plan_headline(
        page, document, [story for _, story in entries], context.nothing_judged, is_incomplete=is_incomplete
    )
    add_plan_notes(page, document, [story for _, story in entries], context)
    calm = []
    for forecast, story in by_urgency:
        if is_calm(forecast, story, context):
            calm.append((forecast, story))
            continue
        page.add_line()
        add_set_lines(page, forecast, story, now, context)
    if calm:
        page.add_line()
        add_calm_sets(page, calm)
    return page


def is_calm(forecast: Forecast, story: ForecastExplanation, context: PlanPageContext) -> bool:
    """Whether the page shows only the name of a set, as nothing comes to it."""
    return not (context.verbose or context.decisions) and story.needs_no_attention and not _is_eventful(forecast)


def add_set_lines(
    page: StyledTextPage, forecast: Forecast, story: ForecastExplanation, now: datetime, context: PlanPageContext
) -> None:
    """Add everything about one set.

    Args:
        story: the explanation of the forecast.
        now: the time of the plan.
        context: what the page shows besides the plan, and how much of it.
    """
    _root(page, forecast, story, now, full=context.verbose)
    if context.decisions:
        _decisions(page, forecast)
    if context.verbose:
        _rounds(page, forecast, now)


def _root(page: StyledTextPage, forecast: Forecast, story: ForecastExplanation, now: datetime, *, full: bool) -> None:
    """Add the entries of one set; ``full`` for all of them, else at most twenty of a kind (CL-010)."""
    counts = (
        f"  {story.available:,} of {count_with_noun(story.replicas, 'replica')} available" if story.replicas else ""
    )
    place = f"{story.root.namespace}/{story.root.name}" if story.root.namespace else story.root.short
    page.add_line((place, "bold"), counts)
    add_set_notices(page, forecast, story, full=full)
    for urgency in EntryUrgency:
        alike = story.entries_of_urgency(urgency)
        if urgency is EntryUrgency.GATED:
            add_gated_cliques(
                page, ((one.subject, tuple((why.subject, why.sentences[0]) for why in one.causes)) for one in alike)
            )
            continue
        shown, rest = split_shown_and_hidden(alike, None if full else _ENTRIES)
        for entry in shown:
            add_replica_outcome_lines(page, entry, now, full=full)
        if rest:
            page.add_line(
                (padded_entry_label(urgency.value), STYLES[urgency]),
                f"and {unlisted_entries_text(rest, now)} (-v lists all)",
            )
    add_later_termination_lines(page, forecast, now)
    add_plan_rounds(page, forecast, full=full)
    writes = _counted(forecast.rounds[0].steps)
    if writes:
        others = len(forecast.rounds) - 1
        more = f"; the rest follows in {count_with_noun(others, 'reconcile round')}" if others else ""
        page.add_line(INDENT, (f"now: {writes}{more}", "dim"))
    if not forecast.complete:
        page.add_line(INDENT, ("more rounds would follow: their number is limited", "dim"))


def add_set_notices(page: StyledTextPage, forecast: Forecast, story: ForecastExplanation, *, full: bool) -> None:
    """Add what stands before the entries of a set: what is not predicted, findings about its parts, and its edit.

    Args:
        story: the explanation of the forecast.
        full: whether to show all of the edit.
    """
    for sentence in story.unpredicted:
        page.add_line((padded_entry_label(EntryUrgency.UNKNOWN.value), STYLES[EntryUrgency.UNKNOWN]), sentence)
    for why in reasons_for_question(MISPLACEMENT, story.notices):
        page.add_line(
            (padded_entry_label("MISPLACED"), "bold red"),
            (object_display_name(why.subject), "bold"),
            f": {why.sentence}",
        )
    for question, word in _NOTICE_WORDS.items():
        for finding in story.notices_of(question):
            add_page_entry_with_reasons(page, (word, "bold red"), finding.subject, finding.because)
    for gate in sorted({str(dict(why.facts)["gate"]) for why in reasons_for_question(FOREIGN_GATE, story.notices)}):
        page.add_line(INDENT, "  ", foreign_gate_sentence(gate, story.root.namespace))  # CL-082
    if forecast.edit is not None:
        add_edit_lines(page, forecast.edit, forecast.rounds[0].withheld, full=full)


def add_calm_sets(page: StyledTextPage, calm: Sequence[ForecastAndStory]) -> None:
    """Add the names of calm sets on one line."""
    names = [f"{story.root.namespace}/{story.root.name}" for _, story in calm]
    writes = _counted(step for forecast, _ in calm for step in forecast.rounds[0].steps)
    page.add_line(
        ("no termination pending: ", "green"),
        join_names_with_commas(names, MAX_NAMES),
        (f"  ({writes})" if writes else "", "dim"),
    )


def _rounds(page: StyledTextPage, forecast: Forecast, now: datetime) -> None:
    for round_ in forecast.rounds:
        page.add_line((f"  round {round_.number} at {clock_time(round_.at, now)}", "bold"))
        for step in round_.steps:
            page.add_line(f"    {step_action_name(step.action):<13} {step.target.kind} {step.target.name}")
            _reasons(page, "                  ", step.because)
        if not round_.steps:
            page.add_line("    nothing to write")


def _decisions(page: StyledTextPage, forecast: Forecast) -> None:
    page.add_line(("  decisions", "bold"))
    for finding in forecast.findings:
        page.add_line(f"    {finding.subject.short}  {finding.question}: ", (finding.verdict, "bold"))
        _reasons(page, "      ", finding.because)


def _reasons(page: StyledTextPage, indent: str, reasons: Iterable[Reason]) -> None:
    for reason in reasons:
        page.add_line(indent, reason.sentence, rule_citation(reason))


def _is_eventful(forecast: Forecast) -> bool:
    """Whether the set is edited or goes, or a round creates, updates or deletes an object, besides status updates."""
    is_edited = forecast.edit is not None and bool(forecast.edit.changes)
    return is_edited or any(
        update_steps_on_plan_page(round_.steps)
        or created_counts_by_kind(round_.steps)
        or any(isinstance(step.action, Delete) or removes_set_finalizer(step) for step in round_.steps)
        for round_ in forecast.rounds
    )


def _counted(steps: Iterable[Step]) -> str:
    counts = Counter(step_action_name(step.action) for step in steps)
    return ", ".join(count_with_noun(counts[name], word) for name, word in _ACTIONS.items() if counts[name])
