"""Runs a function on symbolic numbers, times and truths, once for each path through it.

The function itself runs, not a copy of it: arithmetic on a :class:`Number`, :class:`Moment` or :class:`Span` builds a
formula of z3, and wherever Python asks for a truth (``if``, ``and``, ``min``, ``any``), z3 says which branches are
possible, and the function runs once for each of them. A claim is proved if z3 finds, on no path, values that refute it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import z3

_MICRO: Final = timedelta(microseconds=1)
_START: Final = datetime.min.replace(tzinfo=UTC)
MOST_PATHS: Final = 20_000

T = TypeVar("T")


class Unproved(AssertionError):
    """A claim does not hold; the message has values that refute it."""


@dataclass
class _Run:
    """One run of a function: the branches it has to take first, and those it took."""

    solver: z3.Solver
    given: list[bool]
    taken: list[bool]
    forked: list[bool]


_RUNS: list[_Run] = []


def paths(assumed: list[z3.BoolRef], function: Callable[[], T]) -> Iterator[tuple[z3.Solver, T]]:
    """Yield, for each path through a function, a solver that has the conditions of the path, and what it returns."""
    pending: list[list[bool]] = [[]]
    for _ in range(MOST_PATHS):
        if not pending:
            return
        solver = z3.Solver()
        solver.add(*assumed)
        run = _Run(solver, pending.pop(), [], [])
        _RUNS.append(run)
        try:
            result = function()
        finally:
            _RUNS.pop()
        new = (place for place in range(len(run.given), len(run.taken)) if run.forked[place])
        pending.extend([*run.taken[:place], not run.taken[place]] for place in new)
        yield solver, result
    raise Unproved(f"more than {MOST_PATHS} paths")


def prove(assumed: list[z3.BoolRef], function: Callable[[], T], claim: Callable[[T], z3.BoolRef | bool]) -> int:
    """Prove a claim about what a function returns, for all values that satisfy the assumptions.

    Returns:
        The number of paths.

    Raises:
        Unproved: some values refute the claim, or z3 cannot decide it.
    """
    count = 0
    for solver, result in paths(assumed, function):
        count += 1
        refuted = solver.check(z3.Not(claim(result)))
        if refuted != z3.unsat:
            values = solver.model() if refuted == z3.sat else solver.reason_unknown()
            raise Unproved(f"{result}: {values}")
    return count


def _branch(formula: z3.BoolRef) -> bool:
    """Return which branch this run takes, and require it of the values from here on."""
    run = _RUNS[-1]
    place = len(run.taken)
    can = [run.solver.check(formula) == z3.sat, run.solver.check(z3.Not(formula)) == z3.sat]
    chosen = run.given[place] if place < len(run.given) else can[0]
    run.taken.append(chosen)
    run.forked.append(all(can))
    run.solver.add(formula if chosen else z3.Not(formula))
    return chosen


class Truth:
    """A symbolic truth; Python asks for its value at a branch."""

    def __init__(self, formula: z3.BoolRef) -> None:
        self.formula = formula

    def __bool__(self) -> bool:
        return _branch(self.formula)

    def __radd__(self, other: int) -> int:
        return other + bool(self)


def term(value: Any) -> z3.ArithRef:
    """Return a number as a term; of a time the microseconds since the first date, of a duration its microseconds."""
    if isinstance(value, Number | Moment | Span):
        return value.term
    if isinstance(value, datetime):
        return z3.IntVal((value - _START) // _MICRO)
    return z3.IntVal(value // _MICRO if isinstance(value, timedelta) else int(value))


class _Ordered:
    """What symbolic numbers and times have in common: they can be compared with others of their kind."""

    def __init__(self, name: str | z3.ArithRef) -> None:
        self.term = z3.Int(name) if isinstance(name, str) else name

    def __lt__(self, other: Any) -> Truth:
        return Truth(self.term < term(other))

    def __le__(self, other: Any) -> Truth:
        return Truth(self.term <= term(other))

    def __gt__(self, other: Any) -> Truth:
        return Truth(self.term > term(other))

    def __ge__(self, other: Any) -> Truth:
        return Truth(self.term >= term(other))

    def __eq__(self, other: object) -> Any:
        return Truth(self.term == term(other))

    def __ne__(self, other: object) -> Any:
        return Truth(self.term != term(other))

    __hash__ = None  # type: ignore[assignment]  # a symbolic value equals others on some paths only

    def __repr__(self) -> str:
        return str(self.term)


class Number(_Ordered):
    """A symbolic integer of any size."""

    def __add__(self, other: Any) -> "Number":
        return Number(self.term + term(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Number":
        return Number(self.term - term(other))

    def __rsub__(self, other: Any) -> "Number":
        return Number(term(other) - self.term)

    def __format__(self, spec: str) -> str:
        return str(self.term)


class Span(_Ordered):
    """A symbolic duration, in microseconds."""


class Moment(_Ordered):
    """A symbolic time of the calendar, in microseconds since its first date; a sum beyond the last date is an error."""

    def __add__(self, other: "Span | timedelta") -> "Moment":
        found = Moment(self.term + term(other))
        if found > datetime.max.replace(tzinfo=UTC):
            raise OverflowError("date value out of range")
        return found

    def __sub__(self, other: "Moment | datetime") -> Span:
        return Span(self.term - term(other))

    def __rsub__(self, other: datetime) -> Span:
        return Span(term(other) - self.term)

    def replace(self, *, microsecond: int) -> "Moment":
        """Return the time with other microseconds, as ``datetime.replace`` does."""
        return Moment(self.term - self.term % 1_000_000 + microsecond)


def in_calendar(*moments: Moment) -> list[z3.BoolRef]:
    """Return the assumptions that these are times which ``datetime`` can represent."""
    last = term(datetime.max.replace(tzinfo=UTC))
    return [bound for one in moments for bound in (one.term >= 0, one.term <= last)]


def in_range(*spans: Span) -> list[z3.BoolRef]:
    """Return the assumptions that these are durations above zero which ``timedelta`` can represent."""
    return [bound for one in spans for bound in (one.term > 0, one.term <= term(timedelta.max))]
