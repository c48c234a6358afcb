"""Captions: every parameter of some runs, with all its values (CV-050)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run

_PARAMETERS: Final[tuple[tuple[str, Callable[[Point], Any], str], ...]] = (
    ("cliques of", lambda point: point.clique_size, ""),
    ("at most", lambda point: point.limit, " indices"),
    ("arrival within", lambda point: point.arrival_s, " s"),
    ("fabric daemons ready after", lambda point: _span(point.readiness_s), " s"),
    ("limiter", lambda point: f"{point.rate:g}/s, burst {point.burst}" if point.rate else "none", ""),
    ("server cores", lambda point: "unlimited" if point.server_cores is None else point.server_cores, ""),
    ("runs end after", lambda point: point.run_limit_s, " s"),
)


def caption_lines(runs: Sequence[Run]) -> Iterator[str]:
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
