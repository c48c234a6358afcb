"""One experiment, said whole: every parameter that its outcome may depend on, and that a caption has to name."""

from dataclasses import dataclass, fields
from math import ceil
from typing import Final

from grove_core.areas.domain_cliques.protocols import NODES_PER_RACK, DaemonSettings, Protocol

RUN_LIMIT_S: Final = 600.0
"""After which a run is given up, and shown as such (CV-021)."""
_SWEPT: Final = frozenset({"protocol", "nodes", "clique_size", "limit", "seed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run of one experiment; two runs of equal points of one world may only differ by chance of the world.

    Attributes:
        nodes: how many daemons there are, one on each node.
        clique_size: of all cliques but the last, which has what is left.
        limit: of the indices in a clique.
        seed: of everything drawn, the same for all protocols; the number of the repetition.
        arrival_s: each daemon starts at a moment drawn evenly from 0 to this, in seconds.
        readiness_s: a fabric daemon is ready after a time drawn evenly from this to twice this, in seconds.
        rate, burst: requests a second of each client, and how many at once after a rest; it waits after it has built
            the request. A rate of 0 is no limiter.
        server_cores: processor cores that the server and its store have for themselves; None where nothing limits them.
        run_limit_s: after which the run is given up, in seconds.
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
        """How many cliques there are."""
        return ceil(self.nodes / self.clique_size)

    @property
    def settings(self) -> DaemonSettings:
        """How its daemons register: without pods, and with no gate that could be flipped."""
        return DaemonSettings(protocol=self.protocol, limit=self.limit, has_pods=False, reads_other_registry=False)

    def clique_of(self, daemon: int) -> int:
        """The number of the clique of a daemon; both from 0."""
        return daemon // self.clique_size

    def size_of(self, clique: int) -> int:
        """How many daemons a clique has."""
        return min(self.clique_size, self.nodes - clique * self.clique_size)


def shared_parameters(point: Point) -> dict[str, object]:
    """The parameters that all runs of one file share (CV-035): all but those that curves and sweeps go over."""
    return {field.name: getattr(point, field.name) for field in fields(point) if field.name not in _SWEPT}
