"""A daemon of the model: its state as a few numbers, its decisions those of the core, cached.

The state is updated as by ``registration_state_after_event`` and ``registration_state_after_result`` of the core, for
what can happen here: entries are not removed, pods are not replaced, feature gates are not flipped. A law states that
both lead to the same run (CV-003). The core makes each decision. A decision depends on the state of the clique and on
four facts of the daemon, so it is cached with the state of the clique.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final, assert_never

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    DaemonInput,
    FabricDaemonState,
    ObservedDaemonRegistry,
    RegistrationState,
    daemon_entry_of_node,
)
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    DaemonAction,
    IdleAction,
    PostRequest,
    PutRequest,
    RequestResultKind,
    RestartFabricAction,
    StartFabricAction,
    WaitAction,
)
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.compute_domain import READY, read_daemon_entries
from grove_core.resources.daemon_entry_lists import daemon_entries_path
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_shell.converge.model.model_object_store import DaemonEntryIndexAndReadiness, ModelNvlinkCliqueState
from grove_shell.converge.model.model_run_context import (
    DaemonActionWithoutRequest,
    DecideAgainAt,
    ModelDaemonsAndRegistries,
    ModelWrite,
    ModelWriteResult,
)

START_OF_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MAX_DOUBLINGS: Final = 32

_JOINING: Final = "joins"
_STARTING: Final = "starts"

_CachedAction = DaemonEntryIndexAndReadiness | DaemonActionWithoutRequest | int
"""An entry to write, a local action, or the time of the next decision."""


class DomainDaemonModel:
    """State and decisions of one daemon. Times are in microseconds; ``jitter`` is a factor around 1."""

    def __init__(self, participants: ModelDaemonsAndRegistries, number: int, retry_after: int) -> None:
        self._participants = participants
        self._number = number
        self._object_number = participants.registry_object_number_of(participants.point.clique_number_of_daemon(number))
        self._version = -1
        self._view: ModelNvlinkCliqueState | None = None
        self._settled_index: int | None = None
        self._running_index: int | None = None
        self._fabric_ready = False
        self._contested_since: int | None = None
        self._failures = 0
        self._not_before = 0
        self._throttled_until = 0
        self._retry_after = retry_after
        self._first_action: _CachedAction | None = None

    def on_watch_event(self, version: int, view: ModelNvlinkCliqueState | None, at: int, jitter: float) -> bool:
        """Apply a watch event or the first list; return whether the daemon has to decide.

        Args:
            version: of the object in the event.
            view: of the daemon's clique; None without an object.
            at: the time of the model, in microseconds.
            jitter: a random factor around 1 for the first backoff.
        """
        due = at + round(_in_micros(self._participants.settings.first_backoff) * jitter)
        self._failures = 0
        self._not_before = min(self._not_before, due) if self._not_before > at else due
        if version >= self._version:
            self._version, self._view = version, view
        self._check(at)
        if self._settled_index is None or self._view is None or self._contested_since is not None:
            return True
        is_running = self._settled_index == self._running_index
        return not is_running or self._view.entries[self._number].ready != self._fabric_ready

    def on_write_result(self, write: ModelWrite, result: ModelWriteResult, at: int, jitter: float) -> None:
        """Apply the result of the daemon's write.

        Args:
            at: the time of the model, in microseconds.
            jitter: a random factor around 1 for the backoff after a failure.
        """
        match result.kind:
            case RequestResultKind.SUCCEEDED:
                self._failures = self._not_before = self._throttled_until = 0
                if result.version >= self._version:
                    self._version, self._view = result.version, result.view
                self._settle(write.index, result.view, at)
            case RequestResultKind.TOO_MANY_REQUESTS:
                self._throttled_until = at + self._retry_after
            case (
                RequestResultKind.CONFLICT
                | RequestResultKind.FIELD_CONFLICT
                | RequestResultKind.NOT_FOUND
                | RequestResultKind.NO_RESPONSE
                | RequestResultKind.REFUSED
            ):
                settings = self._participants.settings
                delay = _in_micros(settings.first_backoff) * 2 ** min(self._failures, _MAX_DOUBLINGS)
                self._failures += 1
                self._not_before = at + round(min(delay, _in_micros(settings.max_backoff)) * jitter)
            case _:
                assert_never(result.kind)

    def on_fabric_start(self) -> None:
        """Note that its fabric daemon was started or restarted, and is not ready yet."""
        self._running_index, self._fabric_ready = self._settled_index, False

    def on_fabric_ready(self) -> None:
        """Note that its fabric daemon is ready."""
        self._fabric_ready = True

    def decide_next_action(self, at: int) -> ModelWrite | DaemonActionWithoutRequest | DecideAgainAt:
        """Return the next action."""
        if self._version < 0:
            return DaemonActionWithoutRequest.IDLE
        wanted = self._wanted(at)
        if isinstance(wanted, DaemonActionWithoutRequest):
            return wanted
        if isinstance(wanted, int):
            return DecideAgainAt(wanted)
        if at < self._throttled_until:
            return DecideAgainAt(self._throttled_until)
        if at < self._not_before:
            return DecideAgainAt(self._not_before)
        before = self._view.entries.get(self._number) if self._view is not None else None
        moves = before is not None and before.index != wanted.index
        uses_apply = self._participants.point.protocol.uses_apply
        base = None if uses_apply else self._version if self._view is not None else 0
        return ModelWrite(self._number, self._object_number, wanted.index, wanted.ready, moves=moves, base=base)

    def _settle(self, index: int, view: ModelNvlinkCliqueState, at: int) -> None:
        if view.holders[index] == 1 and index != self._settled_index:
            self._settled_index, self._contested_since = index, None
        self._check(at)

    def _check(self, at: int) -> None:
        """Keep the settled index only while the newest view shows it; record since when it is contested."""
        view, settled = self._view, self._settled_index
        if settled is None or view is None:
            return
        if view.entries[self._number].index != settled:
            self._settled_index = self._contested_since = None
        elif view.holders[settled] == 1:
            self._contested_since = None
        elif self._contested_since is None:
            self._contested_since = at

    def _wanted(self, at: int) -> _CachedAction:
        """The decision of the core, made at most once for each state of the clique unless it depends on time."""
        if self._contested_since is not None:
            return self._decision(at)
        if self._view is None:
            if self._first_action is None:
                self._first_action = self._decision(at)
            return self._first_action
        key = self._key(self._view)
        found: _CachedAction | None = self._view.decisions.get(key)
        if found is None:
            found = self._view.decisions[key] = self._decision(at)
        return found

    def _key(self, view: ModelNvlinkCliqueState) -> object:
        """What a decision depends on besides the clique; the number of the daemon only if it may have to move.

        All daemons without an entry choose the same index, and all settled daemons that have not started wait for the
        same event.
        """
        if self._number not in view.entries:
            return _JOINING
        if self._settled_index is not None and self._running_index is None:
            return _STARTING
        return self._number, self._settled_index, self._running_index, self._fabric_ready

    def _decision(self, at: int) -> _CachedAction:
        identity = self._participants.daemons[self._number]
        action = next_daemon_action(self._context(identity, at)).verdict
        match action:
            case ApplyRequest() | PutRequest() | PostRequest():
                return _entry_in(action, identity, sharded=self._participants.point.protocol.sharded)
            case StartFabricAction() | RestartFabricAction():
                return DaemonActionWithoutRequest.START
            case IdleAction() | WaitAction(None):
                return DaemonActionWithoutRequest.IDLE
            case WaitAction(until) if until is not None:
                return (until - START_OF_TIME) // _MICROSECOND
            case _:
                raise BrokenInvariant("CV-003", f"without faults no daemon does {action}")

    def _context(self, identity: DaemonIdentity, at: int) -> DaemonInput:
        view, since = self._view, self._contested_since
        fabric = None
        if self._running_index is not None and view is not None:
            fabric = FabricDaemonState(self._running_index, view.peer_map(self._participants), self._fabric_ready)
        registry = view.as_registry(self._participants) if view is not None else None
        return DaemonInput(
            identity=identity,
            settings=self._participants.settings,
            state=RegistrationState(
                observed=ObservedDaemonRegistry(self._version, registry),
                settled_index=self._settled_index,
                contested_since=datetime_from_microseconds(since) if since is not None else None,
            ),
            fabric=fabric,
            now=datetime_from_microseconds(at),
        )


def datetime_from_microseconds(at: int) -> datetime:
    """Return a virtual time, given in microseconds, as the core uses it."""
    return START_OF_TIME + timedelta(microseconds=at)


def _in_micros(span: timedelta) -> int:
    return span // _MICROSECOND


def _entry_in(action: DaemonAction, identity: DaemonIdentity, *, sharded: bool) -> DaemonEntryIndexAndReadiness:
    """The daemon's own entry in its write."""
    path = daemon_entries_path(sharded=sharded)
    body: Any = None
    if isinstance(action, ApplyRequest):
        body = action.fields
    elif isinstance(action, PutRequest | PostRequest):
        body = action.manifest
    part = JsonFieldReader(body[path.parent] if path.parent else body, "", [])
    own = daemon_entry_of_node(identity.node, read_daemon_entries(part, path.list_key, path.node_key))
    if own is None or own.index is None:
        raise BrokenInvariant("CV-003", f"without faults every write contains the own entry, unlike {FrozenMap(body)}")
    return DaemonEntryIndexAndReadiness(own.index, own.status == READY)
