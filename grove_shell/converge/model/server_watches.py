"""Watch fan-out: a committed change is encoded once, then sent to every watcher.

The watchers of one clique in one object are one job, with the processor time of each of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from grove_shell.converge.model.model_run_context import DOMAIN_NUMBER, ModelRunContext

_OTHER_WATCHERS: Final = 2
"""The controller and the observer that takes the times; both watch all objects."""


@dataclass(frozen=True, slots=True)
class CommittedObjectChange:
    """A change of an object.

    Attributes:
        clique: the changed one; None if only the status of the domain changed.
        view: of that clique.
        is_domain_ready: whether the status of the domain is Ready.
        size: of the object, in bytes.
    """

    object_number: int
    version: int
    clique: int | None
    view: Any
    is_domain_ready: bool
    size: int


class ServerWatches:
    """All watches of one server.

    Args:
        context: of the run.
        to_daemons: called with the numbers of daemons of one clique, the version, and their clique at that version.
        to_others: called with the change, for the controller and the observer.
    """

    def __init__(
        self,
        context: ModelRunContext,
        to_daemons: Callable[[list[int], int, Any], None],
        to_others: Callable[[CommittedObjectChange], None],
    ) -> None:
        self._participants = context.participants
        self._costs = context.costs
        self._queue = context.queue
        self._processor = context.processor
        self._counters = context.counters
        self._to_daemons, self._to_others = to_daemons, to_others
        self._wire = round(context.costs.wire_us)
        self._watchers: list[list[int]] = [[] for _ in range(context.participants.point.cliques)]

    def begin(self, daemon: int) -> None:
        """Start the watch of a daemon on its object."""
        self._watchers[self._participants.point.clique_of(daemon)].append(daemon)

    def publish(self, change: CommittedObjectChange, views: list[Any]) -> None:
        """Send a change to all watchers of the object, each with its clique among ``views``, the cliques in order."""
        cost = round(self._costs.serialise_ns_per_byte * change.size / 1000)
        recipients = [
            (view, self._watchers[clique][:])
            for view, clique in zip(views, self._participants.cliques_registered_in(change.object_number), strict=True)
            if self._watchers[clique]
        ]
        first = change.version % len(recipients) if recipients else 0
        self._processor.submit(lambda: cost, partial(self._send, change, recipients[first:] + recipients[:first]))

    def _send(self, change: CommittedObjectChange, recipients: list[tuple[Any, list[int]]]) -> None:
        each = self._costs.watcher_us + self._costs.watcher_ns_per_byte * change.size / 1000
        if change.object_number != DOMAIN_NUMBER or not self._participants.point.protocol.sharded:
            count = sum(len(daemons) for _, daemons in recipients)
            self._counters.watch_events += count
            self._counters.watch_bytes += count * change.size
        cost, handle = round(each * _OTHER_WATCHERS), partial(self._to_others, change)
        self._processor.submit(lambda: cost, partial(self._queue.schedule_after, self._wire, handle))
        for view, daemons in recipients:
            cost_of_all = round(each * len(daemons))
            handle = partial(self._to_daemons, daemons, change.version, view)
            self._processor.submit(partial(int, cost_of_all), partial(self._queue.schedule_after, self._wire, handle))
