"""The page of ``grove plan``: the headline, then each set with its terminations, their causes, and its rounds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias, TypeVar, assert_never

from grove_core.document.plan_document import PlanDocument, step_action_name
from grove_core.explain import (
    ExplainedCause,
    ExplainedReplica,
    ForecastExplanation,
    ReplicaUrgency,
    explanation_of_forecast,
)
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Delete, Step, is_set_release
from grove_core.plan.forecast import Forecast
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.edit_lines import add_edit
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    STYLES,
    add_entry_with_reasons,
    clock_time,
    comma_separated_names,
    count_with_noun,
    deletion_impact_text,
    object_display_name,
    padded_entry_label,
    relative_time,
    rule_citation,
    waiting_text,
)
from grove_shell.views.other_product_lines import gate_removal_sentence
from grove_shell.views.plan_headline import add_plan_headline
from grove_shell.views.plan_notes import PlanPageContext, add_plan_notes
from grove_shell.views.plan_round_lines import (
    add_gated_cliques,
    add_later_round_terminations,
    add_plan_rounds,
    created_counts_by_kind,
    updates_shown_on_plan_page,
)
from grove_shell.views.policy_lines import add_policy_results
from grove_shell.views.termination_hint_lines import FEW_HINTS, termination_hint_lines

_ENTRIES: Final = 20
_ACTIONS: Final[Mapping[str, str]] = {
    "create": "creation",
    "ensure": "ensured object",
    "apply": "change",
    "delete": "deletion",
    "dropFinalizer": "finalizer removal",
    "setStatus": "status update",
}
ForecastAndStory: TypeAlias = tuple[Forecast, ForecastExplanation]
T = TypeVar("T")


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
        add_set(page, forecast, story, now, context)
    if calm:
        page.add_line()
        add_calm_sets(page, calm)
    return page


def is_calm(forecast: Forecast, story: ForecastExplanation, context: PlanPageContext) -> bool:
    """Whether the page shows only the name of a set, as nothing comes to it."""
    return not (context.verbose or context.decisions) and story.needs_no_attention and not _is_eventful(forecast)


def add_set(
    page: StyledTextPage, forecast: Forecast, story: ForecastExplanation, now: datetime, context: PlanPageContext
) -> None:
    """Add everything about one set."""
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
    add_set_warnings(page, forecast, story, full=full)
    for urgency in ReplicaUrgency:
        alike = story.entries_of_urgency(urgency)
        if urgency is ReplicaUrgency.GATED:
            add_gated_cliques(
                page, ((one.subject, tuple((why.subject, why.sentences[0]) for why in one.causes)) for one in alike)
            )
            continue
        shown, rest = _cut(alike, None if full else _ENTRIES)
        for entry in shown:
            add_plan_entry(page, entry, now, full=full)
        if rest:
            page.add_line(
                (padded_entry_label(urgency.value), STYLES[urgency]), f"and {_rest(rest, now)} (-v lists all)"
            )
    add_later_round_terminations(page, forecast, now)
    add_plan_rounds(page, forecast, full=full)
    writes = _counted(forecast.rounds[0].steps)
    if writes:
        others = len(forecast.rounds) - 1
        more = f"; the rest follows in {count_with_noun(others, 'reconcile round')}" if others else ""
        page.add_line(INDENT, (f"now: {writes}{more}", "dim"))
    if not forecast.complete:
        page.add_line(INDENT, ("more rounds would follow: their number is limited", "dim"))


def add_set_warnings(page: StyledTextPage, forecast: Forecast, story: ForecastExplanation, *, full: bool) -> None:
    """Add what stands before the entries of a set: what is not predicted, findings about its parts, and its edit."""
    for sentence in story.unpredicted:
        page.add_line((padded_entry_label(ReplicaUrgency.UNKNOWN.value), STYLES[ReplicaUrgency.UNKNOWN]), sentence)
    for why in story.misplaced:
        page.add_line(
            (padded_entry_label("MISPLACED"), "bold red"),
            (object_display_name(why.subject), "bold"),
            f": {why.sentence}",
        )
    _warnings(page, "FAILED", story.failed_writes)
    _warnings(page, "LOST NODE", story.lost)
    _warnings(page, "LEAVING", story.leaving)
    _warnings(page, "RISK", story.late_starts)
    _warnings(page, "EVICTION", story.stale_gangs)
    _warnings(page, "DEFECT", story.defects)
    _warnings(page, "SCALED", story.scaled)
    _foreign_gates(page, story)
    if forecast.edit is not None:
        add_edit(page, forecast.edit, forecast.rounds[0].withheld, full=full)


def _warnings(page: StyledTextPage, word: str, findings: Iterable[Finding]) -> None:
    """Add findings about pods on lost nodes (GF-015), or about late starts (GF-124)."""
    for finding in findings:
        add_entry_with_reasons(page, (word, "bold red"), finding.subject, finding.because)


def _foreign_gates(page: StyledTextPage, story: ForecastExplanation) -> None:
    """Add the PodCliques that gates of other products hold, and which product removes each gate (CL-082)."""
    _warnings(page, "GATED", story.foreign_gates)
    for gate in sorted({str(dict(why.facts)["gate"]) for one in story.foreign_gates for why in one.because}):
        page.add_line(INDENT, "  ", gate_removal_sentence(gate, story.root.namespace))


def _rest(entries: Sequence[ExplainedReplica], now: datetime) -> str:
    """Return the number of entries that are not listed, what they delete, and how long the last of them waits."""
    text = count_with_noun(len(entries), "more write" if entries[0].urgency is ReplicaUrgency.HELD else "more replica")
    untils = [entry.until for entry in entries if entry.until is not None]
    deleted = sum(len(entry.deletes) for entry in entries)
    if entries[0].urgency is ReplicaUrgency.WAITS and untils:
        text += f", the last until {clock_time(max(untils), now)} ({relative_time(max(untils), now)})"
    return f"{text}, with {count_with_noun(deleted, 'PodClique')}" if deleted else text


def _cut(items: Sequence[T], most: int | None) -> tuple[Sequence[T], Sequence[T]]:
    return (items, ()) if most is None else (items[:most], items[most:])


def add_plan_entry(page: StyledTextPage, entry: ExplainedReplica, now: datetime, *, full: bool) -> None:
    """Add one entry: what becomes of a replica and when, and its reasons; ``full`` for all of them."""
    most = None if full else MAX_NAMES
    label = (padded_entry_label(entry.urgency.value), STYLES[entry.urgency])
    head = object_display_name(entry.subject)
    when = ""
    match entry.urgency:
        case ReplicaUrgency.KEEPS:
            _keep(page, entry, now, most)
            return
        case ReplicaUrgency.HELD:
            first, *more = (sentence for cause in entry.causes for sentence in cause.sentences)
            page.add_line(label, (head, "bold"), ": ", first)
            for sentence in more[:most]:
                page.add_line(INDENT, "  ", sentence)
            return
        case ReplicaUrgency.ENDS:
            goes = filter(None, (count_with_noun(len(entry.deletes), "PodClique"), deletion_impact_text(entry.impact)))
            when = f" now, with {', '.join(goes)}" if entry.deletes else " now: its PodCliques are being deleted"
        case ReplicaUrgency.WAITS:
            if (until := entry.until) is not None:
                when = f" {waiting_text(until, entry.averted, now)}"
        case ReplicaUrgency.UNKNOWN | ReplicaUrgency.GATED:
            pass
        case _:
            assert_never(entry.urgency)
    page.add_line(label, (head, "bold"), when)
    _details(page, entry, now, full=full)


def _details(page: StyledTextPage, entry: ExplainedReplica, now: datetime, *, full: bool) -> None:
    """Add the causes of an entry, what averts it (CL-070), and what is deleted with it."""
    most = None if full else MAX_NAMES
    for cause in entry.causes:
        _cause(page, cause, most)
    if entry.hints is not None:
        is_due = entry.urgency is ReplicaUrgency.ENDS
        for line in termination_hint_lines(entry.hints, now, is_due=is_due, most=None if full else FEW_HINTS):
            page.add_line(INDENT, line)
    if entry.deletes:
        page.add_line(INDENT, "deletes: ", comma_separated_names([ref.name for ref in entry.deletes], most))


def _keep(page: StyledTextPage, entry: ExplainedReplica, now: datetime, most: int | None) -> None:
    why = "; ".join(cause.sentences[0] for cause in entry.causes)
    if entry.averted is not None:
        when = f"{clock_time(entry.averted, now)} ({relative_time(entry.averted, now)})"
        why = f"it would be terminated at {when}; the steps below prevent that: {why}"
    page.add_line(
        (padded_entry_label(entry.urgency.value), STYLES[entry.urgency]), object_display_name(entry.subject), ": ", why
    )
    shown, rest = _cut(entry.degraded, most)
    for cause in shown:
        page.add_line(INDENT, f"{cause.subject.kind} {cause.subject.name}: {'; '.join(cause.sentences)}")
    if rest:
        page.add_line(INDENT, f"and {count_with_noun(len(rest), 'more such PodClique')}")


def _cause(page: StyledTextPage, cause: ExplainedCause, most: int | None) -> None:
    first, *more = cause.sentences
    page.add_line(INDENT, f"{cause.subject.kind} {cause.subject.name}: {first}")
    shown, rest = _cut(cause.below, most)
    for below in shown:
        page.add_line(INDENT, f"  {below.subject.name}: {below.sentences[0]}")
    if rest:
        page.add_line(INDENT, f"  and {count_with_noun(len(rest), 'more such PodClique')}")
    for sentence in more:
        page.add_line(INDENT, "  ", sentence)


def add_calm_sets(page: StyledTextPage, calm: Sequence[ForecastAndStory]) -> None:
    """Add the names of calm sets on one line."""
    names = [f"{story.root.namespace}/{story.root.name}" for _, story in calm]
    writes = _counted(step for forecast, _ in calm for step in forecast.rounds[0].steps)
    page.add_line(
        ("no termination pending: ", "green"),
        comma_separated_names(names, MAX_NAMES),
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
        updates_shown_on_plan_page(round_.steps)
        or created_counts_by_kind(round_.steps)
        or any(isinstance(step.action, Delete) or is_set_release(step) for step in round_.steps)
        for round_ in forecast.rounds
    )


def _counted(steps: Iterable[Step]) -> str:
    counts = Counter(step_action_name(step.action) for step in steps)
    return ", ".join(count_with_noun(counts[name], word) for name, word in _ACTIONS.items() if counts[name])
