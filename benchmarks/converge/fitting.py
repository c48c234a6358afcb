"""From measurements to the constants of the model: straight lines through what requests of known sizes have cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from grove_shell.converge.model.server_costs import ModelServerCosts, default_model_server_costs


@dataclass(frozen=True, slots=True)
class Sample:
    """Many writes of one kind, one after the other, and what each of them has cost on average.

    Attributes:
        size: of the object, in bytes.
        watchers: of it.
        server_us, store_us: processor time of a write.
        latency_us: until its answer.
    """

    size: float
    watchers: int
    server_us: float
    store_us: float
    latency_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What was measured: applies, puts and refused puts without watchers, applies with some, requests that do nothing.

    Attributes:
        idle_us: latency of a request that the server answers at once, and ``idle_server_us`` its processor time.
    """

    uses_apply: Sequence[Sample]
    puts: Sequence[Sample]
    stale: Sequence[Sample]
    watched: Sequence[Sample]
    idle_us: float
    idle_server_us: float


def line_through(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Intercept and slope of the line with the least squares; neither is negative."""
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = max(sum((x - mean_x) * (y - mean_y) for x, y in points) / spread, 0.0) if spread else 0.0
    return max(mean_y - slope * mean_x, 0.0), slope


def fitted(samples: Samples, source: str) -> ModelServerCosts:
    """The constants. A write without watchers costs r and a share of the object; each watcher adds f0 and f1."""
    apply_us, merge = line_through([(one.size, one.server_us) for one in samples.uses_apply])
    put_us, put = line_through([(one.size, one.server_us) for one in samples.puts])
    _, stale = line_through([(one.size, one.server_us) for one in samples.stale])
    request_us = (apply_us + put_us) / 2
    added = [(one, one.server_us - apply_us - merge * one.size) for one in samples.watched]
    by_size = sorted({one.size for one, _ in added})
    lines = [
        (size, *line_through([(one.watchers, cost) for one, cost in added if one.size == size])) for size in by_size
    ]
    _, serialise = line_through([(size, once) for size, once, _ in lines])
    watcher_us, watcher = line_through([(size, each) for size, _, each in lines])
    smallest = min(samples.puts, key=lambda one: one.size)
    wire = max(samples.idle_us - samples.idle_server_us, 0.0) / 2
    commit = smallest.latency_us - smallest.server_us - smallest.store_us - 2 * wire
    whole = default_model_server_costs().model_dump()
    return ModelServerCosts.model_validate(
        whole
        | {
            "source": source,
            "request_us": request_us,
            "put_ns_per_byte": put * 1000,
            "stale_ns_per_byte": stale * 1000,
            "merge_ns_per_byte": merge * 1000,
            "serialise_ns_per_byte": serialise * 1000,
            "watcher_us": watcher_us,
            "watcher_ns_per_byte": watcher * 1000,
            "store_us": smallest.store_us,
            "commit_us": max(commit, 0.0),
            "wire_us": wire,
        }
    )
