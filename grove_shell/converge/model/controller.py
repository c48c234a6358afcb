"""The controller at work: it looks after each change, and writes one thing after the other."""

from functools import partial
from typing import Final

from grove_core.areas.domain_cliques.verdicts import Reply
from grove_shell.converge.model.bucket import Bucket
from grove_shell.converge.model.seams import Chief, Told, Write
from grove_shell.converge.model.server import Server
from grove_shell.converge.model.stage import Stage
from grove_shell.converge.model.watches import News

_FIRST_DELAY: Final = 5_000
_LONGEST_DELAY: Final = 6_000_000
_MOST_DOUBLINGS: Final = 32


class Controller:
    """Changes that come while it waits or writes are looked at together."""

    def __init__(self, chief: Chief, stage: Stage, server: Server) -> None:
        self._chief = chief
        self._stage = stage
        self._server = server
        self._bucket = Bucket(stage.cast.point)
        self._busy = False
        self._again = False
        self._failures = 0

    def start(self) -> None:
        """The first look."""
        self._plan_look(_FIRST_DELAY)

    def hears(self, news: News) -> None:
        """An event of its watches."""
        self._chief.sees(news.thing, news.version, news.clique, news.view)
        self._again = True
        if not self._busy:
            self._plan_look(_FIRST_DELAY)

    def _plan_look(self, delay: int) -> None:
        self._busy, self._again = True, False
        self._stage.agenda.after(delay, self._look)

    def _look(self) -> None:
        self._again = False
        write = self._chief.looks(self._stage.agenda.now)
        if write is None:
            self._busy = False
            return
        arrives = self._bucket.take(self._stage.agenda.now) + round(self._stage.costs.wire_us)
        self._stage.agenda.at(arrives, partial(self._server.take, write, partial(self._answered, write)))

    def _answered(self, write: Write, told: Told) -> None:
        self._chief.answered(write, told)
        self._busy = False
        if told.reply is Reply.DONE:
            self._failures = 0
            if self._again:
                self._plan_look(_FIRST_DELAY)
            return
        delay = min(_FIRST_DELAY * 2 ** min(self._failures, _MOST_DOUBLINGS), _LONGEST_DELAY)
        self._failures += 1
        asked = self._stage.costs.retry_after_ms * 1_000 if told.reply is Reply.BUSY else 0
        self._plan_look(max(delay, asked))
