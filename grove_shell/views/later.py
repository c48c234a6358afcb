"""What ends after the first round of a plan: by a delay that runs out, and again and again where nothing is placed."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from grove_core.explain import toll_of
from grove_core.kernel.durations import short_duration
from grove_core.kernel.steps import Delete, Step
from grove_core.kernel.times import whole_seconds
from grove_core.plan.forecast import Forecast, Round
from grove_shell.views.layout import INDENT, NAMES, label
from grove_shell.views.page import Page
from grove_shell.views.words import clock, distance, listed, plural, taken


class Later(NamedTuple):
    """One termination after the first round, and the rounds in which the same objects end again right after it."""

    round: Round
    steps: Sequence[Step]
    again: tuple[Round, ...] = ()


def terminations_in(round_: Round) -> list[Step]:
    """The deletions of a round that end something for a breach; those rest on their cause (PL-015)."""
    return [step for step in round_.steps if isinstance(step.action, Delete) and step.action.rests_on]


def later_terminations(forecast: Forecast) -> list[Later]:
    """Rounds after the first that end something for a breach, each with the deletions."""
    found: list[Later] = []
    for round_ in forecast.rounds[1:]:
        steps = terminations_in(round_)
        if not steps:
            continue
        if found and {step.target for step in found[-1].steps} == {step.target for step in steps}:
            found[-1] = found[-1]._replace(again=(*found[-1].again, round_))
        else:
            found.append(Later(round_, steps))
    return found


def told_rounds(forecast: Forecast) -> Sequence[Round]:
    """The rounds up to the first in which the same ends again: what follows is the same as before (GF-086)."""
    again = [later.again[0].number for later in later_terminations(forecast) if later.again]
    return forecast.rounds[: min(again) - 1] if again else forecast.rounds


def add_later(page: Page, forecast: Forecast, now: datetime) -> None:
    """What ends later, when, and what goes with it."""
    for later in later_terminations(forecast):
        names = listed([step.target.name for step in later.steps], NAMES)
        at = later.round.at
        when = f"{clock(at, now)} ({distance(at, now)})" if at > now else f"round {later.round.number}"
        page.add((label("THEN"), "yellow"), f"{when}: ends {names}")
        if toll := taken(toll_of(later.steps)):
            page.add(INDENT, f"  with {toll}")
        if later.again:
            page.add((label("AGAIN"), "bold red"), _again(later, now))


def _again(later: Later, now: datetime) -> str:
    times = [later.round.at, *(round_.at for round_ in later.again)]
    spans = {whole_seconds(after) - whole_seconds(before) for before, after in pairwise(times)}
    every = f", every {short_duration(spans.pop())}" if len(spans) == 1 else ""
    same = plural(len(later.steps), "PodClique")
    return f"{clock(times[1], now)} ({distance(times[1], now)}){every} until they are placed: the same {same}"
