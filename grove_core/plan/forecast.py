"""What will happen to one root, round after round, if every write succeeds and nobody else acts."""

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
    """One look and what it leads to; the first is exactly what the operator would do now.

    Attributes:
        wake_at: when time alone may change what this look saw; None if never (PL-008).
    """

    number: int
    at: datetime
    steps: tuple[Step, ...]
    withheld: tuple[Withheld, ...]
    wake_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The rounds of one root until rest, or until a limit.

    Attributes:
        rounds: numbered from 1, in time; at least one.
        findings: every verdict of the first round.
        complete: whether nothing else happens but what ``rounds`` and ``again`` tell; a limit may have cut them short.
        averted: of terminations that the first look waits for and nobody does once its steps are done: how they, and
            the breaches behind them, are found then (PL-025).
        again: what the last rounds are repeated by (PL-024); None where nothing comes again and again.
    """

    root: Ref
    root_uid: str
    rounds: tuple[Round, ...]
    findings: tuple[Finding, ...] = ()
    complete: bool = True
    averted: tuple[Finding, ...] = ()
    again: Recurrence | None = None

    def times(self, round_: Round) -> int:
        """How often there is what a round does, itself included."""
        return self.again.times(round_.at) if self.again is not None and round_.number >= self.again.since else 1


def forecast_of(plan: Plan, at: datetime) -> Forecast:
    """A single plan as a forecast of one round."""
    return Forecast(
        root=plan.root,
        root_uid=plan.root_uid,
        rounds=(round_of(plan, 1, at),),
        findings=plan.findings,
        complete=plan.settled,
    )


def round_of(plan: Plan, number: int, at: datetime) -> Round:
    """A plan as one round of a forecast."""
    return Round(number, at, plan.steps, plan.withheld, plan.wake_at)
