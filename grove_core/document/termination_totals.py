"""What the terminations of some forecasts delete, each object once (CL-087)."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from grove_core.areas.gang_termination.forecast_terminations import findings_with_averted_replaced
from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    DeletionImpact,
    Step,
    gangs_terminated_by,
    is_gang_termination_deletion,
    total_deletion_impact,
)
from grove_core.plan.forecast import Forecast


class TerminationTotals(NamedTuple):
    """The terminations of all rounds, those that only a later round has included.

    Attributes:
        replicas: terminated replicas of sets and scaling groups.
        cliques: PodCliques and scaling groups that are deleted for them.
        impact: the pods and GPUs of these; None where the pods of one are not known.
        waiting: replicas whose delay runs at the time of the plan, once its steps are done (PL-025).
        first_deadline: when the first of these delays ends; None where none runs.
    """

    replicas: int
    cliques: int
    impact: DeletionImpact | None
    waiting: int
    first_deadline: datetime | None


def termination_totals(forecasts: Iterable[Forecast]) -> TerminationTotals:
    """Return what the terminations of some forecasts delete; a gang that is terminated again counts once."""
    steps: dict[Ref, Step] = {}
    deadlines: list[datetime | None] = []
    for forecast in forecasts:
        for round_ in forecast.rounds:
            for step in filter(is_gang_termination_deletion, round_.steps):
                steps.setdefault(step.target, step)
        findings = findings_with_averted_replaced(forecast.findings, forecast.averted)
        waiting = (one for one in findings if one.question == TERMINATION and one.verdict == WAITS)
        deadlines += [one.deadline for one in waiting if one.subject.replica is not None]  # not a group's own
    replicas = {gang.replica for step in steps.values() for gang in gangs_terminated_by(step)}
    return TerminationTotals(
        replicas=len(replicas),
        cliques=len(steps),
        impact=total_deletion_impact(steps.values()),
        waiting=len(deadlines),
        first_deadline=min((one for one in deadlines if one is not None), default=None),
    )
