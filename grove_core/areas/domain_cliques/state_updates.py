"""What a daemon remembers of what it sees and of the answers to what it asks: folds, one for each kind of news.

Rule for this file: news never makes the daemon know less than its newest answer (DC-010). Chance comes in as
``jitter``, a factor around 1 that whoever calls draws.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.domain_cliques.clique_view import clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity, DaemonState, RegistryObservation
from grove_core.areas.domain_cliques.protocols import DaemonSettings
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    ClearOtherEntry,
    DaemonRegistry,
    LabelPod,
    ListPods,
    Put,
    ReadObject,
    RemoveEntry,
    Request,
    RequestResult,
    ResultKind,
)
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.daemon_entry import DaemonEntry

_BUSY: Final = timedelta(seconds=1)
_MOST_DOUBLINGS: Final = 32
_MOST_DIGITS: Final = 20  # of what a server counts by


def version_number(registry: DaemonRegistry) -> int:
    """The version of an object as a number, larger for newer ones; 0 where it is none (DC-901)."""
    text = registry.resource_version
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0


def after_event(
    state: DaemonState,
    identity: DaemonIdentity,
    settings: DaemonSettings,
    observation: RegistryObservation,
    *,
    now: datetime,
    jitter: float = 1.0,
) -> DaemonState:
    """The daemon's register has changed, or was listed at the start of a watch.

    An event is a fresh piece of work: earlier failures do not slow it down (DC-034).
    """
    due = now + settings.first_backoff * jitter
    waits = state.not_before is not None and state.not_before > now
    state = replace(
        state,
        failures=0,
        failure="",
        not_before=min(state.not_before or due, due) if waits else due,
    )
    return _checked(_newest(state, observation), identity, now)


def after_result(
    state: DaemonState,
    identity: DaemonIdentity,
    settings: DaemonSettings,
    request: Request,
    answer: RequestResult,
    *,
    now: datetime,
    jitter: float = 1.0,
) -> DaemonState:
    """A request of the daemon was answered, or was given up."""
    match answer.kind:
        case ResultKind.DONE:
            state = replace(state, failures=0, failure="", not_before=None, throttled_until=None)
            return _checked(_taken_in(state, identity, settings, request, answer, now), identity, now)
        case ResultKind.OWNED:
            return replace(state, must_force=True, not_before=None)
        case ResultKind.BUSY:
            return replace(state, throttled_until=now + (answer.retry_after or _BUSY))
        case ResultKind.GONE if isinstance(request, ReadObject | ClearOtherEntry):
            return replace(state, other_registry=None, other_read_at=now, failures=0, failure="", not_before=None)
        case ResultKind.GONE if not isinstance(request, LabelPod | ListPods):  # these do not speak of the register
            state = _failed(state, settings, answer, now, jitter)
            return _checked(_gone(state, request), identity, now)
        case ResultKind.REFUSED if isinstance(request, RemoveEntry) and isinstance(request.write, Apply):
            return replace(_failed(state, settings, answer, now, jitter), removes_by_put=True)
        case _ if isinstance(request, ClearOtherEntry):
            return replace(_failed(state, settings, answer, now, jitter), other_read_at=None)
        case _:
            return _failed(state, settings, answer, now, jitter)


def _gone(state: DaemonState, request: Request) -> DaemonState:
    """The object that was written to is not there; another one of its name that was seen since stays."""
    if state.observed is None or state.observed.registry is None:
        return state
    write = request.write if isinstance(request, RemoveEntry) else request
    metadata = write.manifest["metadata"] if isinstance(write, Put) else EMPTY
    aimed = metadata.get("uid") if isinstance(metadata, FrozenMap) else None
    if aimed is not None and aimed != state.observed.registry.uid:
        return state
    return replace(state, observed=RegistryObservation(state.observed.version, None))


def _failed(
    state: DaemonState, settings: DaemonSettings, answer: RequestResult, now: datetime, jitter: float
) -> DaemonState:
    delay = settings.first_backoff * 2 ** min(state.failures, _MOST_DOUBLINGS)
    return replace(
        state,
        failures=state.failures + 1,
        failure=answer.detail or answer.kind.value,
        not_before=now + min(delay, settings.max_backoff) * jitter,
    )


def _taken_in(
    state: DaemonState,
    identity: DaemonIdentity,
    settings: DaemonSettings,
    request: Request,
    answer: RequestResult,
    now: datetime,
) -> DaemonState:
    match request:
        case LabelPod():
            return replace(state, pod_labelled=True)
        case ListPods(address):
            return replace(state, pods=answer.pods, pods_listed_for=address, pods_listed_at=now)
        case ReadObject() | ClearOtherEntry():
            foreign = isinstance(answer.registry, ComputeDomain) and answer.registry.uid != identity.domain_uid
            return replace(state, other_registry=None if foreign else answer.registry, other_read_at=now)
        case RemoveEntry():
            remains = _own_entry(identity, answer.registry) is not None
            return replace(_seen_in(state, answer), removes_by_put=state.removes_by_put or remains)
        case _:
            state = replace(_seen_in(state, answer), must_force=False)
            index = index_settled_by(identity, settings, answer.registry)
            if index is None or index == state.settled_index:
                return state
            return replace(state, settled_index=index, contested_since=None, other_read_at=None)


def index_settled_by(identity: DaemonIdentity, settings: DaemonSettings, answered: DaemonRegistry | None) -> int | None:
    """The index that an answer to an own write shows to be the daemon's alone (D42, DC-023); None where it does not."""
    mine = _own_entry(identity, answered)
    if mine is None or mine.index is None or not 0 <= mine.index < settings.limit:
        return None
    return None if clique_view_of(identity, answered).rival(mine.index) else mine.index


def _own_entry(identity: DaemonIdentity, registry: DaemonRegistry | None) -> DaemonEntry | None:
    """The entry of the node, if this very pod wrote it (DC-022): an earlier one had another address."""
    mine = clique_view_of(identity, registry).own
    return mine if mine is not None and mine.ip == identity.ip else None


def _seen_in(state: DaemonState, answer: RequestResult) -> DaemonState:
    if answer.registry is None:
        return state
    return _newest(state, RegistryObservation(version_number(answer.registry), answer.registry))


def _newest(state: DaemonState, observation: RegistryObservation) -> DaemonState:
    """Read your writes: an event that is older than an answer is no news (DC-010)."""
    if state.observed is not None and observation.version < state.observed.version:
        return state
    return replace(state, observed=observation)


def _checked(state: DaemonState, identity: DaemonIdentity, now: datetime) -> DaemonState:
    """What was settled stays so only while the newest state shows it; and since when somebody contests it."""
    if state.settled_index is None:
        return state
    view = clique_view_of(
        identity, state.observed.registry if state.observed is not None else None, state.other_registry
    )
    mine = view.own
    if mine is None or mine.ip != identity.ip or mine.index != state.settled_index:
        return replace(state, settled_index=None, contested_since=None, other_read_at=None)
    contested = bool(view.rival(state.settled_index))
    since = (state.contested_since or now) if contested else None
    return replace(state, contested_since=since)
