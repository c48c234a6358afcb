"""A point: every parameter of one run."""

from dataclasses import dataclass, fields
from math import ceil
from typing import Final

from grove_core.areas.domain_cliques.protocols import NODES_PER_RACK, DaemonSettings, Protocol

RUN_LIMIT_S: Final = 600.0
"""After this time a run is aborted, and shown as censored (CV-021)."""
_SWEPT: Final = frozenset({"protocol", "nodes", "clique_size", "limit", "seed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
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

    protocol: Protocol
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
    def cliques(self) -> int:
        """The number of cliques."""
        return ceil(self.nodes / self.clique_size)

    @property
    def settings(self) -> DaemonSettings:
        """Settings of its daemons: without pods, and without the other registry."""
        return DaemonSettings(protocol=self.protocol, limit=self.limit, has_pods=False, reads_other_registry=False)

    def clique_of(self, daemon: int) -> int:
        """Return the number of the clique of a daemon; both from 0."""
        return daemon // self.clique_size

    def size_of(self, clique: int) -> int:
        """Return the number of daemons of a clique."""
        return min(self.clique_size, self.nodes - clique * self.clique_size)


def shared_parameters(point: Point) -> dict[str, object]:
    """Return the parameters that all runs of one file share, as they are not axes of curves or sweeps (CV-041)."""
    return {field.name: getattr(point, field.name) for field in fields(point) if field.name not in _SWEPT}
