"""One run of the model: the daemons start, virtual time passes until no event is left, and the counts are added up."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from grove_shell.converge.model.daemon_model import DaemonModel
from grove_shell.converge.model.model_object_store import CommittedObjectChange, ModelObjectStore, ServerWatches
from grove_shell.converge.model.model_run_context import (
    DaemonsAndRegistries,
    daemons_and_registries_of,
    new_model_run_context,
)
from grove_shell.converge.model.server_costs import SIZES, ServerCosts, is_object_too_large
from grove_shell.converge.model.simulated_clients import SECOND, ControllerModel, SimulatedController, SimulatedDaemon
from grove_shell.converge.model.simulated_server import SimulatedServer
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, RunOutcome, RunParameters

WORLD = "model"


class ModelPartsFactory:
    """Creates the models and the object store of a run; a test replaces them (CV-003)."""

    def store(self, participants: DaemonsAndRegistries) -> ModelObjectStore:
        """Return an object store."""
        return ModelObjectStore(participants)

    def daemon(self, participants: DaemonsAndRegistries, number: int, costs: ServerCosts) -> DaemonModel:
        """Return the model of a daemon."""
        return DaemonModel(participants, number, costs.retry_after_ms * 1_000)

    def controller(self, participants: DaemonsAndRegistries, store: ModelObjectStore) -> ControllerModel:  # noqa: ARG002 - for others
        """Return the model of the controller."""
        return ControllerModel(participants)


class ConvergenceModelRun:
    """One run; it can be run once.

    Attributes:
        daemons: by number.
        all_at: when all entries were first observed as Ready, in microseconds; None until then.
    """

    def __init__(self, point: RunParameters, costs: ServerCosts, parts: ModelPartsFactory | None = None) -> None:
        parts = parts or ModelPartsFactory()
        participants = daemons_and_registries_of(point)
        self._point = point
        self._costs = costs
        self._context = new_model_run_context(participants, costs)
        self._store = parts.store(participants)
        watches = ServerWatches(self._context, self._on_daemon_event, self.on_change)
        self._server = SimulatedServer(self._context, self._store, watches)
        self.daemons = [
            SimulatedDaemon(number, parts.daemon(participants, number, costs), self._context, self._server)
            for number in range(point.nodes)
        ]
        self._controller = SimulatedController(parts.controller(participants, self._store), self._context, self._server)
        self._unfinished = set(range(point.cliques))
        self.all_at: int | None = None
        self._global_at: int | None = None

    def run(self) -> ConvergenceRun:
        """Run until no event is left, or until the limit of the point."""
        queue, limit = self._context.queue, round(self._point.run_limit_s * SECOND)
        for daemon in self.daemons:
            queue.schedule(daemon.arrives_at, daemon.start)
        self._controller.start()
        while queue.next_callback_time is not None and queue.next_callback_time <= limit:
            queue.run_next()
        return self._result()

    def _on_daemon_event(self, numbers: list[int], version: int, view: Any) -> None:  # noqa: ANN401 - a view of its store
        daemons = self.daemons
        for number in numbers:
            daemons[number].on_event(version, view)

    def on_change(self, change: CommittedObjectChange) -> None:
        """Record the times of an observer, and hand the change to the controller."""
        now = self._context.queue.now
        if change.clique is not None:
            is_whole = change.view.ready == self._point.clique_size_of(change.clique)
            is_finished = is_whole and not change.view.has_duplicates
            (self._unfinished.discard if is_finished else self._unfinished.add)(change.clique)
        if self.all_at is None and not self._unfinished:
            self.all_at = now
        if self._global_at is None and change.is_domain_ready:
            self._global_at = now
        self._controller.on_change(change)

    def _result(self) -> ConvergenceRun:
        pushed = [daemon.pushed_at for daemon in self.daemons if daemon.pushed_at is not None]
        viewed = [daemon.viewed_at for daemon in self.daemons if daemon.viewed_at is not None]
        most = max(self._server.entry_counts())
        sizes = SIZES[self._point.protocol]
        return ConvergenceRun(
            world=WORLD,
            point=self._point,
            outcome=RunOutcome.CENSORED if self.all_at is None else RunOutcome.CONVERGED,
            setting=cost_source_text(self._costs),
            t_all_s=_seconds(self.all_at),
            t_global_s=_seconds(self._global_at),
            t_push_s=_seconds(max(pushed)) if len(pushed) == self._point.nodes else None,
            t_views_s=tuple(sorted(at / SECOND for at in viewed)),
            cpu_server_s=(self._context.processor.busy_us - self._server.store_us) / SECOND,
            cpu_store_s=self._server.store_us / SECOND,
            object_bytes=sizes.stored(most),
            managed_bytes=sizes.managed * most,
            **asdict(self._context.counters),
        )


def run_in_model(point: RunParameters, costs: ServerCosts) -> ConvergenceRun:
    """Run one point in the model; a point whose object the store would refuse is not run (CV-021)."""
    most = point.clique_size if point.protocol.sharded else point.nodes
    if is_object_too_large(point.protocol, min(most, point.nodes)):
        return ConvergenceRun(
            world=WORLD, point=point, outcome=RunOutcome.NOT_STORABLE, setting=cost_source_text(costs)
        )
    return ConvergenceModelRun(point, costs).run()


def cost_source_text(costs: ServerCosts) -> str:
    """Return the setting of model runs for captions: the source of the costs."""
    return f"virtual time, costs {costs.source}"


def _seconds(at: int | None) -> float | None:
    return None if at is None else at / SECOND


@dataclass(frozen=True, slots=True)
class ModelRunEngine:
    """Runs points in the model; a run is a function of its point and the costs."""

    world: ClassVar[str] = WORLD
    costs: ServerCosts
    max_parallel: int

    @property
    def setting(self) -> str:
        """The source of the costs."""
        return cost_source_text(self.costs)

    def run(self, point: RunParameters) -> ConvergenceRun:
        """Run one point."""
        return run_in_model(point, self.costs)
