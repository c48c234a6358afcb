"""A point, which is every parameter of one run; its result, as in a line of ``runs.csv``; and groups of runs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import Enum, unique
from math import ceil, inf, isinf
from statistics import median
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    NODES_PER_RACK,
    DaemonRegistrationSettings,
    RegistrationProtocol,
)
from grove_core.kernel.structs import replace

RUN_LIMIT_S: Final = 600.0
"""After this time a run is aborted, and shown as censored (CV-021)."""
_SWEPT: Final = frozenset({"protocol", "nodes", "clique_size", "limit", "seed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergenceRunParameters:
    """The parameters of one run; model runs of equal points and costs are equal.

    Attributes:
        nodes: number of nodes, each with one daemon.
        clique_size: daemons of each clique; the last one has the rest.
        limit: number of indices of a clique.
        seed: of all random times, the same for all protocols; the number of the repetition.
        arrival_s: each daemon starts at a random time from 0 to this, in seconds.
        readiness_s: a fabric daemon is ready after a random time from this to twice this, in seconds.
        rate, burst: of the rate limiter of each client, in requests per second; a rate of 0 is no limiter. A request is
            built before it waits.
        server_cores: cores of the server and its store; None for unlimited.
        run_limit_s: after which the run is aborted, in seconds.
    """

    protocol: RegistrationProtocol
    nodes: int
    clique_size: int = NODES_PER_RACK
    limit: int = NODES_PER_RACK
    seed: int = 0
    arrival_s: float = 2.0
    readiness_s: float = 1.0
    rate: float = 5.0
    burst: int = 10
    server_cores: int | None = 2
    run_limit_s: float = RUN_LIMIT_S

    @property
    def clique_count(self) -> int:
        """The number of cliques."""
        return ceil(self.nodes / self.clique_size)

    @property
    def daemon_settings(self) -> DaemonRegistrationSettings:
        """Settings of its daemons: without pods, and without the other registry."""
        return DaemonRegistrationSettings(
            protocol=self.protocol, limit=self.limit, has_pods=False, reads_other_registry=False
        )

    def clique_number_of_daemon(self, daemon: int) -> int:
        """Return the number of the clique of a daemon; both from 0."""
        return daemon // self.clique_size

    def daemon_count_of_clique(self, clique: int) -> int:
        """Return the number of daemons of a clique."""
        return min(self.clique_size, self.nodes - clique * self.clique_size)


def parameters_shared_by_runs(point: ConvergenceRunParameters) -> dict[str, object]:
    """Return the parameters that all runs of one file share, as they are not axes of curves or sweeps (CV-030)."""
    return {field.name: getattr(point, field.name) for field in fields(point) if field.name not in _SWEPT}


@unique
class ConvergenceRunOutcome(Enum):
    """How a run ended; tables and pictures show every outcome (CV-021)."""

    CONVERGED = "converged"
    CENSORED = "censored"
    """It was aborted at its time limit."""
    NOT_STORABLE = "not storable"
    """It was not run: an object would be larger than the store accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergenceRun:
    """One run of one point. Times are in seconds since the domain was created; None if it did not happen.

    Attributes:
        world: ``model`` or ``cluster``.
        setting: machine and versions, or constants of the model; for captions.
        t_all_s: an observer sees a Ready entry of every daemon and no duplicate index.
        t_global_s: the status of the domain is Ready.
        t_push_s: the last daemon starts its fabric daemon.
        t_views_s: for each daemon that got so far: it observes its whole clique without duplicate indices; sorted.
        writes: successful writes of daemons.
        controller_writes: successful writes of the controller.
        conflicts, throttled, timeouts: responses 409, 429 and 504 to daemons.
        cas_failures: compare-and-swap operations of the server that lost against another write.
        watch_events, watch_bytes: of the watches of daemons, without their first lists.
        uploaded_bytes: of all request bodies of daemons.
        cpu_server_s, cpu_store_s: processor time of the API server, and of its store if it is measured apart.
        cpu_harness_s: processor time of the daemons on a cluster; None in the model.
        object_bytes: of the largest registry at the end.
        managed_bytes: of its ``managedFields``.
        repicks: writes that changed the index of a daemon.
    """

    world: str
    point: ConvergenceRunParameters
    outcome: ConvergenceRunOutcome
    setting: str = ""
    t_all_s: float | None = None
    t_global_s: float | None = None
    t_push_s: float | None = None
    t_views_s: tuple[float, ...] = ()
    writes: int = 0
    controller_writes: int = 0
    conflicts: int = 0
    throttled: int = 0
    timeouts: int = 0
    cas_failures: int = 0
    watch_events: int = 0
    watch_bytes: int = 0
    uploaded_bytes: int = 0
    cpu_server_s: float = 0.0
    cpu_store_s: float = 0.0
    cpu_harness_s: float | None = None
    object_bytes: int = 0
    managed_bytes: int = 0
    repicks: int = 0

    @property
    def seconds_to_convergence(self) -> float:
        """Time to convergence for medians; infinite if it did not converge."""
        return inf if self.t_all_s is None else self.t_all_s

    def seconds_until_share_observed(self, share: float) -> float | None:
        """Return when this share of all daemons had observed its clique; None if fewer ever did."""
        at = max(ceil(round(share * self.point.nodes, 6)) - 1, 0)
        return self.t_views_s[at] if at < len(self.t_views_s) else None


@dataclass(frozen=True, slots=True)
class ConvergenceRunGroup:
    """Runs of one world and of points that differ in the seed alone; at least one."""

    world: str
    point: ConvergenceRunParameters
    runs: tuple[ConvergenceRun, ...]

    @property
    def fits_object_store(self) -> bool:
        """Whether the store accepts its objects, so that it was run."""
        return all(run.outcome is not ConvergenceRunOutcome.NOT_STORABLE for run in self.runs)

    @property
    def seconds_to_convergence(self) -> float:
        """The median time; infinite if most runs did not converge (CV-021)."""
        return median(run.seconds_to_convergence for run in self.runs)

    @property
    def shortest_and_longest_seconds(self) -> tuple[float, float]:
        """The shortest and the longest time."""
        times = [run.seconds_to_convergence for run in self.runs]
        return min(times), max(times)

    def median_of_runs(self, value: Callable[[ConvergenceRun], float | None]) -> float | None:
        """Return the median of a value; None if most runs have none."""
        found = median(inf if one is None else one for one in map(value, self.runs))
        return None if isinf(found) else found


def group_convergence_runs(runs: Iterable[ConvergenceRun]) -> tuple[ConvergenceRunGroup, ...]:
    """Return all groups, sorted by world, protocol, clique size and nodes."""
    found = defaultdict[tuple[str, ConvergenceRunParameters], list[ConvergenceRun]](list)
    for run in runs:
        found[run.world, replace(run.point, seed=0)].append(run)
    groups = [
        ConvergenceRunGroup(world, point, tuple(sorted(members, key=lambda run: run.point.seed)))
        for (world, point), members in found.items()
    ]
    return tuple(sorted(groups, key=_sort_key))


def _sort_key(group: ConvergenceRunGroup) -> tuple[str, int, int, int]:
    point = group.point
    return group.world, list(RegistrationProtocol).index(point.protocol), point.clique_size, point.nodes


_PARAMETERS: Final[tuple[tuple[str, Callable[[ConvergenceRunParameters], Any], str], ...]] = (
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
