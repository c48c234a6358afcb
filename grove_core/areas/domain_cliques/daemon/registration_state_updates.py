"""How events and results of requests update the state of a daemon.

An update never replaces an observation by an older one (DC-010). Randomness is passed in as ``jitter``, a factor
around 1.
"""

from datetime import datetime, timedelta
from typing import Final, assert_never

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    ObservedDaemonRegistry,
    RegistrationState,
    nvlink_clique_daemons_of,
)
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    ClearOtherEntryRequest,
    DaemonRequest,
    LabelPodRequest,
    ListPodsRequest,
    PodsListed,
    PostRequest,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
    RequestFailed,
    RequestResult,
    RequestResultKind,
    RequestSucceeded,
    TooManyRequests,
)
from grove_core.kernel.structs import replace
from grove_core.resources.compute_domain import ComputeDomain, DaemonEntry
from grove_core.resources.daemon_entry_lists import DaemonRegistry, registry_version_number
from grove_core.resources.object_metadata import metadata_in

_DEFAULT_RETRY_AFTER: Final = timedelta(seconds=1)
_MAX_DOUBLINGS: Final = 32


def registration_state_after_event(
    state: RegistrationState,
    identity: DaemonIdentity,
    settings: DaemonRegistrationSettings,
    observation: ObservedDaemonRegistry,
    *,
    now: datetime,
    jitter: float = 1.0,
) -> RegistrationState:
    """Return the state after a watch event, or the first list, of the registry.

    An event resets the backoff of earlier failures (DC-034).

    Args:
        observation: the registry as the event or the list shows it.
        now: when it arrived.
        jitter: a random factor around 1 for the first backoff.
    """
    due = now + settings.first_backoff * jitter
    waits = state.not_before is not None and state.not_before > now
    state = replace(state, failures=0, failure="", not_before=min(state.not_before or due, due) if waits else due)
    return _checked(_newest(state, observation), identity, now)


def registration_state_after_result(
    state: RegistrationState,
    identity: DaemonIdentity,
    settings: DaemonRegistrationSettings,
    request: DaemonRequest,
    result: RequestResult,
    *,
    now: datetime,
    jitter: float = 1.0,
) -> RegistrationState:
    """Return the state after the result of a request.

    Args:
        request: that was sent.
        now: when the result arrived.
        jitter: a random factor around 1 for the backoff after a failure.
    """
    match result:
        case RequestSucceeded() | PodsListed():
            state = replace(state, failures=0, failure="", not_before=None, throttled_until=None)
            return _checked(_succeeded(state, identity, settings, request, result, now), identity, now)
        case TooManyRequests(retry_after):
            return replace(state, throttled_until=now + (retry_after or _DEFAULT_RETRY_AFTER))
        case RequestFailed(kind):
            failed = _with_backoff(state, settings, result, now, jitter)
        case _:
            assert_never(result)
    match kind:
        case RequestResultKind.FIELD_CONFLICT:
            return replace(state, must_force=True, not_before=None)
        case RequestResultKind.NOT_FOUND if isinstance(request, ReadObjectRequest | ClearOtherEntryRequest):
            return replace(state, other_registry=None, other_read_at=now, failures=0, failure="", not_before=None)
        case RequestResultKind.NOT_FOUND if not isinstance(
            request, LabelPodRequest | ListPodsRequest
        ):  # these are not about the registry
            return _checked(_without_registry(failed, request), identity, now)
        case RequestResultKind.REFUSED if isinstance(request, RemoveEntryRequest) and isinstance(
            request.write, ApplyRequest
        ):
            return replace(failed, removes_by_put=True)
        case (
            RequestResultKind.CONFLICT
            | RequestResultKind.NOT_FOUND
            | RequestResultKind.NO_RESPONSE
            | RequestResultKind.REFUSED
        ):
            return replace(failed, other_read_at=None) if isinstance(request, ClearOtherEntryRequest) else failed
        case _:
            assert_never(kind)


