"""Terminations after the first round of a plan, and the rounds in which they repeat because no pod can be placed."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from grove_core.areas.gang_termination.assumptions import Assumption, assumptions_of
from grove_core.areas.gang_termination.deletions import deletions_by_replica
from grove_core.kernel.durations import short_duration
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step, is_termination, total_impact
from grove_core.kernel.times import whole_seconds
from grove_core.plan.forecast import Forecast, Round
from grove_shell.page import Page
from grove_shell.views.formatting import clock_time, impact_text, joined_names, plural, relative_time
from grove_shell.views.layout import INDENT, MAX_NAMES, entry_label


class LaterTermination(NamedTuple):
    """A termination after the first round, and the later rounds that terminate the same objects again.

    Attributes:
        round: the round of the termination.
        steps: its deletions.
        assumption: what has to stay true until then; None at the time of the first round (PL-032).
        again: the rounds that repeat it.
    """

    round: Round
    steps: Sequence[Step]
    assumption: Assumption | None = None
    again: tuple[Round, ...] = ()


def terminations_in(round_: Round) -> list[Step]:
    """Return the deletions of a round that terminate a gang."""
    return list(filter(is_termination, round_.steps))


def later_terminations(forecast: Forecast) -> list[LaterTermination]:
    """Return the terminations after the first round of a forecast; terminations of the same objects are one."""
    found: dict[frozenset[Ref], LaterTermination] = {}
    rounds = [(round_.at, round_.steps) for round_ in forecast.rounds]
    assumed = assumptions_of(forecast.findings, rounds)
    for round_, by_target in zip(forecast.rounds[1:], assumed[1:], strict=True):
        for steps in _by_replica(terminations_in(round_)):
            targets = frozenset(step.target for step in steps)
            one = found.get(targets)
            if one is None:
                found[targets] = LaterTermination(round_, steps, by_target.get(steps[0].target))
            else:
                found[targets] = one._replace(again=(*one.again, round_))
    return list(found.values())


def _by_replica(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Yield the deletions of one round grouped by the terminated replica; each deletion is yielded once."""
    yielded: set[Ref] = set()
    for alike in deletions_by_replica(steps).values():
        fresh = [step for step in alike if step.target not in yielded]
        yielded.update(step.target for step in fresh)
        if fresh:
            yield fresh


def rounds_before_repeats(forecast: Forecast) -> Sequence[Round]:
    """Return the rounds before the last of the repeating terminations begins to repeat (GF-086).

    All rounds where nothing repeats; the rounds that are left out add nothing new.
    """
    again = [later.again[0].number for later in later_terminations(forecast) if later.again]
    return forecast.rounds[: max(again) - 1] if again else forecast.rounds


def add_later_terminations(page: Page, forecast: Forecast, now: datetime) -> None:
    """Add the later terminations: when they happen, what they delete, and the pods and GPUs that go with it."""
    for later in later_terminations(forecast):
        names = joined_names([step.target.name for step in later.steps], MAX_NAMES)
        at = later.round.at
        when = f"{clock_time(at, now)} ({relative_time(at, now)})" if at > now else f"round {later.round.number}"
        condition = f", {later.assumption.words}" if later.assumption is not None else ""
        page.add((entry_label("THEN"), "yellow"), f"{when}{condition}: deletes {names}")
        if impact := impact_text(total_impact(later.steps)):
            page.add(INDENT, f"  with {impact}")
        if later.again:
            page.add((entry_label("AGAIN"), "bold red"), _again(later, now))


def _again(later: LaterTermination, now: datetime) -> str:
    times = [later.round.at, *(round_.at for round_ in later.again)]
    spans = {whole_seconds(after) - whole_seconds(before) for before, after in pairwise(times)}
    every = f", every {short_duration(spans.pop())}" if len(spans) == 1 else ""
    same = plural(len(later.steps), "PodClique")
    return f"{clock_time(times[1], now)} ({relative_time(times[1], now)}){every} until they are placed: the same {same}"
