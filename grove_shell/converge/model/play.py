"""One run of the model: everybody starts, virtual time passes until nothing is left to happen, and all is added up."""

from dataclasses import asdict
from typing import Any

from grove_shell.converge.model.cast import Cast, cast_of
from grove_shell.converge.model.chief import QuickChief
from grove_shell.converge.model.controller import Controller
from grove_shell.converge.model.costs import Costs
from grove_shell.converge.model.mind import QuickMind
from grove_shell.converge.model.seams import Chief, Mind, Store
from grove_shell.converge.model.server import Server
from grove_shell.converge.model.shelf import Shelf
from grove_shell.converge.model.sizes import SIZES, too_large
from grove_shell.converge.model.stage import stage_for
from grove_shell.converge.model.watches import Hearers, News, Watches
from grove_shell.converge.model.worker import SECOND, Worker
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Outcome, Run

WORLD = "model"


class Troupe:
    """Who decides and who keeps the objects; the quick ones, unless somebody else is wanted (see :mod:`seams`)."""

    def store(self, cast: Cast) -> Store:
        """The objects."""
        return Shelf(cast)

    def mind(self, cast: Cast, number: int, costs: Costs) -> Mind:
        """A daemon."""
        return QuickMind(cast, number, costs.retry_after_ms * 1_000)

    def chief(self, cast: Cast, store: Store) -> Chief:  # noqa: ARG002 - others look at the objects themselves
        """The controller."""
        return QuickChief(cast)


class Play:
    """See the module; played once.

    Attributes:
        workers: the daemons, by number.
        all_at: when all was seen to be Ready, in microseconds; None until then.
    """

    def __init__(self, point: Point, costs: Costs, troupe: Troupe | None = None) -> None:
        troupe = troupe or Troupe()
        cast = cast_of(point)
        self._point = point
        self._costs = costs
        self._stage = stage_for(cast, costs)
        self._store = troupe.store(cast)
        watches = Watches(self._stage, Hearers(self._daemons_hear, self.onlookers_hear))
        self._server = Server(self._stage, self._store, watches)
        self.workers = [
            Worker(number, troupe.mind(cast, number, costs), self._stage, self._server) for number in range(point.nodes)
        ]
        self._controller = Controller(troupe.chief(cast, self._store), self._stage, self._server)
        self._unfinished = set(range(point.cliques))
        self.all_at: int | None = None
        self._global_at: int | None = None

    def run(self) -> Run:
        """Play it to its end, or to its limit."""
        agenda, limit = self._stage.agenda, round(self._point.run_limit_s * SECOND)
        for worker in self.workers:
            agenda.at(worker.arrives_at, worker.start)
        self._controller.start()
        while agenda.following is not None and agenda.following <= limit:
            agenda.step()
        return self._added_up()

    def _daemons_hear(self, daemons: list[int], version: int, view: Any) -> None:  # noqa: ANN401 - see seams
        workers = self.workers
        for number in daemons:
            workers[number].hears(version, view)

    def onlookers_hear(self, news: News) -> None:
        """The controller, and whoever takes the times, see a change."""
        now = self._stage.agenda.now
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
            cpu_server_s=(self._stage.processor.busy_us - self._server.store_us) / SECOND,
            cpu_store_s=self._server.store_us / SECOND,
            object_bytes=sizes.stored(max(counts)),
            managed_bytes=sizes.managed * max(counts),
            **asdict(self._stage.ledger),
        )


def played(point: Point, costs: Costs) -> Run:
    """A run of the model; where the objects would not fit into the store, the word that they do not (CV-022)."""
    most = point.clique_size if point.protocol.sharded else point.nodes
    if too_large(point.protocol, min(most, point.nodes)):
        return Run(world=WORLD, point=point, outcome=Outcome.NOT_STORABLE, setting=setting_of(costs))
    return Play(point, costs).run()


def setting_of(costs: Costs) -> str:
    """What a caption says of where it was run."""
    return f"virtual time, costs {costs.source}"


def _seconds(moment: int | None) -> float | None:
    return None if moment is None else moment / SECOND
