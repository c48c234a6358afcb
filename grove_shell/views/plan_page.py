"""``grove plan`` for people: verdict first, then the cause with numbers and times, then what comes next."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grove_core.document import Document, action_name
from grove_core.explain import Cause, Entry, Story, Tone, story_of
from grove_core.kernel.steps import Delete, Step
from grove_core.plan.forecast import Forecast, Round
from grove_shell.views.page import Page
from grove_shell.views.words import clock, distance, listed, named, plural

_STYLES: Final[Mapping[Tone, str]] = {
    Tone.ENDS: "bold red",
    Tone.WAITS: "bold yellow",
    Tone.HELD: "bold magenta",
    Tone.UNKNOWN: "bold magenta",
    Tone.KEEPS: "green",
}
_WIDTH: Final = max(len(tone.value) for tone in Tone)
_NAMES: Final = 8
_ACTIONS: Final[Mapping[str, str]] = {
    "delete": "deletion",
    "dropFinalizer": "finalizer release",
    "setStatus": "status update",
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the page says besides the plans.

    Attributes:
        ignored: kind -> how many objects no decision reads.
        verbose: list every write of every round.
        decisions: list every verdict.
    """

    ignored: Mapping[str, int]
    verbose: bool = False
    decisions: bool = False


def plan_page(document: Document, surroundings: Surroundings) -> Page:
    """The whole page."""
    page, now = Page(), document.as_of
    stories = [(forecast, story_of(forecast)) for forecast in document.forecasts]
    _headline(page, document, [story for _, story in stories], surroundings)
    quiet: list[str] = []
    for forecast, story in stories:
        if _is_quiet(forecast, story) and not (surroundings.verbose or surroundings.decisions):
            quiet.append(f"{story.root.namespace}/{story.root.name}")
            continue
        page.add()
        _root(page, forecast, story, now)
        if surroundings.decisions:
            _decisions(page, forecast)
        if surroundings.verbose:
            _writes(page, forecast, now)
    if quiet:
        page.add()
        page.add(("nothing to do", "green"), f"  {listed(quiet, _NAMES)}")
    return page


def _headline(page: Page, document: Document, stories: Sequence[Story], surroundings: Surroundings) -> None:
    now = document.as_of
    counts = Counter(entry.tone for story in stories for entry in story.entries)
    verdicts = []
    if counts[Tone.ENDS]:
        verdicts.append((f"{plural(counts[Tone.ENDS], 'replica')} to terminate now", _STYLES[Tone.ENDS]))
    if counts[Tone.WAITS]:
        first = min(forecast_wake(forecast, now) for forecast in document.forecasts if forecast.wake_at or _waits(forecast))
        verdicts.append((f"{counts[Tone.WAITS]:,} waiting, the first until {clock(first, now)}", _STYLES[Tone.WAITS]))
    if counts[Tone.HELD]:
        verdicts.append((f"{counts[Tone.HELD]:,} held back", _STYLES[Tone.HELD]))
    if counts[Tone.UNKNOWN]:
        verdicts.append((f"{plural(counts[Tone.UNKNOWN], 'PodCliqueSet')} unknown", _STYLES[Tone.UNKNOWN]))
    if not stories:
        verdicts.append(("no PodCliqueSet in the input, so there is nothing to decide", "bold"))
    elif not verdicts:
        verdicts.append((f"nothing to terminate in {plural(len(stories), 'PodCliqueSet')}", "bold green"))
    for index, (text, style) in enumerate(verdicts):
        verdicts[index] = (text if index == 0 else f"; {text}", style)
    page.add(*verdicts)
    page.add((f"as of {clock(now, now)} on {now.date().isoformat()}, by the rules of '{document.rules}'", "dim"))
    if document.not_collected:
        page.add(("not collected: ", "bold magenta"), f"{', '.join(document.not_collected)}")
        page.add("  ", ("kubectl get pcs,pcsg,pclq,pods,podgangs -o json", "italic"), " collects all that is needed")
    unrecorded = sum(story.unrecorded for story in stories)
    if unrecorded:
        page.add(
            ("note: ", "bold"),
            f"{plural(unrecorded, 'PodClique')} below minAvailable without a record of ever having been available",
        )
        page.add("  the operator that ran them does not write wasAvailable; these rules end nothing without that record,")
        page.add("  the operator in the field may (its rules are not these)")
    if surroundings.ignored and not stories:
        page.add((f"read past: {', '.join(f'{count:,} {kind}' for kind, count in surroundings.ignored.items())}", "dim"))


