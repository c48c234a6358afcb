"""Forecasts: the coming rounds of one root if every write succeeds, without other writers, and repetitions."""

from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Fact, Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.kernel.structs import Struct
from grove_core.kernel.time_formats import parse_time
from grove_core.kernel.wants import Withheld
from grove_core.plan.plan import Plan
from grove_core.plan.termination_hints import TerminationHints
from grove_core.plan.update_forecast import EditForecast, PodsAndGpus

Cycle: TypeAlias = tuple[timedelta, tuple[Hashable, ...]]
"""The rounds from one wake time to the next: their duration, and the fingerprints of their plans."""

_RANDOM_LETTERS: Final = 5
"""The number of random letters at the end of a pod's name."""


class RepeatedRounds(Struct, frozen=True):
    """The repetition of the last rounds of a forecast.

    Attributes:
        since: number of the first repeated round; the repeated rounds end with the last round.
        every: the period.
        until: the end of the forecast.
    """

    since: int
    every: timedelta
    until: datetime

    def occurrence_count(self, at: datetime) -> int:
        """Return how often a repeated round happens in all, given its first time."""
        return 1 + (self.until - at) // self.every


def round_fingerprint(plan: Plan, at: datetime, begun: datetime) -> Hashable:
    """Return a fingerprint of a plan, equal for two plans that differ only in their time and in random names.

    Args:
        at: the time of the plan; later times are compared as distances from it.
        begun: the start of the forecast; times before it do not change and are compared as they are.
    """
    return (
        tuple(
            (_address(found.subject), found.question, found.verdict, _whys(found.because, at, begun))
            for found in plan.findings
        ),
        frozenset((type(step.action), _address(step.target), _whys(step.because, at, begun)) for step in plan.steps),
        frozenset((_address(held.target), _whys(held.because, at, begun)) for held in plan.withheld),
        None if plan.wake_at is None else plan.wake_at - at,
    )


def shortest_repeating_period(cycles: Sequence[Cycle]) -> int:
    """Return the smallest number of last cycles that equal as many cycles before them; 0 if there is none."""
    for count in range(1, len(cycles) // 2 + 1):
        if cycles[-1 - count] == cycles[-1] and cycles[-2 * count : -count] == cycles[-count:]:
            return count
    return 0


def _whys(reasons: Iterable[Reason], at: datetime, begun: datetime) -> Hashable:
    return tuple(
        (why.rule, _address(why.subject), tuple((name, _relative(fact, at, begun)) for name, fact in why.facts))
        for why in reasons
    )


def _relative(fact: Fact, at: datetime, begun: datetime) -> Hashable:
    moment = parse_time(fact) if isinstance(fact, str) else None
    return fact if moment is None or moment <= begun else moment - at


def _address(ref: Ref) -> Ref:
    if ref.kind != "Pod":
        return ref
    return Ref(ref.api_version, ref.kind, ref.namespace, ref.name[:-_RANDOM_LETTERS], ref.replica)


class ForecastRound(Struct, frozen=True):
    """One round of a forecast; the first is exactly what the operator would do now.

    Attributes:
        wake_at: when time alone may change the steps of this round; None if never (PL-008).
    """

    number: int
    at: datetime
    steps: tuple[Step, ...]
    withheld: tuple[Withheld, ...]
    wake_at: datetime | None


class SetsOfSameName(NamedTuple):
    """The sets that a manifest of a new set may have been meant for (IN-086).

    Attributes:
        sets: ``namespace/name`` of the stored sets of its name in other namespaces, sorted; at least one.
        is_namespace_given: whether the manifest or ``-n`` names a namespace.
    """

    sets: tuple[str, ...]
    is_namespace_given: bool


class RemovedManifest(NamedTuple):
    """What goes with a set whose manifest only ``--old`` has, if the set is deleted too (ED-011)."""

    cliques: int
    pods: PodsAndGpus


class Forecast(Struct, frozen=True, kw_only=True):
    """The rounds of one root until no step is left, or until a limit.

    Attributes:
        rounds: numbered from 1, in the order of time; at least one.
        findings: every verdict of the first round.
        complete: whether ``rounds`` and ``again`` contain everything that happens; a limit may have cut them short.
        averted: the terminations that the first round waits for and that its steps avert or postpone, as findings
            after these steps, with the findings on the breaches behind them (PL-025).
        again: the repetition of the last rounds (PL-024); None where they are not repeated.
        edit: what an edit does to its end (ED-002); None for a set without one.
        creates: the pods that a new set will have (ED-007); None for a set of the cluster.
        hints: what averts each termination that the first round waits for or executes, and that its steps do not avert
            or postpone (PL-040).
        same_name: sets that a new set may have been meant for (IN-086); None where there is none.
        removed: what goes if a set without a new manifest is deleted (ED-011); None for every other set.
    """

    root: Ref
    root_uid: str
    rounds: tuple[ForecastRound, ...]
    findings: tuple[Finding, ...] = ()
    complete: bool = True
    averted: tuple[Finding, ...] = ()
    again: RepeatedRounds | None = None
    edit: EditForecast | None = None
    creates: PodsAndGpus | None = None
    hints: tuple[TerminationHints, ...] = ()
    same_name: SetsOfSameName | None = None
    removed: RemovedManifest | None = None

    def round_occurrence_count(self, round_: ForecastRound) -> int:
        """Return how often a round happens in all, itself included."""
        return (
            self.again.occurrence_count(round_.at)
            if self.again is not None and round_.number >= self.again.since
            else 1
        )


def one_round_forecast(plan: Plan, at: datetime) -> Forecast:
    """Return a plan as a forecast of one round, at the time of its snapshot."""
    return Forecast(
        root=plan.root,
        root_uid=plan.root_uid,
        rounds=(plan_as_forecast_round(plan, 1, at),),
        findings=plan.findings,
        complete=plan.settled,
    )


def plan_as_forecast_round(plan: Plan, number: int, at: datetime) -> ForecastRound:
    """Return a plan as one round of a forecast."""
    return ForecastRound(number, at, plan.steps, plan.withheld, plan.wake_at)
