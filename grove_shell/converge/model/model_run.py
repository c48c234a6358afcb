"""One run of the model: everybody starts, virtual time passes until nothing is left to happen, and all is added up."""

from dataclasses import asdict
from typing import Any

from grove_shell.converge.model.controller_model import FastControllerModel
from grove_shell.converge.model.costs import Costs
from grove_shell.converge.model.daemon_model import FastDaemonModel
from grove_shell.converge.model.interfaces import ControllerModel, DaemonModel, ObjectStore
from grove_shell.converge.model.model_context import model_context_of
from grove_shell.converge.model.object_store import FastObjectStore
from grove_shell.converge.model.participants import Participants, participants_of
from grove_shell.converge.model.simulated_controller import SimulatedController
from grove_shell.converge.model.simulated_daemon import SECOND, SimulatedDaemon
from grove_shell.converge.model.simulated_server import SimulatedServer
from grove_shell.converge.model.sizes import SIZES, too_large
from grove_shell.converge.model.watches import CommittedChange, Watches, WatchHandlers
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Outcome, Run

WORLD = "model"


class ModelParts:
    """Who decides and who keeps the objects; the quick ones, unless somebody else is wanted (see :mod:`seams`)."""

    def store(self, participants: Participants) -> ObjectStore:
        """The objects."""
        return FastObjectStore(participants)

    def mind(self, participants: Participants, number: int, costs: Costs) -> DaemonModel:
        """A daemon."""
        return FastDaemonModel(participants, number, costs.retry_after_ms * 1_000)

    def controller(self, participants: Participants, store: ObjectStore) -> ControllerModel:  # noqa: ARG002 - others look at the objects themselves
        """The controller."""
        return FastControllerModel(participants)


class ModelRun:
    """See the module; played once.

    Attributes:
        workers: the daemons, by number.
        all_at: when all was seen to be Ready, in microseconds; None until then.
    """

    def __init__(self, point: Point, costs: Costs, troupe: ModelParts | None = None) -> None:
        troupe = troupe or ModelParts()
        participants = participants_of(point)
        self._point = point
        self._costs = costs
        self._context = model_context_of(participants, costs)
        self._store = troupe.store(participants)
        watches = Watches(self._context, WatchHandlers(self._daemons_hear, self.onlookers_hear))
        self._server = SimulatedServer(self._context, self._store, watches)
        self.workers = [
            SimulatedDaemon(number, troupe.mind(participants, number, costs), self._context, self._server)
            for number in range(point.nodes)
        ]
        self._controller = SimulatedController(
            troupe.controller(participants, self._store), self._context, self._server
        )
        self._unfinished = set(range(point.cliques))
        self.all_at: int | None = None
        self._global_at: int | None = None

    def run(self) -> Run:
        """Play it to its end, or to its limit."""
        agenda, limit = self._context.agenda, round(self._point.run_limit_s * SECOND)
        for worker in self.workers:
            agenda.schedule(worker.arrives_at, worker.start)
        self._controller.start()
        while agenda.next_at is not None and agenda.next_at <= limit:
            agenda.run_next()
        return self._added_up()

    def _daemons_hear(self, daemons: list[int], version: int, view: Any) -> None:  # noqa: ANN401 - see seams
        workers = self.workers
        for number in daemons:
            workers[number].hears(version, view)

    def onlookers_hear(self, news: CommittedChange) -> None:
        """The controller, and whoever takes the times, see a change."""
        now = self._context.agenda.now
        if news.clique is not None:
            done = news.view.ready == self._point.size_of(news.clique) and not news.view.shared
            (self._unfinished.discard if done else self._unfinished.add)(news.clique)
        if self.all_at is None and not self._unfinished:
            self.all_at = now
        if self._global_at is None and news.says_ready:
            self._global_at = now
        self._controller.hears(news)

    def _added_up(self) -> Run:
        pushed = [worker.pushed_at for worker in self.workers if worker.pushed_at is not None]
        viewed = [worker.viewed_at for worker in self.workers if worker.viewed_at is not None]
        counts = self._server.counts_of_registers()
        sizes = SIZES[self._point.protocol]
        return Run(
            world=WORLD,
            point=self._point,
            outcome=Outcome.CENSORED if self.all_at is None else Outcome.CONVERGED,
            setting=setting_of(self._costs),
            t_all_s=_seconds(self.all_at),
            t_global_s=_seconds(self._global_at),
            t_push_s=_seconds(max(pushed)) if len(pushed) == self._point.nodes else None,
            t_views_s=tuple(sorted(at / SECOND for at in viewed)),
            cpu_server_s=(self._context.processor.busy_us - self._server.store_us) / SECOND,
            cpu_store_s=self._server.store_us / SECOND,
            object_bytes=sizes.stored(max(counts)),
            managed_bytes=sizes.managed * max(counts),
            **asdict(self._context.counters),
        )


def run_point(point: Point, costs: Costs) -> Run:
    """A run of the model; where the objects would not fit into the store, the word that they do not (CV-022)."""
    most = point.clique_size if point.protocol.sharded else point.nodes
    if too_large(point.protocol, min(most, point.nodes)):
        return Run(world=WORLD, point=point, outcome=Outcome.NOT_STORABLE, setting=setting_of(costs))
    return ModelRun(point, costs).run()


def setting_of(costs: Costs) -> str:
    """What a caption says of where it was run."""
    return f"virtual time, costs {costs.source}"


def _seconds(moment: int | None) -> float | None:
    return None if moment is None else moment / SECOND
