"""One run of the model: the daemons start, virtual time passes until no event is left, and the counts are added up."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from grove_shell.converge.model.daemon_model import DomainDaemonModel
from grove_shell.converge.model.model_object_store import CommittedObjectChange, ModelObjectStore, ModelServerWatches
from grove_shell.converge.model.model_run_context import (
    ModelDaemonsAndRegistries,
    daemons_and_registries_of,
    new_model_run_context,
)
from grove_shell.converge.model.server_costs import SIZES, ModelServerCosts, is_object_too_large
from grove_shell.converge.model.simulated_clients import (
    SECOND,
    DomainControllerModel,
    SimulatedDomainController,
    SimulatedDomainDaemon,
)
from grove_shell.converge.model.simulated_server import SimulatedApiServer
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunOutcome,
    ConvergenceRunParameters,
)

WORLD = "model"


class ConvergenceModelFactory:
    """Creates the models and the object store of a run; a test replaces them (CV-003)."""

    def create_object_store(self, participants: ModelDaemonsAndRegistries) -> ModelObjectStore:
        """Return an object store."""
        return ModelObjectStore(participants)

    def create_daemon(
        self, participants: ModelDaemonsAndRegistries, number: int, costs: ModelServerCosts
    ) -> DomainDaemonModel:
        """Return the model of a daemon."""
        return DomainDaemonModel(participants, number, costs.retry_after_ms * 1_000)

    def create_controller(
        self,
        participants: ModelDaemonsAndRegistries,
        store: ModelObjectStore,  # noqa: ARG002 - for others
    ) -> DomainControllerModel:
        """Return the model of the controller."""
        return DomainControllerModel(participants)


class ConvergenceModelRun:
    """One run; it can be run once.

    Attributes:
        daemons: by number.
        all_at: when all entries were first observed as Ready, in microseconds; None until then.
    """

    def __init__(
        self, point: ConvergenceRunParameters, costs: ModelServerCosts, parts: ConvergenceModelFactory | None = None
    ) -> None:
        parts = parts or ConvergenceModelFactory()
        participants = daemons_and_registries_of(point)
        self._point = point
        self._costs = costs
        self._context = new_model_run_context(participants, costs)
        self._store = parts.create_object_store(participants)
        watches = ModelServerWatches(self._context, self._on_daemon_event, self.on_object_change)
        self._server = SimulatedApiServer(self._context, self._store, watches)
        self.daemons = [
            SimulatedDomainDaemon(number, parts.create_daemon(participants, number, costs), self._context, self._server)
            for number in range(point.nodes)
        ]
        self._controller = SimulatedDomainController(
            parts.create_controller(participants, self._store), self._context, self._server
        )
        self._unfinished = set(range(point.clique_count))
        self.all_at: int | None = None
        self._global_at: int | None = None

    def run(self) -> ConvergenceRun:
        """Run until no event is left, or until the limit of the point."""
        queue, limit = self._context.queue, round(self._point.run_limit_s * SECOND)
        for daemon in self.daemons:
            queue.schedule(daemon.arrives_at, daemon.list_and_watch)
        self._controller.schedule_first_decision()
        while queue.next_callback_time is not None and queue.next_callback_time <= limit:
            queue.run_next()
        return self._result()

    def _on_daemon_event(self, numbers: list[int], version: int, view: Any) -> None:  # noqa: ANN401 - a view of its store
        daemons = self.daemons
        for number in numbers:
            daemons[number].on_watch_event(version, view)

    def on_object_change(self, change: CommittedObjectChange) -> None:
        """Record the times of an observer, and hand the change to the controller."""
        now = self._context.queue.now
        if change.clique is not None:
            is_whole = change.view.ready == self._point.daemon_count_of_clique(change.clique)
            is_finished = is_whole and not change.view.has_duplicates
            (self._unfinished.discard if is_finished else self._unfinished.add)(change.clique)
        if self.all_at is None and not self._unfinished:
            self.all_at = now
        if self._global_at is None and change.is_domain_ready:
            self._global_at = now
        self._controller.on_object_change(change)

    def _result(self) -> ConvergenceRun:
        pushed = [daemon.pushed_at for daemon in self.daemons if daemon.pushed_at is not None]
        viewed = [daemon.viewed_at for daemon in self.daemons if daemon.viewed_at is not None]
        most = max(self._server.entry_count_of_each_object())
        sizes = SIZES[self._point.protocol]
        return ConvergenceRun(
            world=WORLD,
            point=self._point,
            outcome=ConvergenceRunOutcome.CENSORED if self.all_at is None else ConvergenceRunOutcome.CONVERGED,
            setting=source_of_server_costs_text(self._costs),
            t_all_s=_seconds(self.all_at),
            t_global_s=_seconds(self._global_at),
            t_push_s=_seconds(max(pushed)) if len(pushed) == self._point.nodes else None,
            t_views_s=tuple(sorted(at / SECOND for at in viewed)),
            cpu_server_s=(self._context.processor.busy_us - self._server.store_us) / SECOND,
            cpu_store_s=self._server.store_us / SECOND,
            object_bytes=sizes.stored_object_bytes(most),
            managed_bytes=sizes.managed * most,
            **asdict(self._context.counters),
        )


def run_convergence_model(point: ConvergenceRunParameters, costs: ModelServerCosts) -> ConvergenceRun:
    """Run one point in the model; a point whose object the store would refuse is not run (CV-021)."""
    most = point.clique_size if point.protocol.sharded else point.nodes
    if is_object_too_large(point.protocol, min(most, point.nodes)):
        return ConvergenceRun(
            world=WORLD,
            point=point,
            outcome=ConvergenceRunOutcome.NOT_STORABLE,
            setting=source_of_server_costs_text(costs),
        )
    return ConvergenceModelRun(point, costs).run()


def source_of_server_costs_text(costs: ModelServerCosts) -> str:
    """Return the setting of model runs for captions: the source of the costs."""
    return f"virtual time, costs {costs.source}"


def _seconds(at: int | None) -> float | None:
    return None if at is None else at / SECOND


@dataclass(frozen=True, slots=True)
class ModelConvergenceRunEngine:
    """Runs points in the model; a run is a function of its point and the costs."""

    world: ClassVar[str] = WORLD
    costs: ModelServerCosts
    max_parallel: int

    @property
    def setting(self) -> str:
        """The source of the costs."""
        return source_of_server_costs_text(self.costs)

    def run_point(self, point: ConvergenceRunParameters) -> ConvergenceRun:
        """Run one point."""
        return run_convergence_model(point, self.costs)
