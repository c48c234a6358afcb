"""What all parts of one model run share: daemons, writes, costs, event queue, processor, rate limiters and counters."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, unique
from functools import partial
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.verdicts import RequestResultKind
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN_KIND, NVIDIA
from grove_shell.converge.model.server_costs import ModelServerCosts
from grove_shell.converge.run_parameters_and_results import ConvergenceRunParameters
from grove_shell.simulator.virtual_time import VirtualTimeQueue

CONTROLLER_NUMBER: Final = -1
"""The number of the controller among the writers; daemons are numbered from 0."""
DOMAIN_NUMBER: Final = 0
"""The number of the domain among the objects; cliques are numbered from 1."""


@dataclass(slots=True, eq=False)
class ModelWrite:
    """A write of a daemon or of the controller.

    Attributes:
        writer: number of the daemon, or ``CONTROLLER_NUMBER``.
        object_number: of the object.
        index, ready: of the daemon's entry.
        moves: whether the daemon changes its index.
        records: number of clique records, in a write of the controller.
        base: the version that the object must have, 0 if it must not exist; None for any.
        content: what else the object store needs.
    """

    writer: int
    object_number: int
    index: int = 0
    ready: bool = False
    moves: bool = False
    records: int = 0
    base: int | None = None
    content: Any = None


@unique
class DaemonActionWithoutRequest(Enum):
    """An action of a daemon without a request."""

    START = "start"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class DecideAgainAt:
    """Decide again at this time, in microseconds."""

    until: int


@dataclass(frozen=True, slots=True)
class ModelWriteResult:
    """The result of a write; after a success with the version and a view of the written object."""

    kind: RequestResultKind
    version: int = 0
    view: Any = None


NAMESPACE = "ml"
DRIVER_NAMESPACE = "dra-driver"
DOMAIN_NAME = "domain"
DOMAIN_UID = "6f1d3c52-1f0e-4a3b-9d6e-0c1a2b3c4d5e"


def numbered_clique_id(clique: int) -> str:
    """Return the id of a clique, 42 characters long as real ones."""
    return f"0b7e5a90-3c4d-4e5f-8a9b-{clique:012x}.32766"


def numbered_daemon_identity(number: int, clique: int) -> DaemonIdentity:
    """Return a daemon by its number; node names sort by number."""
    return DaemonIdentity(
        node=f"gpu-node-{number:011}",
        ip=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
        clique=numbered_clique_id(clique),
        namespace=NAMESPACE,
        domain=DOMAIN_NAME,
        domain_uid=DOMAIN_UID,
        pod_namespace=DRIVER_NAMESPACE,
        pod=f"computedomain-daemon-{DOMAIN_UID}-{number:05x}",
        pod_uid=f"5c2a7e10-9b8d-4c6f-a1e2-{number:012x}",
    )


@dataclass(frozen=True, slots=True)
class ModelDaemonsAndRegistries:
    """The daemons of a point, and the object that each of them registers in."""

    point: ConvergenceRunParameters
    settings: DaemonRegistrationSettings
    daemons: tuple[DaemonIdentity, ...]

    @property
    def domain(self) -> Ref:
        """The ComputeDomain."""
        return Ref(NVIDIA, DOMAIN_KIND, NAMESPACE, DOMAIN_NAME)

    def registry_object_number_of(self, clique: int) -> int:
        """Return the number of the object that the daemons of a clique register in."""
        return 1 + clique if self.point.protocol.sharded else DOMAIN_NUMBER

    def cliques_registered_in(self, object_number: int) -> range:
        """Return the cliques whose daemons register in an object."""
        if not self.point.protocol.sharded:
            return range(self.point.clique_count)
        return range(object_number - 1, object_number) if object_number else range(0)


def daemons_and_registries_of(point: ConvergenceRunParameters) -> ModelDaemonsAndRegistries:
    """Return the daemons of a point."""
    daemons = tuple(
        numbered_daemon_identity(number, point.clique_number_of_daemon(number)) for number in range(point.nodes)
    )
    return ModelDaemonsAndRegistries(point, point.daemon_settings, daemons)


CostOf = Callable[[], int]
OnDone = Callable[[], None]


class SimulatedProcessorCores:
    """Cores that work off jobs. The cost of a job is computed when it starts, since it may depend on the state then.

    Attributes:
        busy_us: processor time spent so far, in microseconds.
    """

    def __init__(self, queue: VirtualTimeQueue, cores: int | None) -> None:
        """Start idle.

        Args:
            queue: of events, in microseconds.
            cores: None for as many as there are jobs.
        """
        self.busy_us = 0
        self._queue = queue
        self._idle = cores
        self._jobs: deque[tuple[CostOf, OnDone]] = deque()

    def submit_job(self, cost_of: CostOf, on_done: OnDone) -> None:
        """Queue a job; ``cost_of`` returns its microseconds when a core starts it, ``on_done`` is called at its end."""
        if self._idle is None:
            self._start(cost_of, on_done)
        elif self._idle:
            self._idle -= 1
            self._start(cost_of, on_done)
        else:
            self._jobs.append((cost_of, on_done))

    def _start(self, cost_of: CostOf, on_done: OnDone) -> None:
        cost = cost_of()
        self.busy_us += cost
        self._queue.schedule_after(cost, partial(self._finish, on_done))

    def _finish(self, on_done: OnDone) -> None:
        if self._jobs:
            self._start(*self._jobs.popleft())
        elif self._idle is not None:
            self._idle += 1
        on_done()


_SECOND = 1_000_000


class VirtualRateLimiter:
    """A token bucket of one client, in microseconds; full at the start, and unlimited if the point has no rate."""

    def __init__(self, point: ConvergenceRunParameters) -> None:
        self._interval = round(_SECOND / point.rate) if point.rate else 0
        self._slack = (point.burst - 1) * self._interval
        self._due = 0

    def take_token(self, now: int) -> int:
        """Take a token; return when a request that is built now may be sent."""
        sent_at = max(now, self._due - self._slack)
        self._due = max(self._due, now) + self._interval
        return sent_at


@dataclass(slots=True)
class ModelRunCounters:
    """Counters of one run, as in :class:`grove_shell.converge.run_parameters_and_results.ConvergenceRun`."""

    writes: int = 0
    controller_writes: int = 0
    conflicts: int = 0
    throttled: int = 0
    timeouts: int = 0
    cas_failures: int = 0
    watch_events: int = 0
    watch_bytes: int = 0
    uploaded_bytes: int = 0
    repicks: int = 0


@dataclass(frozen=True, slots=True)
class ModelRunContext:
    """See the module; the event queue counts microseconds."""

    participants: ModelDaemonsAndRegistries
    costs: ModelServerCosts
    queue: VirtualTimeQueue
    processor: SimulatedProcessorCores
    counters: ModelRunCounters = field(default_factory=ModelRunCounters)


def new_model_run_context(participants: ModelDaemonsAndRegistries, costs: ModelServerCosts) -> ModelRunContext:
    """Return the context of a run that has not started."""
    queue = VirtualTimeQueue()
    return ModelRunContext(participants, costs, queue, SimulatedProcessorCores(queue, participants.point.server_cores))
