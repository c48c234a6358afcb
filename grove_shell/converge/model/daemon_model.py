"""One daemon, played fast: its memory in a few numbers, its decisions those of the core, each made once.

The folds are those of the core's ``after_event`` and ``after_answer`` for what can happen here: nobody takes entries
away, pods are not replaced, gates are not flipped. That they come to the same is a law (CV-003). What a daemon does is
asked of the core itself; as the answer depends on the clique's state and on four facts of the daemon, it is remembered
with the state.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grove_core.areas.domain_cliques.clique_view import entry_of_node
from grove_core.areas.domain_cliques.daemon_context import (
    DaemonContext,
    DaemonIdentity,
    DaemonState,
    FabricState,
    RegistryObservation,
)
from grove_core.areas.domain_cliques.entry_requests import entry_path
from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    DaemonAction,
    Idle,
    Post,
    Put,
    RestartFabric,
    ResultKind,
    StartFabric,
    Wait,
)
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.daemon_entry import READY, read_entries
from grove_core.resources.fields import Fields
from grove_shell.converge.model.clique_state import CliqueState, EntryState
from grove_shell.converge.model.interfaces import LocalAction, ModelWrite, WakeAt, WriteResult
from grove_shell.converge.model.participants import Participants

START_OF_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOST_DOUBLINGS: Final = 32

_JOINING: Final = "joins"
_STARTING: Final = "starts"

_Remembered = EntryState | LocalAction | int
"""An entry to write, a local deed, or the moment of the next look."""


class FastDaemonModel:
    """See the module. Moments are microseconds; those that lie behind are kept as 0."""

    __slots__ = (
        "_contested_since",
        "_fabric_ready",
        "_failures",
        "_not_before",
        "_number",
        "_object_number",
        "_participants",
        "_patient_until",
        "_retry_after",
        "_running",
        "_settled",
        "_unmade",
        "_version",
        "_view",
    )

    def __init__(self, participants: Participants, number: int, retry_after: int) -> None:
        self._participants = participants
        self._number = number
        self._object_number = participants.object_number_of(participants.point.clique_of(number))
        self._version = -1
        self._view: CliqueState | None = None
        self._settled: int | None = None
        self._running: int | None = None
        self._fabric_ready = False
        self._contested_since: int | None = None
        self._failures = 0
        self._not_before = 0
        self._patient_until = 0
        self._retry_after = retry_after
        self._unmade: _Remembered | None = None

    def sees(self, version: int, view: CliqueState | None, at: int, jitter: float) -> bool:
        """An event, or its first list. Whether it may have anything to do."""
        due = at + round(_in_micros(self._participants.settings.first_backoff) * jitter)
        self._failures = 0
        self._not_before = min(self._not_before, due) if self._not_before > at else due
        if version >= self._version:
            self._version, self._view = version, view
        self._check(at)
        if self._settled is None or self._view is None or self._contested_since is not None:
            return True
        return self._settled != self._running or self._view.entries[self._number].ready != self._fabric_ready

    def answered(self, write: ModelWrite, told: WriteResult, at: int, jitter: float) -> None:
        """The answer to its write."""
        match told.kind:
            case ResultKind.SUCCEEDED:
                self._failures = self._not_before = self._patient_until = 0
                if told.version >= self._version:
                    self._version, self._view = told.version, told.view
                self._settle(write.index, told.view, at)
            case ResultKind.TOO_MANY_REQUESTS:
                self._patient_until = at + self._retry_after
            case _:
                settings = self._participants.settings
                delay = _in_micros(settings.first_backoff) * 2 ** min(self._failures, _MOST_DOUBLINGS)
                self._failures += 1
                self._not_before = at + round(min(delay, _in_micros(settings.max_backoff)) * jitter)

    def started(self) -> None:
        """Its fabric daemon runs, with the index it has settled on."""
        self._running, self._fabric_ready = self._settled, False

    def is_ready(self) -> None:
        """Its fabric daemon says that it is ready."""
        self._fabric_ready = True

    def looks(self, at: int) -> ModelWrite | LocalAction | WakeAt:
        """What it does next."""
        if self._version < 0:
            return LocalAction.REST
        wanted = self._wanted(at)
        if isinstance(wanted, LocalAction):
            return wanted
        if isinstance(wanted, int):
            return WakeAt(wanted)
        if at < self._patient_until:
            return WakeAt(self._patient_until)
        if at < self._not_before:
            return WakeAt(self._not_before)
        before = self._view.entries.get(self._number) if self._view is not None else None
        moves = before is not None and before.index != wanted.index
        base = None if self._participants.point.protocol.uses_apply else self._version if self._view is not None else 0
        return ModelWrite(self._number, self._object_number, wanted.index, wanted.ready, moves=moves, base=base)

    def _settle(self, index: int, view: CliqueState, at: int) -> None:
        if view.holders[index] == 1 and index != self._settled:
            self._settled, self._contested_since = index, None
        self._check(at)

    def _check(self, at: int) -> None:
        """What was settled stays so while the newest state shows it; and since when somebody contests it."""
        view, settled = self._view, self._settled
        if settled is None or view is None:
            return
        if view.entries[self._number].index != settled:
            self._settled = self._contested_since = None
        elif view.holders[settled] == 1:
            self._contested_since = None
        elif self._contested_since is None:
            self._contested_since = at

    def _wanted(self, at: int) -> _Remembered:
        """What the core decides, asked at most once for each state of the clique, but for what time decides."""
        if self._contested_since is not None:
            return self._decided(at)
        if self._view is None:
            if self._unmade is None:
                self._unmade = self._decided(at)
            return self._unmade
        key = self._key(self._view)
        found: _Remembered | None = self._view.decided.get(key)
        if found is None:
            found = self._view.decided[key] = self._decided(at)
        return found

    def _key(self, view: CliqueState) -> object:
        """What the answer depends on besides the clique's state; which daemon it is only where it may have to move.

        Whoever has no entry yet gets the same index, and whoever has settled and not started waits for the same.
        """
        if self._number not in view.entries:
            return _JOINING
        if self._settled is not None and self._running is None:
            return _STARTING
        return self._number, self._settled, self._running, self._fabric_ready

    def _decided(self, at: int) -> _Remembered:
        identity = self._participants.daemons[self._number]
        action = decide(self._situation(identity, at)).verdict
        match action:
            case Apply() | Put() | Post():
                return _slot_in(action, identity, sharded=self._participants.point.protocol.sharded)
            case StartFabric() | RestartFabric():
                return LocalAction.START
            case Idle() | Wait(None):
                return LocalAction.REST
            case Wait(until) if until is not None:
                return (until - START_OF_TIME) // _MICROSECOND
            case _:
                raise BrokenInvariant("CV-003", f"in a world without losses nobody does {action}")

    def _situation(self, identity: DaemonIdentity, at: int) -> DaemonContext:
        view, since = self._view, self._contested_since
        fabric = None
        if self._running is not None and view is not None:
            fabric = FabricState(self._running, view.peers(self._participants), self._fabric_ready)
        return DaemonContext(
            identity=identity,
            settings=self._participants.settings,
            state=DaemonState(
                observed=RegistryObservation(
                    self._version, view.registry(self._participants) if view is not None else None
                ),
                settled_index=self._settled,
                contested_since=virtual_time(since) if since is not None else None,
            ),
            fabric=fabric,
            now=virtual_time(at),
        )


def virtual_time(at: int) -> datetime:
    """Virtual time as the core has it."""
    return START_OF_TIME + timedelta(microseconds=at)


def _in_micros(span: timedelta) -> int:
    return span // _MICROSECOND


def _slot_in(action: DaemonAction, identity: DaemonIdentity, *, sharded: bool) -> EntryState:
    """The daemon's own entry in what it writes."""
    path = entry_path(sharded=sharded)
    body: Any = (
        action.fields if isinstance(action, Apply) else action.manifest if isinstance(action, Put | Post) else None
    )
    part = Fields(body[path.parent] if path.parent else body, "", [])
    mine = entry_of_node(identity.node, read_entries(part, path.list_key, path.node_key))
    if mine is None or mine.index is None:
        raise BrokenInvariant(
            "CV-003", f"in a world without losses every write holds an entry, and not {FrozenMap(body)}"
        )
    return EntryState(mine.index, mine.status == READY)
