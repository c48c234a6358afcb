"""What came of one run: times, counts, bytes and processor time, as they stand in a line of ``runs.csv``."""

from dataclasses import dataclass
from enum import Enum, unique
from math import ceil, inf

from grove_shell.converge.points import Point


@unique
class Outcome(Enum):
    """How a run ended; none is left out of a table or a picture (CV-021, CV-022)."""

    CONVERGED = "converged"
    CENSORED = "censored"
    """It was given up at its limit."""
    NOT_STORABLE = "not storable"
    """An object would have become larger than the store takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one point. Moments are seconds since the domain was made; None is what did not happen.

    Attributes:
        world: ``model`` or ``cluster``.
        setting: where and with what it was run: machine or constants, versions, what is pinned where. For captions.
        t_all_s: an observer has seen a state in which all entries are there and Ready and no index is shared.
        t_global_s: the global status says Ready.
        t_push_s: the last daemon has started its fabric daemon.
        t_views_s: of each daemon that got so far: its view shows its whole clique and no shared index. Sorted.
        writes: of daemons, that went well.
        controller_writes: the same of the controller.
        conflicts, throttled, timeouts: answers 409, 429 and 504 to daemons.
        cas_failures: comparisons inside the server that lost against another write.
        watch_events, watch_bytes: what the watches of daemons brought, their first lists not counted.
        uploaded_bytes: of all bodies that daemons sent.
        cpu_server_s, cpu_store_s: processor time of the API server, and of its store where that is known apart.
        cpu_harness_s: of whoever plays the daemons; None where nobody has to.
        object_bytes: of the largest object that daemons register in, at the end.
        managed_bytes: of its ``managedFields``.
        repicks: writes by which a daemon moved to another index.
    """

    world: str
    point: Point
    outcome: Outcome
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
    def time_s(self) -> float:
        """The headline for medians: infinite where it did not converge."""
        return inf if self.t_all_s is None else self.t_all_s

    def t_view_s(self, share: float) -> float | None:
        """The moment by which this share of all daemons had its view; None where so many never had."""
        at = max(ceil(round(share * self.point.nodes, 6)) - 1, 0)
        return self.t_views_s[at] if at < len(self.t_views_s) else None
