"""The first two lines of a plan's page: the counts of terminations and steps, then the time and the rule set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from grove_core.areas.gang_termination.termination_findings import TerminationAssumption
from grove_core.document.plan_document import PlanDocument, RulesSource
from grove_core.explain import Explanation, Urgency
from grove_core.kernel.refs import is_placeholder_uid
from grove_core.kernel.steps import Step, total_impact
from grove_shell.page import Page, Span
from grove_shell.views.formatting import STYLES, clock_time, deletion_impact_text, plural, unpredicted_sets_warning
from grove_shell.views.plan_round_lines import (
    created_counts_by_kind,
    deletions_besides_terminations,
    displayed_object_updates,
    later_round_terminations,
    rounds_before_repeats,
    termination_steps_in_round,
)


def add_plan_headline(page: Page, document: PlanDocument, stories: Sequence[Explanation], nothing: str = "") -> None:
    """Add the counts of all terminations and steps, terminations first, and below them the time and the rule set.

    Args:
        nothing: why nothing was decided; empty where something was (CL-056).
    """
    now = document.as_of
    verdicts = [*_on_predictions(stories), *_on_terminations(document, stories), *_on_the_rest(document, stories)]
    if not verdicts:
        verdicts = [("nothing to do", "bold green")]
    if nothing:
        verdicts = [(nothing, "bold red")]
    page.add(*((text if index == 0 else f"; {text}", style) for index, (text, style) in enumerate(verdicts)))
    page.add((time_and_rules_line(now, document.rules, document.rules_from), "dim"))


def time_and_rules_line(now: datetime, rules: str, source: RulesSource | None) -> str:
    """Return the time, the rule set, and the evidence for it in the cluster (CL-055)."""
    shown = f": {source.because}" if source is not None and source.because else ""
    return f"as of {now.date().isoformat()} {clock_time(now, now)}, rules '{rules}'{shown}"


def _on_predictions(stories: Sequence[Explanation]) -> list[Span]:
    """Return the number of sets whose steps are not those of the operator that runs there (GF-130 to GF-134)."""
    count = sum(bool(story.unpredicted) for story in stories)
    return [(unpredicted_sets_warning("shown", count), STYLES[Urgency.UNKNOWN])] if count else []


def _on_terminations(document: PlanDocument, stories: Sequence[Explanation]) -> list[Span]:
    """Return the counts of terminations now and later, or that there are none.

    Sets that are not in the cluster yet do not count: they have nothing to terminate.
    """
    now = document.as_of
    entries = [entry for story in stories for entry in story.entries]
    found: list[Span] = []
    ends = sum(entry.tone is Urgency.ENDS for entry in entries)
    if ends:
        goes = deletion_impact_text(
            total_impact(
                step for forecast in document.forecasts for step in termination_steps_in_round(forecast.rounds[0])
            )
        )
        text = f"{plural(ends, 'replica')} to terminate now" + (f", with {goes}" if goes else "")
        found.append((text, STYLES[Urgency.ENDS]))
    soon = [
        len(one.steps)
        for forecast in document.forecasts
        for one in later_round_terminations(forecast)
        if one.round.at == now
    ]
    if soon:
        found.append((f"{plural(sum(soon), 'PodClique')} to terminate in a later round", STYLES[Urgency.ENDS]))
    untils = [entry.until for entry in entries if entry.tone is Urgency.WAITS and entry.until is not None]
    if untils:
        waiting = sum(entry.tone is Urgency.WAITS for entry in entries)
        found.append((_waiting_text(waiting, clock_time(min(untils), now)), STYLES[Urgency.WAITS]))
    undecided = sum(entry.tone is Urgency.UNKNOWN for entry in entries)
    if undecided:
        found.append((f"{plural(undecided, 'PodCliqueSet')} undecided", STYLES[Urgency.UNKNOWN]))
    sets = [forecast for forecast in document.forecasts if forecast.root.kind == "PodCliqueSet"]
    running = [forecast for forecast in sets if not is_placeholder_uid(forecast.root_uid)]
    if running and not found:
        found.append((f"nothing to terminate in {plural(len(running), 'PodCliqueSet')}", "bold green"))
    later = [one for forecast in document.forecasts for one in later_round_terminations(forecast)]
    if unplaced := sum(len(one.steps) for one in later if one.assumption is TerminationAssumption.NOT_PLACED):
        found.append((f"{plural(unplaced, 'PodClique')} to terminate later if not placed", STYLES[Urgency.WAITS]))
    return found


def _waiting_text(count: int, first: str) -> str:
    if count == 1:
        return f"1 replica will be terminated at {first} unless it recovers"
    return f"{count:,} replicas will be terminated unless they recover, the first at {first}"


def _on_the_rest(document: PlanDocument, stories: Sequence[Explanation]) -> list[Span]:
    counts = Counter(entry.tone for story in stories for entry in story.entries)
    rounds = [round_ for forecast in document.forecasts for round_ in rounds_before_repeats(forecast)]
    now = [step for round_ in rounds if round_.at == document.as_of for step in round_.steps]
    later = [step for round_ in rounds if round_.at > document.as_of for step in round_.steps]
    found: list[Span] = []
    if misplaced := len({why.subject for story in stories for why in story.misplaced}):
        found.append((f"pods of {plural(misplaced, 'gang')} outside their required topology domain", "bold red"))
    found += [(text, "bold") for text in _done(now)]
    found += [(f"{text} later", "") for text in _done(later)]
    if counts[Urgency.HELD]:
        found.append((f"{counts[Urgency.HELD]:,} withheld", STYLES[Urgency.HELD]))
    if counts[Urgency.GATED]:
        found.append((f"{plural(counts[Urgency.GATED], 'PodClique')} gated", STYLES[Urgency.GATED]))
    return found


def _done(steps: Sequence[Step]) -> Iterator[str]:
    for word, count in (
        ("create", created_counts_by_kind(steps).total()),
        ("update", len(displayed_object_updates(steps))),
        ("delete", len(deletions_besides_terminations(steps))),
    ):
        if count:
            yield f"{plural(count, 'object')} to {word}"
