"""Writes of a plan as values, and writes that wait."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from grove_core.document.plan_document import step_action_name
from grove_core.plan.forecast import Forecast
from grove_shell.library.objects import qualified_name


class PlannedStep(NamedTuple):
    """One write of the operator.

    Attributes:
        round: from 1; those of round 1 come now.
        action: ``create``, ``ensure``, ``apply``, ``setStatus``, ``delete`` or ``dropFinalizer``.
        object: as ``PodClique/llama-0-decode``.
    """

    round: int
    at: datetime
    set: str
    action: str
    object: str
    because: str
    rule: str


class WithheldStep(NamedTuple):
    """A write that waits, and why."""

    set: str
    object: str
    because: str


def planned_steps_in(forecast: Forecast) -> Iterator[PlannedStep]:
    """Yield the writes of a forecast, round by round."""
    for round_ in forecast.rounds:
        for step in round_.steps:
            yield PlannedStep(
                round_.number,
                round_.at,
                qualified_name(forecast.root),
                step_action_name(step.action),
                step.target.short,
                "; ".join(why.sentence for why in step.because),
                step.because[0].rule.requirement,
            )


def withheld_steps_in(forecast: Forecast) -> Iterator[WithheldStep]:
    """Yield the writes that wait now."""
    for held in forecast.rounds[0].withheld:
        because = "; ".join(why.sentence for why in held.because)
        yield WithheldStep(qualified_name(forecast.root), held.target.short, because)
