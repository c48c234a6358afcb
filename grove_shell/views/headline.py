"""The first line of a plan's page: what ends, what waits, what is made, changed and taken away, what is held back."""

from collections import Counter
from collections.abc import Sequence

from grove_core.document.document import Document
from grove_core.explain import Story, Tone
from grove_core.kernel.refs import is_invented
from grove_core.kernel.steps import toll_of
from grove_shell.page import Page, Span
from grove_shell.views.course import changed_by, created_by, removed_by
from grove_shell.views.later import later_terminations, terminations_in, told_rounds
from grove_shell.views.layout import STYLES
from grove_shell.views.words import clock, plural, taken


def add_headline(page: Page, document: Document, stories: Sequence[Story]) -> None:
    """The verdict on everything, terminations first, and under it the moment and the rules."""
    now = document.as_of
    verdicts = [*_on_terminations(document, stories), *_on_the_rest(document, stories)]
    if not verdicts:
        verdicts = [("nothing to do", "bold green")]
    if not stories:
        verdicts = [("no PodCliqueSet in the input, so there is nothing to decide", "bold")]
    page.add(*((text if index == 0 else f"; {text}", style) for index, (text, style) in enumerate(verdicts)))
    page.add((f"as of {now.date().isoformat()} {clock(now, now)}, by the rules '{document.rules}'", "dim"))


def _on_terminations(document: Document, stories: Sequence[Story]) -> list[Span]:
    """What ends now, what ends later, or that nothing does; sets that are in no cluster yet have nothing to end."""
    now = document.as_of
    entries = [entry for story in stories for entry in story.entries]
    found: list[Span] = []
    ends = sum(entry.tone is Tone.ENDS for entry in entries)
    if ends:
        goes = taken(toll_of(step for told in document.forecasts for step in terminations_in(told.rounds[0])))
        text = f"{plural(ends, 'replica')} to terminate now" + (f", with {goes}" if goes else "")
        found.append((text, STYLES[Tone.ENDS]))
    soon = [len(one.steps) for told in document.forecasts for one in later_terminations(told) if one.round.at == now]
    if soon:
        found.append((f"{plural(sum(soon), 'PodClique')} to terminate in a later round", STYLES[Tone.ENDS]))
    untils = [entry.until for entry in entries if entry.tone is Tone.WAITS and entry.until is not None]
    if untils:
        waiting = sum(entry.tone is Tone.WAITS for entry in entries)
        text = f"{plural(waiting, 'replica')} waiting, the first until {clock(min(untils), now)}"
        found.append((text, STYLES[Tone.WAITS]))
    undecided = sum(entry.tone is Tone.UNKNOWN for entry in entries)
    if undecided:
        found.append((f"{plural(undecided, 'PodCliqueSet')} undecided", STYLES[Tone.UNKNOWN]))
    sets = [forecast for forecast in document.forecasts if forecast.root.kind == "PodCliqueSet"]
    running = [forecast for forecast in sets if not is_invented(forecast.root_uid)]
    if running and not found:
        found.append((f"nothing to terminate in {plural(len(running), 'PodCliqueSet')}", "bold green"))
    return found


def _on_the_rest(document: Document, stories: Sequence[Story]) -> list[Span]:
    """What is made, changed and taken away, what is held back and what is gated."""
    counts = Counter(entry.tone for story in stories for entry in story.entries)
    steps = [step for forecast in document.forecasts for round_ in told_rounds(forecast) for step in round_.steps]
    done = (
        ("create", created_by(steps).total()),
        ("update", len(changed_by(steps))),
        ("delete", len(removed_by(steps))),
    )
    found: list[Span] = [(f"{plural(count, 'object')} to {word}", "bold") for word, count in done if count]
    if counts[Tone.HELD]:
        found.append((f"{counts[Tone.HELD]:,} held back", STYLES[Tone.HELD]))
    if counts[Tone.GATED]:
        found.append((f"{plural(counts[Tone.GATED], 'PodClique')} gated", STYLES[Tone.GATED]))
    return found
