"""The stored objects of a model run, with a version for each and the state of each clique; and watches on them.

A state of a clique is everything that a decision of one of its daemons depends on. Entries of other cliques in the same
object only change the version that a daemon writes at (DC-066). So one state is shared by all versions until the clique
changes, with the decisions cached in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import nvlink_clique_daemons_of
from grove_core.areas.domain_cliques.daemon.verdicts import PeerMap
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.compute_domain import NOT_READY, READY, ComputeDomain, ComputeDomainClique, DaemonEntry
from grove_core.resources.daemon_entry_lists import DaemonRegistry, daemon_entries_path
from grove_shell.converge.model.model_run_context import (
    CONTROLLER_NUMBER,
    DOMAIN_NUMBER,
    DOMAIN_UID,
    ModelDaemonsAndRegistries,
    ModelRunContext,
    ModelWrite,
)


@dataclass(frozen=True, slots=True)
class DaemonEntryIndexAndReadiness:
    """The index and readiness of a daemon's entry."""

    index: int
    ready: bool


class ModelNvlinkCliqueState:
    """An immutable state of a clique.

    Attributes:
        entries: by the number of the daemon.
        count, ready: number of all and of Ready entries.
        has_duplicates: whether two entries have one index.
        holders: the number of daemons with each index.
        decisions: cache of decisions on this state, by everything else that a decision depends on.
    """

    def __init__(self, entries: Mapping[int, DaemonEntryIndexAndReadiness]) -> None:
        self.entries = entries
        holders: dict[int, int] = {}
        for entry in entries.values():
            holders[entry.index] = holders.get(entry.index, 0) + 1
        self.holders = holders
        self.count = len(entries)
        self.ready = sum(entry.ready for entry in entries.values())
        self.has_duplicates = len(holders) < self.count
        self.decisions: dict[Any, Any] = {}
        self._registry: DaemonRegistry | None = None
        self._peers: PeerMap | None = None

    def with_daemon_entry(self, daemon: int, entry: DaemonEntryIndexAndReadiness) -> "ModelNvlinkCliqueState":
        """Return the state after a daemon wrote its entry."""
        return ModelNvlinkCliqueState({**self.entries, daemon: entry})

    def as_registry(self, participants: ModelDaemonsAndRegistries) -> DaemonRegistry:
        """Return a registry with this clique alone."""
        if self._registry is None:
            self._registry = _registry_of(self.entries, participants)
        return self._registry

    def peer_map(self, participants: ModelDaemonsAndRegistries) -> PeerMap:
        """Return the peer map of its daemons, which is the same for all without duplicate indices."""
        if self._peers is None:
            first = participants.daemons[next(iter(self.entries))]
            self._peers = nvlink_clique_daemons_of(first, self.as_registry(participants)).peer_map(
                participants.point.limit
            )
        return self._peers


def _registry_of(
    entries: Mapping[int, DaemonEntryIndexAndReadiness], participants: ModelDaemonsAndRegistries
) -> DaemonRegistry:
    path = daemon_entries_path(sharded=participants.point.protocol.sharded)
    found = []
    for number, entry in sorted(entries.items()):
        identity = participants.daemons[number]
        found.append(
            DaemonEntry(identity.node, identity.ip, identity.clique, entry.index, READY if entry.ready else NOT_READY)
        )
    stored = EMPTY  # only read-modify-write looks at the stored object
    if not participants.point.protocol.uses_apply:
        items = tuple(entry.as_json(path.node_key) for entry in found)
        stored = path.fields_with_entries(items, FrozenMap({"metadata": EMPTY}))
    if not participants.point.protocol.sharded:
        return ComputeDomain(ref=participants.domain, uid=DOMAIN_UID, nodes=tuple(found), stored=stored)
    identity = participants.daemons[next(iter(entries))]
    return ComputeDomainClique(
        ref=identity.registry_ref(sharded=True),
        uid="clique",
        domain_uid=DOMAIN_UID,
        clique=identity.clique,
        owners=tuple(participants.daemons[number].pod_uid for number in entries),
        daemons=tuple(found),
        stored=stored,
    )