def _without_registry(state: RegistrationState, request: DaemonRequest) -> RegistrationState:
    """Record that the object of the request is gone; an object of its name with another uid stays."""
    if state.observed is None or state.observed.registry is None:
        return state
    write = request.write if isinstance(request, RemoveEntryRequest) else request
    uid = metadata_in(write.manifest).uid if isinstance(write, PutRequest) else ""
    if uid and uid != state.observed.registry.uid:
        return state
    return replace(state, observed=ObservedDaemonRegistry(state.observed.version, None))


def _with_backoff(
    state: RegistrationState, settings: DaemonRegistrationSettings, result: RequestFailed, now: datetime, jitter: float
) -> RegistrationState:
    delay = settings.first_backoff * 2 ** min(state.failures, _MAX_DOUBLINGS)
    return replace(
        state,
        failures=state.failures + 1,
        failure=result.detail or result.kind.value,
        not_before=now + min(delay, settings.max_backoff) * jitter,
    )


def _succeeded(
    state: RegistrationState,
    identity: DaemonIdentity,
    settings: DaemonRegistrationSettings,
    request: DaemonRequest,
    result: RequestSucceeded | PodsListed,
    now: datetime,
) -> RegistrationState:
    if isinstance(result, PodsListed):
        return replace(state, pods=result.pods, pods_listed_for=result.address, pods_listed_at=now)
    match request:
        case LabelPodRequest():
            return replace(state, pod_labelled=True)
        case ListPodsRequest():
            return state  # its result is PodsListed
        case ReadObjectRequest() | ClearOtherEntryRequest():
            is_other = isinstance(result.registry, ComputeDomain) and result.registry.uid != identity.domain_uid
            return replace(state, other_registry=None if is_other else result.registry, other_read_at=now)
        case RemoveEntryRequest():
            remains = _own_entry(identity, result.registry) is not None
            return replace(_observed_in(state, result.registry), removes_by_put=state.removes_by_put or remains)
        case ApplyRequest() | PutRequest() | PostRequest():
            state = replace(_observed_in(state, result.registry), must_force=False)
            index = confirmed_daemon_index(identity, settings, result.registry)
            if index is None or index == state.settled_index:
                return state
            return replace(state, settled_index=index, contested_since=None, other_read_at=None)
        case _:
            assert_never(request)


def confirmed_daemon_index(
    identity: DaemonIdentity, settings: DaemonRegistrationSettings, response: DaemonRegistry | None
) -> int | None:
    """Return the index that the response to an own write shows to be the daemon's alone (D42, DC-023).

    Returns:
        None if the response shows no such index.
    """
    own = _own_entry(identity, response)
    if own is None or own.index is None or not 0 <= own.index < settings.limit:
        return None
    return None if nvlink_clique_daemons_of(identity, response).other_node_with_index(own.index) else own.index


def _own_entry(identity: DaemonIdentity, registry: DaemonRegistry | None) -> DaemonEntry | None:
    """The entry of the node, if it has this pod's address: an earlier pod had another (DC-022)."""
    own = nvlink_clique_daemons_of(identity, registry).own
    return own if own is not None and own.ip == identity.ip else None


def _observed_in(state: RegistrationState, response: DaemonRegistry | None) -> RegistrationState:
    if response is None:
        return state
    return _newest(state, ObservedDaemonRegistry(registry_version_number(response), response))


def _newest(state: RegistrationState, observation: ObservedDaemonRegistry) -> RegistrationState:
    """Keep the newer observation, so that an event never hides the daemon's own write (DC-010)."""
    if state.observed is not None and observation.version < state.observed.version:
        return state
    return replace(state, observed=observation)


def _checked(state: RegistrationState, identity: DaemonIdentity, now: datetime) -> RegistrationState:
    """Keep the settled index only while the newest observation shows it; record since when it is contested."""
    if state.settled_index is None:
        return state
    registry = state.observed.registry if state.observed is not None else None
    view = nvlink_clique_daemons_of(identity, registry, state.other_registry)
    own = view.own
    if own is None or own.ip != identity.ip or own.index != state.settled_index:
        return replace(state, settled_index=None, contested_since=None, other_read_at=None)
    contested = bool(view.other_node_with_index(state.settled_index))
    since = (state.contested_since or now) if contested else None
    return replace(state, contested_since=since)
