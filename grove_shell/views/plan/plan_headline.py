"""The head of a plan's page: counts of terminations and steps, the time and the rule set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from grove_core.areas.gang_termination.forecast_terminations import TerminationAssumption
from grove_core.document.plan_document import NEWEST_IN_INPUT, PlanDocument, RuleSetSource
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.decisions import reasons_for_question
from grove_core.kernel.questions import FAILED_WRITE, LEAVING_PODS, LOST_NODE, MISPLACEMENT
from grove_core.kernel.refs import is_placeholder_uid
from grove_core.kernel.steps import Step, removes_set_finalizer, total_deletion_impact
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import (
    STYLES,
    clock_time,
    count_with_noun,
    deletion_impact_text,
    unpredicted_sets_warning,
)
from grove_shell.views.plan.edits_summary import edits_summary
from grove_shell.views.plan.manifest_notes import unplanned_manifests_summary
from grove_shell.views.plan.plan_round_lines import (
    created_counts_by_kind,
    deletions_besides_terminations,
    later_round_terminations,
    rounds_without_repeats,
    termination_steps_in_round,
    update_steps_on_plan_page,
)


def add_plan_headline(
    page: StyledTextPage,
    document: PlanDocument,
    stories: Sequence[ForecastExplanation],
    nothing: str = "",
    *,
    is_incomplete: bool = False,
) -> None:
    """Add the counts of all terminations and steps, terminations first, and below them the time and the rule set.

    Args:
        nothing: why nothing was decided; empty where something was (CL-056).
        is_incomplete: whether objects are missing that others of the input show to be there (IN-083).
    """
    verdicts = plan_headline(document, stories, nothing, is_incomplete=is_incomplete)
    page.add_line(*((text if index == 0 else f"; {text}", style) for index, (text, style) in enumerate(verdicts)))
    line = time_and_rules_line(document.as_of, document.rules, document.rules_from, document.as_of_from)
    page.add_line((line, "dim"))


def plan_headline(
    document: PlanDocument,
    stories: Sequence[ForecastExplanation],
    nothing: str = "",
    *,
    is_incomplete: bool = False,
) -> Sequence[Span]:
    """Return the parts of the headline with their styles, terminations first; at least one.

    Args:
        nothing, is_incomplete: as for ``add_plan_headline``.
    """
    if nothing:
        return [(nothing, "bold red")]
    verdicts = [
        *([("objects are missing in the input", STYLES[EntryUrgency.UNKNOWN])] if is_incomplete else []),
        *unplanned_manifests_summary(document.not_planned),
        *_on_predictions(stories),
        *edits_summary(document.forecasts),
        *_on_terminations(document, stories),
        *_on_the_rest(document, stories),
    ]
    return verdicts or [("nothing to do", "bold green")]


def time_and_rules_line(now: datetime, rules: str, source: RuleSetSource | None, time_from: str = "") -> str:
    """Return the time with its source, the rule set, and the evidence for it in the cluster (CL-055, IN-081).

    Args:
        rules: name of the rule set.
        source: what chose the rule set; None where that is not known.
        time_from: ``input`` where the time is the newest one in the input; else empty.
    """
    shown = f": {source.because}" if source is not None and source.because else ""
    return f"as of {now.date().isoformat()} {clock_time(now, now)}{time_source_note(time_from)}, rules '{rules}'{shown}"


def time_source_note(time_from: str) -> str:
    """Return what to add to a time that is the newest one in the input (IN-081); empty for every other one."""
    return " (the newest time in the input; --now clock for the computer's)" if time_from == NEWEST_IN_INPUT else ""


def _on_predictions(stories: Sequence[ForecastExplanation]) -> list[Span]:
    """Return the number of sets whose steps are not those of the operator that runs there (GF-134)."""
    count = sum(bool(story.unpredicted) for story in stories)
    return [(unpredicted_sets_warning("shown", count), STYLES[EntryUrgency.UNKNOWN])] if count else []


def _on_terminations(document: PlanDocument, stories: Sequence[ForecastExplanation]) -> list[Span]:
    """Return the counts of terminations now and later, or that there are none.

    Sets that are not in the cluster yet do not count: they have nothing to terminate.
    """
    now = document.as_of
    entries = [entry for story in stories for entry in story.entries]
    found: list[Span] = []
    ends = sum(entry.urgency is EntryUrgency.TERMINATES for entry in entries)
    if ends:
        goes = deletion_impact_text(
            total_deletion_impact(
                step for forecast in document.forecasts for step in termination_steps_in_round(forecast.rounds[0])
            )
        )
        text = f"{count_with_noun(ends, 'replica')} to terminate now" + (f", with {goes}" if goes else "")
        found.append((text, STYLES[EntryUrgency.TERMINATES]))
    soon = [
        len(one.steps)
        for forecast in document.forecasts
        for one in later_round_terminations(forecast)
        if one.round.at == now
    ]
    if soon:
        found.append(
            (
                f"{count_with_noun(sum(soon), 'PodClique')} to terminate in a later round",
                STYLES[EntryUrgency.TERMINATES],
            )
        )
    untils = [entry.until for entry in entries if entry.urgency is EntryUrgency.WAITS and entry.until is not None]
    if untils:
        waiting = sum(entry.urgency is EntryUrgency.WAITS for entry in entries)
        found.append((_waiting_text(waiting, clock_time(min(untils), now)), STYLES[EntryUrgency.WAITS]))
    undecided = sum(entry.urgency is EntryUrgency.UNKNOWN for entry in entries)
    if undecided:
        found.append((f"{count_with_noun(undecided, 'PodCliqueSet')} undecided", STYLES[EntryUrgency.UNKNOWN]))
    sets = [forecast for forecast in document.forecasts if forecast.root.kind == "PodCliqueSet"]
    running = [forecast for forecast in sets if not is_placeholder_uid(forecast.root_uid)]
    if running and not found:
        found.append((f"nothing to terminate in {count_with_noun(len(running), 'PodCliqueSet')}", "bold green"))
    later = [one for forecast in document.forecasts for one in later_round_terminations(forecast)]
    if unplaced := sum(len(one.steps) for one in later if one.assumption is TerminationAssumption.NOT_PLACED):
        found.append(
            (f"{count_with_noun(unplaced, 'PodClique')} to terminate later if not placed", STYLES[EntryUrgency.WAITS])
        )
    return found


def _waiting_text(count: int, first: str) -> str:
    if count == 1:
        return f"1 replica will be terminated at {first} unless it recovers"
    return f"{count:,} replicas will be terminated unless they recover, the first at {first}"


def _on_the_rest(document: PlanDocument, stories: Sequence[ForecastExplanation]) -> list[Span]:
    counts = Counter(entry.urgency for story in stories for entry in story.entries)
    rounds = [
        (round_.at, step)
        for forecast in document.forecasts
        for round_ in rounds_without_repeats(forecast)
        for step in round_.steps
    ]
    now = [step for at, step in rounds if at == document.as_of]
    later = [step for at, step in rounds if at > document.as_of]
    found: list[Span] = []
    if lost := sum(len(story.notices_of(LOST_NODE)) for story in stories):
        found.append((f"pods of {count_with_noun(lost, 'PodClique')} on nodes that do not answer", "bold red"))
    if leaving := sum(len(story.notices_of(LEAVING_PODS)) for story in stories):
        found.append((f"{count_with_noun(leaving, 'PodClique')} breached once pods being deleted are gone", "bold red"))
    if failed := sum(len(story.notices_of(FAILED_WRITE)) for story in stories):
        found.append((f"writes failed before for {count_with_noun(failed, 'object')}", "bold red"))
    misplaced = {why.subject for story in stories for why in reasons_for_question(MISPLACEMENT, story.notices)}
    if misplaced:
        found.append(
            (f"pods of {count_with_noun(len(misplaced), 'gang')} outside their required topology domain", "bold red")
        )
    found += [(text, "bold") for text in _done(now)]
    found += [(f"{text} later", "") for text in _done(later)]
    if counts[EntryUrgency.HELD]:
        found.append((f"{counts[EntryUrgency.HELD]:,} withheld", STYLES[EntryUrgency.HELD]))
    if counts[EntryUrgency.GATED]:
        found.append((f"{count_with_noun(counts[EntryUrgency.GATED], 'PodClique')} gated", STYLES[EntryUrgency.GATED]))
    return found


def _done(steps: Sequence[Step]) -> Iterator[str]:
    for word, count in (
        ("create", created_counts_by_kind(steps).total()),
        ("update", len(update_steps_on_plan_page(steps))),
        ("delete", len(deletions_besides_terminations(steps)) + sum(map(removes_set_finalizer, steps))),
    ):
        if count:
            yield f"{count_with_noun(count, 'object')} to {word}"
