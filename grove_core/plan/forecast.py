"""Forecasts: the coming rounds of one root, if every write succeeds and no other client writes."""

from dataclasses import dataclass
from datetime import datetime

from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.kernel.wants import Withheld
from grove_core.plan.plan import Plan
from grove_core.plan.recurrence import Recurrence


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a forecast; the first is exactly what the operator would do now.

    Attributes:
        wake_at: when time alone may change the steps of this round; None if never (PL-008).
    """

    number: int
    at: datetime
    steps: tuple[Step, ...]
    withheld: tuple[Withheld, ...]
    wake_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The rounds of one root until no step is left, or until a limit.

    Attributes:
        rounds: numbered from 1, in the order of time; at least one.
        findings: every verdict of the first round.
        complete: whether ``rounds`` and ``again`` contain everything that happens; a limit may have cut them short.
        averted: the terminations that the first round waits for and that its steps avert, as findings after these
            steps, with the findings on the breaches behind them (PL-025).
        again: the repetition of the last rounds (PL-024); None where they are not repeated.
    """

    root: Ref
    root_uid: str
    rounds: tuple[Round, ...]
    findings: tuple[Finding, ...] = ()
    complete: bool = True
    averted: tuple[Finding, ...] = ()
    again: Recurrence | None = None

    def times(self, round_: Round) -> int:
        """Return how often a round happens in all, itself included."""
        return self.again.times(round_.at) if self.again is not None and round_.number >= self.again.since else 1


def forecast_of(plan: Plan, at: datetime) -> Forecast:
    """Return a plan as a forecast of one round, at the time of its snapshot."""
    return Forecast(
        root=plan.root,
        root_uid=plan.root_uid,
        rounds=(round_of(plan, 1, at),),
        findings=plan.findings,
        complete=plan.settled,
    )


def round_of(plan: Plan, number: int, at: datetime) -> Round:
    """Return a plan as one round of a forecast."""
    return Round(number, at, plan.steps, plan.withheld, plan.wake_at)
