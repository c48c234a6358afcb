"""The state of a daemon's registration after events and results: backoff, rivals, relists (DC-010 to DC-065)."""

from datetime import timedelta

from grove_core.areas.domain_cliques.daemon.daemon_entry_requests import next_other_registry_read_time
from grove_core.areas.domain_cliques.daemon.daemon_input import (
    ObservedDaemonRegistry,
    RegistrationState,
    nvlink_clique_daemons_of,
)
from grove_core.areas.domain_cliques.daemon.daemon_registration import take_over_daemon_entry as replaced
from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    DaemonRegistrationSettings,
    RegistrationProtocol,
)
from grove_core.areas.domain_cliques.daemon.registration_state_updates import (
    registration_state_after_event,
    registration_state_after_result,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    ListPodsRequest,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
    RequestFailed,
    RequestResultKind,
    RequestSucceeded,
)
from grove_core.kernel.frozen import FrozenMap, freeze
from tests.property.domain_cliques.builders import IDENTITY, NOW, SETTINGS, clique, context_for, domain, entry, pod

REQUEST = ApplyRequest(
    target=IDENTITY.registry_ref(sharded=False), subresource="status", manager="m", fields=domain().spec
)
SECOND = timedelta(seconds=1)


def test_dc034_past_backoff_does_not_shorten_the_next() -> None:
    state = RegistrationState(not_before=NOW - SECOND, failures=2)
    assert (
        registration_state_after_event(state, IDENTITY, SETTINGS, ObservedDaemonRegistry(1, None), now=NOW).not_before
        == NOW + SETTINGS.first_backoff
    )


def test_dc051_only_a_list_of_pods_shows_which_pods_have_an_address() -> None:
    """Any other success of that request leaves the state as it is."""
    state = RegistrationState()
    request = ListPodsRequest("10.0.0.9")
    assert registration_state_after_result(state, IDENTITY, SETTINGS, request, RequestSucceeded(), now=NOW) == state


def test_dc034_success_resets_backoff() -> None:
    failed = RegistrationState(failures=7, failure="it did not work", not_before=NOW + SECOND)
    for request, answer in (
        (REQUEST, RequestSucceeded(domain())),
        (ReadObjectRequest(IDENTITY.registry_ref(sharded=True)), RequestFailed(RequestResultKind.NOT_FOUND)),
    ):
        after = registration_state_after_result(failed, IDENTITY, SETTINGS, request, answer, now=NOW)
        assert (after.failures, after.failure, after.not_before) == (0, "", None)


def test_dc010_removal_of_a_gone_object_keeps_its_successor() -> None:
    """The object of the request is gone; a new object of its name is not."""
    put = PutRequest(
        target=IDENTITY.registry_ref(sharded=False),
        subresource="status",
        manager="m",
        manifest=FrozenMap({"metadata": freeze({"uid": "the one before"})}),
    )
    seen = ObservedDaemonRegistry(10, domain(entry("n1", 0)))
    for request in (put, RemoveEntryRequest(put)):
        assert (
            registration_state_after_result(
                RegistrationState(observed=seen),
                IDENTITY,
                SETTINGS,
                request,
                RequestFailed(RequestResultKind.NOT_FOUND),
                now=NOW,
            ).observed
            == seen
        )


def test_dc023_response_with_rival_keeps_settled_index() -> None:
    answer = RequestSucceeded(domain(entry("n1", 0), entry("n2", 0)))
    after = registration_state_after_result(
        RegistrationState(settled_index=0), IDENTITY, SETTINGS, REQUEST, answer, now=NOW
    )
    assert (after.settled_index, after.contested_since) == (0, NOW)


def test_dc065_rival_in_the_other_registry_contests() -> None:
    state = RegistrationState(settled_index=0, other_registry=clique(entry("n2", 0)), other_read_at=NOW)
    after = registration_state_after_event(
        state, IDENTITY, SETTINGS, ObservedDaemonRegistry(10, domain(entry("n1", 0))), now=NOW
    )
    assert (after.settled_index, after.contested_since) == (0, NOW)


def test_dc065_registry_without_members_is_read_once() -> None:
    settings = DaemonRegistrationSettings(protocol=RegistrationProtocol.SHARDED, has_pods=False)
    for others, again in (
        ((), None),
        ((entry("n2", 1, clique="b"),), None),
        ((entry("n2", 1),), NOW + settings.recheck_interval),
    ):
        state = {"settled_index": 0, "other_registry": domain(*others), "other_read_at": NOW}
        assert next_other_registry_read_time(context_for(clique(entry("n1", 0)), settings, state=state)) == again


def test_dc051_pods_are_relisted_when_old_or_for_another_address() -> None:
    settings = DaemonRegistrationSettings(reads_other_registry=False)
    registry = domain(entry("n1", 0, "10.0.0.9"))
    mine = nvlink_clique_daemons_of(IDENTITY, registry).own
    assert mine is not None
    listed = {"pods": (pod("n1", "10.0.0.9", "b", created=NOW),), "pods_listed_for": "10.0.0.9"}
    for at, again in (
        (None, True),
        (NOW - settings.recheck_interval, True),
        (NOW - settings.recheck_interval + SECOND, False),
    ):
        context = context_for(registry, settings, state={**listed, "pods_listed_at": at})
        verdict = replaced(context, nvlink_clique_daemons_of(IDENTITY, registry), mine).verdict
        assert isinstance(verdict, ListPodsRequest) is again
