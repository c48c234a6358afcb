"""How a change reaches those who watch: written out once, then sent to each of them.

Watchers of one clique in one object get it together: one job for all of them, with the processor time of each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from grove_shell.converge.model.interfaces import DOMAIN_NUMBER
from grove_shell.converge.model.model_context import ModelContext

_ONLOOKERS: Final = 2
"""The controller watches everything, and so does whoever takes the times."""


@dataclass(frozen=True, slots=True)
class CommittedChange:
    """A change that was committed.

    Attributes:
        clique: the one that changed; None where only the domain's own word did.
        view: of that clique.
        says_ready: whether the domain's status says Ready.
        size: of the object, in bytes.
    """

    object_number: int
    version: int
    clique: int | None
    view: Any
    says_ready: bool
    size: int


@dataclass(frozen=True, slots=True)
class WatchHandlers:
    """Who is told.

    Attributes:
        daemons: some daemons of one clique by number, with the version, and their clique as that version shows it.
        onlookers: the controller, and whoever takes the times.
    """

    daemons: Callable[[list[int], int, Any], None]
    onlookers: Callable[[CommittedChange], None]


class Watches:
    """All watches of one server."""

    def __init__(self, context: ModelContext, hearers: WatchHandlers) -> None:
        self._participants = context.participants
        self._costs = context.costs
        self._agenda = context.agenda
        self._processor = context.processor
        self._counters = context.counters
        self._hearers = hearers
        self._wire = round(context.costs.wire_us)
        self._watching: list[list[int]] = [[] for _ in range(context.participants.point.cliques)]

    def begin(self, daemon: int) -> None:
        """A daemon watches its object from now on."""
        self._watching[self._participants.point.clique_of(daemon)].append(daemon)

    def tell(self, news: CommittedChange, views: list[Any]) -> None:
        """An object was changed.

        Args:
            views: what each clique of the object is, in order.
        """
        cost = round(self._costs.serialise_ns_per_byte * news.size / 1000)
        heard = [
            (view, self._watching[clique][:])
            for view, clique in zip(views, self._participants.cliques_in(news.object_number), strict=True)
            if self._watching[clique]
        ]
        first = news.version % len(heard) if heard else 0
        self._processor.submit(lambda: cost, partial(self._written_out, news, heard[first:] + heard[:first]))

    def _written_out(self, news: CommittedChange, heard: list[tuple[Any, list[int]]]) -> None:
        each = self._costs.watcher_us + self._costs.watcher_ns_per_byte * news.size / 1000
        if news.object_number != DOMAIN_NUMBER or not self._participants.point.protocol.sharded:
            count = sum(len(daemons) for _, daemons in heard)
            self._counters.watch_events += count
            self._counters.watch_bytes += count * news.size
        cost, told = round(each * _ONLOOKERS), partial(self._hearers.onlookers, news)
        self._processor.submit(lambda: cost, partial(self._agenda.schedule_after, self._wire, told))
        for view, daemons in heard:
            job = round(each * len(daemons))
            told = partial(self._hearers.daemons, daemons, news.version, view)
            self._processor.submit(partial(int, job), partial(self._agenda.schedule_after, self._wire, told))
