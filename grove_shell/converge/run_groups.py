"""Groups of runs that differ in the seed alone, and captions with every parameter of some runs (CV-050)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isinf
from statistics import median
from typing import Any, Final

from grove_core.areas.domain_cliques.registration_protocols import RegistrationProtocol
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, RunOutcome, RunParameters


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs of one world and of points that differ in the seed alone; at least one."""

    world: str
    point: RunParameters
    runs: tuple[ConvergenceRun, ...]

    @property
    def storable(self) -> bool:
        """Whether the store accepts its objects, so that it was run."""
        return all(run.outcome is not RunOutcome.NOT_STORABLE for run in self.runs)

    @property
    def seconds_to_convergence(self) -> float:
        """The median time; infinite if most runs did not converge (CV-021)."""
        return median(run.seconds_to_convergence for run in self.runs)

    @property
    def shortest_and_longest_seconds(self) -> tuple[float, float]:
        """The shortest and the longest time."""
        times = [run.seconds_to_convergence for run in self.runs]
        return min(times), max(times)

    def median_of(self, value: Callable[[ConvergenceRun], float | None]) -> float | None:
        """Return the median of a value; None if most runs have none."""
        found = median(inf if one is None else one for one in map(value, self.runs))
        return None if isinf(found) else found


def group_runs(runs: Iterable[ConvergenceRun]) -> tuple[RunGroup, ...]:
    """Return all groups, sorted by world, protocol, clique size and nodes."""
    found = defaultdict[tuple[str, RunParameters], list[ConvergenceRun]](list)
    for run in runs:
        found[run.world, replace(run.point, seed=0)].append(run)
    groups = [
        RunGroup(world, point, tuple(sorted(members, key=lambda run: run.point.seed)))
        for (world, point), members in found.items()
    ]
    return tuple(sorted(groups, key=_sort_key))


def _sort_key(group: RunGroup) -> tuple[str, int, int, int]:
    point = group.point
    return group.world, list(RegistrationProtocol).index(point.protocol), point.clique_size, point.nodes


_PARAMETERS: Final[tuple[tuple[str, Callable[[RunParameters], Any], str], ...]] = (
    ("cliques of", lambda point: point.clique_size, ""),
    ("at most", lambda point: point.limit, " indices"),
    ("arrival within", lambda point: point.arrival_s, " s"),
    ("fabric daemons ready after", lambda point: _span(point.readiness_s), " s"),
    ("limiter", lambda point: f"{point.rate:g}/s, burst {point.burst}" if point.rate else "none", ""),
    ("server cores", lambda point: "unlimited" if point.server_cores is None else point.server_cores, ""),
    ("runs end after", lambda point: point.run_limit_s, " s"),
)


def run_parameter_caption_lines(runs: Sequence[ConvergenceRun]) -> Iterator[str]:
    """Yield one line for each world with its setting, one with the parameters, and one with the seeds."""
    for world, setting in dict.fromkeys((run.world, run.setting) for run in runs):
        yield f"{world}: {setting}"
    points = [run.point for run in runs]
    yield "; ".join(f"{word} {_values(map(value, points))}{unit}" for word, value, unit in _PARAMETERS)
    seeds = sorted({point.seed for point in points})
    yield f"seeds {seeds[0]} to {seeds[-1]}; one run for each seed, the same arrivals for all protocols"


def _values(values: Iterable[Any]) -> str:
    found = list(dict.fromkeys(values))
    ordered = sorted(found) if all(isinstance(value, int | float) for value in found) else found
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in ordered)


def _span(least: float) -> str:
    return f"{least:g} to {2 * least:g}" if least else "0"
