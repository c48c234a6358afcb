"""The result of one run: times, counts, bytes and processor time, as in a line of ``runs.csv``."""

from dataclasses import dataclass
from enum import Enum, unique
from math import ceil, inf

from grove_shell.converge.points import Point


@unique
class Outcome(Enum):
    """How a run ended; tables and pictures show every outcome (CV-021)."""

    CONVERGED = "converged"
    CENSORED = "censored"
    """It was aborted at its time limit."""
    NOT_STORABLE = "not storable"
    """It was not run: an object would be larger than the store accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
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
        """Time to convergence for medians; infinite if it did not converge."""
        return inf if self.t_all_s is None else self.t_all_s

    def t_view_s(self, share: float) -> float | None:
        """Return when this share of all daemons had observed its clique; None if fewer ever did."""
        at = max(ceil(round(share * self.point.nodes, 6)) - 1, 0)
        return self.t_views_s[at] if at < len(self.t_views_s) else None