def _root(page: Page, forecast: Forecast, story: Story, now: datetime) -> None:
    page.add((f"{story.root.namespace}/{story.root.name}", "bold"))
    for entry in story.entries:
        _entry(page, entry, now)
    for round_ in forecast.rounds:
        if round_.at > now:
            _later(page, round_, now)
    _next(page, forecast, now)


def _entry(page: Page, entry: Entry, now: datetime) -> None:
    tone = (f"  {entry.tone.value:<{_WIDTH}}  ", _STYLES[entry.tone])
    head = named(entry.subject)
    if entry.tone is Tone.KEEPS:
        page.add(tone, head, ": ", "; ".join(cause.sentences[0] for cause in entry.causes))
        return
    if entry.tone is Tone.ENDS:
        page.add(tone, (head, "bold"), f" now, with {plural(len(entry.deletes), 'PodClique')}")
    elif entry.tone is Tone.WAITS:
        until = min(cause.until for cause in entry.causes if cause.until is not None)
        page.add(tone, (head, "bold"), f" until {clock(until, now)} ({distance(until, now)}), then it is terminated")
    else:
        page.add(tone, (head, "bold"))
    for cause in entry.causes:
        _cause(page, cause)
    if entry.deletes:
        page.add(_indent(), "ends: ", listed([ref.name for ref in entry.deletes], _NAMES))


def _cause(page: Page, cause: Cause) -> None:
    first, *rest = cause.sentences
    page.add(_indent(), f"{cause.subject.kind} {cause.subject.name}: {first}")
    for below in cause.below:
        page.add(_indent(), f"  {below.subject.name}: {below.sentences[0]}")
    for sentence in rest:
        page.add(_indent(), "  ", sentence)


def _later(page: Page, round_: Round, now: datetime) -> None:
    deleted = [step.target.name for step in round_.steps if isinstance(step.action, Delete)]
    if deleted:
        when = f"  {'THEN':<{_WIDTH}}  "
        page.add(
            (when, "yellow"),
            f"{clock(round_.at, now)} ({distance(round_.at, now)}): ends {listed(deleted, _NAMES)}",
        )


def _next(page: Page, forecast: Forecast, now: datetime) -> None:
    first, *others = forecast.rounds
    writes = _counted(first.steps)
    if writes:
        more = f", then {plural(len(others), 'more round')}" if others else ""
        page.add(_indent(), ("writes now: ", "dim"), (f"{writes}{more}", "dim"))
    if not forecast.complete:
        page.add(_indent(), ("not at rest yet: the number of rounds was limited", "dim"))


def _writes(page: Page, forecast: Forecast, now: datetime) -> None:
    for round_ in forecast.rounds:
        page.add((f"  round {round_.number} at {clock(round_.at, now)}", "bold"))
        for step in round_.steps:
            page.add(f"    {action_name(step.action):<13} {step.target.kind} {step.target.name}")
            for reason in step.because:
                page.add(("                  ", ""), reason.sentence, (f"  {reason.rule.code} {reason.rule.requirement}", "dim"))
        if not round_.steps:
            page.add("    nothing to write")


def _decisions(page: Page, forecast: Forecast) -> None:
    page.add(("  decisions", "bold"))
    for finding in forecast.findings:
        page.add(f"    {finding.subject.short}  {finding.question}: ", (finding.verdict, "bold"))
        for reason in finding.because:
            page.add("      ", reason.sentence, (f"  {reason.rule.code} {reason.rule.requirement}", "dim"))


def forecast_wake(forecast: Forecast, now: datetime) -> datetime:
    """The first moment after now at which a delay of the first round ends."""
    untils = [cause.until for entry in story_of(forecast).having(Tone.WAITS) for cause in entry.causes if cause.until]
    return min(untils, default=forecast.wake_at or now)


def _waits(forecast: Forecast) -> bool:
    return bool(story_of(forecast).having(Tone.WAITS))


def _is_quiet(forecast: Forecast, story: Story) -> bool:
    """Nothing to do and nothing to fear: such sets share one line."""
    return all(entry.tone is Tone.KEEPS for entry in story.entries) and len(forecast.rounds) == 1 and not (
        forecast.rounds[0].steps
    )


def _counted(steps: Iterable[Step]) -> str:
    counts = Counter(action_name(step.action) for step in steps)
    return ", ".join(plural(counts[name], word) for name, word in _ACTIONS.items() if counts[name])


def _indent() -> str:
    return " " * (_WIDTH + 4)