class ModelObjectStore:
    """Keeps only what decisions depend on; all objects share one version counter."""

    def __init__(self, participants: ModelDaemonsAndRegistries) -> None:
        self._participants = participants
        self._latest = 1
        self._versions = [0] * (1 + participants.point.clique_count)
        self._versions[DOMAIN_NUMBER] = 1
        self._states = [ModelNvlinkCliqueState({}) for _ in range(participants.point.clique_count)]
        self._status: object = None
        self._ready = False

    def version_of_object(self, object_number: int) -> int:
        """Return the version of an object; 0 if it does not exist."""
        return self._versions[object_number]

    @property
    def latest_version(self) -> int:
        """The latest version of the whole store."""
        return self._latest

    def clique_view(self, object_number: int, clique: int) -> ModelNvlinkCliqueState | None:
        """Return a clique as an object shows it; None if the object does not exist."""
        return self._states[clique] if self._versions[object_number] else None

    def changes_anything(self, write: ModelWrite) -> bool:
        """Return whether a write changes anything."""
        if write.writer == CONTROLLER_NUMBER:
            return bool(write.content != self._status)
        state = self._states[self._participants.point.clique_number_of_daemon(write.writer)]
        return state.entries.get(write.writer) != DaemonEntryIndexAndReadiness(write.index, write.ready)

    def apply_write(self, write: ModelWrite) -> None:
        """Store a write as a new version."""
        self._latest += 1
        self._versions[write.object_number] = self._latest
        if write.writer == CONTROLLER_NUMBER:
            self._status, self._ready = write.content, write.ready
            return
        clique = self._participants.point.clique_number_of_daemon(write.writer)
        entry = DaemonEntryIndexAndReadiness(write.index, write.ready)
        self._states[clique] = self._states[clique].with_daemon_entry(write.writer, entry)

    def is_domain_ready(self) -> bool:
        """Return whether the stored status of the domain is Ready."""
        return self._ready


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


class ModelServerWatches:
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
        self._watchers: list[list[int]] = [[] for _ in range(context.participants.point.clique_count)]

    def start_watch(self, daemon: int) -> None:
        """Start the watch of a daemon on its object."""
        self._watchers[self._participants.point.clique_number_of_daemon(daemon)].append(daemon)

    def send_change_to_watchers(self, change: CommittedObjectChange, views: list[Any]) -> None:
        """Send a change to all watchers of the object, each with its clique among ``views``, the cliques in order."""
        cost = round(self._costs.serialise_ns_per_byte * change.size / 1000)
        recipients = [
            (view, self._watchers[clique][:])
            for view, clique in zip(views, self._participants.cliques_registered_in(change.object_number), strict=True)
            if self._watchers[clique]
        ]
        first = change.version % len(recipients) if recipients else 0
        self._processor.submit_job(lambda: cost, partial(self._send, change, recipients[first:] + recipients[:first]))

    def _send(self, change: CommittedObjectChange, recipients: list[tuple[Any, list[int]]]) -> None:
        each = self._costs.watcher_us + self._costs.watcher_ns_per_byte * change.size / 1000
        if change.object_number != DOMAIN_NUMBER or not self._participants.point.protocol.sharded:
            count = sum(len(daemons) for _, daemons in recipients)
            self._counters.watch_events += count
            self._counters.watch_bytes += count * change.size
        cost, handle = round(each * _OTHER_WATCHERS), partial(self._to_others, change)
        self._processor.submit_job(lambda: cost, partial(self._queue.schedule_after, self._wire, handle))
        for view, daemons in recipients:
            cost_of_all = round(each * len(daemons))
            handle = partial(self._to_daemons, daemons, change.version, view)
            self._processor.submit_job(
                partial(int, cost_of_all), partial(self._queue.schedule_after, self._wire, handle)
            )
