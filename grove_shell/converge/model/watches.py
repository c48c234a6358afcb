"""How a change reaches those who watch: written out once, then sent to each of them.

Watchers of one clique in one object get it together: one job for all of them, with the processor time of each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from grove_shell.converge.model.seams import DOMAIN
from grove_shell.converge.model.stage import Stage

_ONLOOKERS: Final = 2
"""The controller watches everything, and so does whoever takes the times."""


@dataclass(frozen=True, slots=True)
class News:
    """A change that was committed.

    Attributes:
        clique: the one that changed; None where only the domain's own word did.
        view: of that clique.
        says_ready: whether the domain's status says Ready.
        size: of the object, in bytes.
    """

    thing: int
    version: int
    clique: int | None
    view: Any
    says_ready: bool
    size: int


@dataclass(frozen=True, slots=True)
class Hearers:
    """Who is told.

    Attributes:
        daemons: some daemons of one clique by number, with the version, and their clique as that version shows it.
        onlookers: the controller, and whoever takes the times.
    """

    daemons: Callable[[list[int], int, Any], None]
    onlookers: Callable[[News], None]


class Watches:
    """All watches of one server."""

    def __init__(self, stage: Stage, hearers: Hearers) -> None:
        self._cast = stage.cast
        self._costs = stage.costs
        self._agenda = stage.agenda
        self._processor = stage.processor
        self._ledger = stage.ledger
        self._hearers = hearers
        self._wire = round(stage.costs.wire_us)
        self._watching: list[list[int]] = [[] for _ in range(stage.cast.point.cliques)]

    def begin(self, daemon: int) -> None:
        """A daemon watches its object from now on."""
        self._watching[self._cast.point.clique_of(daemon)].append(daemon)

    def tell(self, news: News, views: list[Any]) -> None:
        """An object was changed.

        Args:
            views: what each clique of the object is, in order.
        """
        cost = round(self._costs.serialise_ns_per_byte * news.size / 1000)
        heard = [
            (view, self._watching[clique][:])
            for view, clique in zip(views, self._cast.cliques_in(news.thing), strict=True)
            if self._watching[clique]
        ]
        first = news.version % len(heard) if heard else 0
        self._processor.submit(lambda: cost, partial(self._written_out, news, heard[first:] + heard[:first]))

    def _written_out(self, news: News, heard: list[tuple[Any, list[int]]]) -> None:
        each = self._costs.watcher_us + self._costs.watcher_ns_per_byte * news.size / 1000
        if news.thing != DOMAIN or not self._cast.point.protocol.sharded:
            count = sum(len(daemons) for _, daemons in heard)
            self._ledger.watch_events += count
            self._ledger.watch_bytes += count * news.size
        cost, told = round(each * _ONLOOKERS), partial(self._hearers.onlookers, news)
        self._processor.submit(lambda: cost, partial(self._agenda.after, self._wire, told))
        for view, daemons in heard:
            job = round(each * len(daemons))
            told = partial(self._hearers.daemons, daemons, news.version, view)
            self._processor.submit(partial(int, job), partial(self._agenda.after, self._wire, told))
