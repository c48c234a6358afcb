"""What was measured, and the lines of the table that it becomes.

Candidate and baseline take turns, and their medians are compared: on a shared machine trust ratios, not seconds.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

Numbers: TypeAlias = Mapping[str, Any]
Bounds: TypeAlias = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Samples:
    """What was measured, several times, in one unit."""

    values: Sequence[float]
    unit: str

    @property
    def median(self) -> float:
        """The value in the middle."""
        return median(self.values)

    def __str__(self) -> str:
        return f"{amount(self.median, self.unit)} (min {amount(min(self.values), self.unit)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        value: what is compared with the bounds; ``unit`` belongs to it.
        bounds: the goal, and the bound beyond which it is a failure; None where the row is only for information.
        more_is_better: whether they are lower bounds.
        n: how many measurements the medians are of.
    """

    id: str
    what: str
    candidate: str
    baseline: str = ""
    value: float
    unit: str
    bounds: Bounds = None
    more_is_better: bool = False
    n: int

    @property
    def measure(self) -> str:
        """The value for a person."""
        return amount(self.value, self.unit)

    @property
    def goal(self) -> str:
        """Both bounds for a person."""
        if self.bounds is None:
            return ""
        goal, fail = (amount(bound, self.unit) for bound in self.bounds)
        return f"{'>=' if self.more_is_better else '<='} {goal} ({fail})"

    @property
    def verdict(self) -> str:
        """How the value stands to its bounds."""
        if self.bounds is None:
            return "for information"
        sign = -1 if self.more_is_better else 1
        goal, fail = (self.value * sign <= bound * sign for bound in self.bounds)
        return "meets goal" if goal else "within fail bound" if fail else "over"


def amount(value: float, unit: str) -> str:
    """A number with its unit, with three digits that count."""
    if unit == "s" and value < 1:
        return amount(value * 1000, "ms") if value >= 1e-3 else f"{value * 1e6:.3g} us"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text}x" if unit == "x" else f"{text} {unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Runs:
    """How long some runs of a program took: by the clock, and of the processor."""

    wall: Samples
    processor: Samples


def samples_of(answers: Iterable[Numbers], key: str, unit: str) -> Samples:
    """One number of each answer."""
    return Samples([answer[key] for answer in answers], unit)


def exponent(smaller: float, larger: float, growth: float) -> float:
    """With which power of the size the time grows; 1 is linear."""
    return math.log(larger / smaller) / math.log(growth)


def growth(
    id_: str, what: str, small: Samples, large: Samples, sizes: tuple[int, int], *, bounds: Bounds, start: float = 0.0
) -> Row:
    """A row that says with which power of its size something grows.

    Args:
        what: with places for both sizes.
        sizes: of the small one and of the large one.
        start: what both take whatever their size.
    """
    few, most = sizes
    least = 1e-3 if start else 0.0
    less, more = (max(found.median - start, least) for found in (small, large))
    return Row(
        id=id_,
        what=what.format(f"{few:,}", f"{most:,}"),
        candidate=str(large),
        baseline=str(small),
        value=exponent(less, more, most / few),
        unit="",
        bounds=bounds,
        n=len(large.values),
    )


def ratio(id_: str, what: str, ours: Samples, theirs: Samples, *, bounds: Bounds = None) -> Row:
    """A row that holds one median against another."""
    return Row(
        id=id_,
        what=what,
        candidate=str(ours),
        baseline=str(theirs),
        value=ours.median / theirs.median,
        unit="x",
        bounds=bounds,
        n=len(ours.values),
    )
