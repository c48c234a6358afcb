"""Groups of runs that differ in the seed alone: a line of the table, or a place on a curve."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf, isinf
from statistics import median

from grove_core.areas.domain_cliques.protocols import Protocol
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Outcome, Run


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs of one world and of points that differ in the seed alone; at least one."""

    world: str
    point: Point
    runs: tuple[Run, ...]

    @property
    def storable(self) -> bool:
        """Whether the store accepts its objects, so that it was run."""
        return all(run.outcome is not Outcome.NOT_STORABLE for run in self.runs)

    @property
    def time_s(self) -> float:
        """The median time; infinite if most runs did not converge (CV-021)."""
        return median(run.time_s for run in self.runs)

    @property
    def span_s(self) -> tuple[float, float]:
        """The shortest and the longest time."""
        times = [run.time_s for run in self.runs]
        return min(times), max(times)

    def median_of(self, value: Callable[[Run], float | None]) -> float | None:
        """Return the median of a value; None if most runs have none."""
        found = median(inf if one is None else one for one in map(value, self.runs))
        return None if isinf(found) else found


def group_runs(runs: Iterable[Run]) -> tuple[RunGroup, ...]:
    """Return all groups, sorted by world, protocol, clique size and nodes."""
    found = defaultdict[tuple[str, Point], list[Run]](list)
    for run in runs:
        found[run.world, replace(run.point, seed=0)].append(run)
    groups = [
        RunGroup(world, point, tuple(sorted(members, key=lambda run: run.point.seed)))
        for (world, point), members in found.items()
    ]
    return tuple(sorted(groups, key=_sort_key))


def _sort_key(group: RunGroup) -> tuple[str, int, int, int]:
    point = group.point
    return group.world, list(Protocol).index(point.protocol), point.clique_size, point.nodes
