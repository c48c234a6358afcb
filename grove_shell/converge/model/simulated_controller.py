"""The controller at work: it looks after each change, and writes one thing after the other."""

from functools import partial
from typing import Final

from grove_core.areas.domain_cliques.verdicts import ResultKind
from grove_shell.converge.model.interfaces import ControllerModel, ModelWrite, WriteResult
from grove_shell.converge.model.model_context import ModelContext
from grove_shell.converge.model.simulated_server import SimulatedServer
from grove_shell.converge.model.virtual_limiter import VirtualLimiter
from grove_shell.converge.model.watches import CommittedChange

_FIRST_DELAY: Final = 5_000
_LONGEST_DELAY: Final = 6_000_000
_MOST_DOUBLINGS: Final = 32


class SimulatedController:
    """Changes that come while it waits or writes are looked at together."""

    def __init__(self, controller: ControllerModel, context: ModelContext, server: SimulatedServer) -> None:
        self._model = controller
        self._context = context
        self._server = server
        self._bucket = VirtualLimiter(context.participants.point)
        self._busy = False
        self._again = False
        self._failures = 0

    def start(self) -> None:
        """The first look."""
        self._plan_look(_FIRST_DELAY)

    def hears(self, news: CommittedChange) -> None:
        """An event of its watches."""
        self._model.sees(news.object_number, news.version, news.clique, news.view)
        self._again = True
        if not self._busy:
            self._plan_look(_FIRST_DELAY)

    def _plan_look(self, delay: int) -> None:
        self._busy, self._again = True, False
        self._context.agenda.schedule_after(delay, self._look)

    def _look(self) -> None:
        self._again = False
        write = self._model.looks(self._context.agenda.now)
        if write is None:
            self._busy = False
            return
        arrives = self._bucket.take(self._context.agenda.now) + round(self._context.costs.wire_us)
        self._context.agenda.schedule(arrives, partial(self._server.take, write, partial(self._answered, write)))

    def _answered(self, write: ModelWrite, told: WriteResult) -> None:
        self._model.answered(write, told)
        self._busy = False
        if told.kind is ResultKind.SUCCEEDED:
            self._failures = 0
            if self._again:
                self._plan_look(_FIRST_DELAY)
            return
        delay = min(_FIRST_DELAY * 2 ** min(self._failures, _MOST_DOUBLINGS), _LONGEST_DELAY)
        self._failures += 1
        asked = self._context.costs.retry_after_ms * 1_000 if told.kind is ResultKind.TOO_MANY_REQUESTS else 0
        self._plan_look(max(delay, asked))
