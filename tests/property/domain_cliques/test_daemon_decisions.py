"""Decisions and state of a daemon, rule by rule (DC-010 to DC-068)."""

from datetime import datetime, timedelta

import pytest

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonInput,
    FabricDaemonState,
    ObservedDaemonRegistry,
    RegistrationState,
)
from grove_core.areas.domain_cliques.daemon.daemon_registration import newer_daemon_pod
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
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
    ClearOtherEntryRequest,
    IdleAction,
    LabelPodRequest,
    ListPodsRequest,
    PeerMap,
    PostRequest,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
    RequestFailed,
    RequestResultKind,
    RequestSucceeded,
    StopFabricAction,
    TooManyRequests,
    WaitAction,
)
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.frozen import FrozenMap, thaw_json
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.compute_domain import DaemonPod, compute_domain_from_json
from grove_core.resources.daemon_entry_lists import registry_version_number
from tests.property.domain_cliques.builders import (
    IDENTITY,
    NOW,
    SETTINGS,
    Json,
    clique,
    context_for,
    domain,
    entry,
    pod,
)


def test_dc010_older_events_are_ignored() -> None:
    state = RegistrationState(observed=ObservedDaemonRegistry(10, domain(entry("n1", 0))), settled_index=0)
    after = registration_state_after_event(state, IDENTITY, SETTINGS, ObservedDaemonRegistry(9, None), now=NOW)
    assert (after.observed, after.settled_index) == (state.observed, 0)
    gone = registration_state_after_event(state, IDENTITY, SETTINGS, ObservedDaemonRegistry(11, None), now=NOW)
    assert (gone.observed, gone.settled_index) == (ObservedDaemonRegistry(11, None), None)
    assert registry_version_number(replace(domain(), resource_version="ab")) == 0


def test_dc027_contest_time_is_kept_until_the_rival_leaves() -> None:
    state = RegistrationState(observed=ObservedDaemonRegistry(10, domain(entry("n1", 0))), settled_index=0)
    two = registration_state_after_event(
        state,
        IDENTITY,
        SETTINGS,
        ObservedDaemonRegistry(11, domain(entry("n1", 0), entry("n2", 0), version=11)),
        now=NOW,
    )
    later = registration_state_after_event(
        two,
        IDENTITY,
        SETTINGS,
        ObservedDaemonRegistry(12, domain(entry("n1", 0), entry("n2", 0), version=12)),
        now=NOW + timedelta(1),
    )
    one = registration_state_after_event(
        later, IDENTITY, SETTINGS, ObservedDaemonRegistry(13, domain(entry("n1", 0), version=13)), now=NOW
    )
    assert (two.contested_since, later.contested_since, one.contested_since) == (NOW, NOW, None)


REQUEST = ApplyRequest(
    target=IDENTITY.registry_ref(sharded=False), subresource="status", manager="m", fields=domain().spec
)


def test_dc034_backoff_doubles_and_events_reset_it() -> None:
    state, delays = RegistrationState(), []
    for _ in range(13):
        state = registration_state_after_result(
            state, IDENTITY, SETTINGS, REQUEST, RequestFailed(RequestResultKind.CONFLICT), now=NOW
        )
        assert state.not_before is not None
        delays.append((state.not_before - NOW) / timedelta(milliseconds=1))
    assert delays[:3] == [5, 10, 20]
    assert delays[-1] == 6000
    fresh = registration_state_after_event(
        state, IDENTITY, SETTINGS, ObservedDaemonRegistry(1, None), now=NOW, jitter=1.2
    )
    assert fresh.not_before == NOW + timedelta(milliseconds=6)
    assert (fresh.failures, fresh.failure) == (0, "")
    again = registration_state_after_event(
        fresh, IDENTITY, SETTINGS, ObservedDaemonRegistry(2, None), now=NOW + timedelta(milliseconds=2)
    )
    assert again.not_before == fresh.not_before


@pytest.mark.parametrize(("asked", "wanted"), [(None, 1), (timedelta(seconds=30), 30)])
def test_dc035_throttling_outlasts_events(asked: timedelta | None, wanted: int) -> None:
    state = registration_state_after_result(
        RegistrationState(),
        IDENTITY,
        SETTINGS,
        REQUEST,
        TooManyRequests(asked),
        now=NOW,
    )
    state = registration_state_after_event(state, IDENTITY, SETTINGS, ObservedDaemonRegistry(1, domain()), now=NOW)
    assert state.throttled_until == NOW + timedelta(seconds=wanted)
    context = DaemonInput(identity=IDENTITY, settings=SETTINGS, state=state, now=NOW + timedelta(milliseconds=500))
    assert next_daemon_action(context).verdict == WaitAction(NOW + timedelta(seconds=wanted))


def test_dc032_one_apply_with_force() -> None:
    state = registration_state_after_result(
        RegistrationState(), IDENTITY, SETTINGS, REQUEST, RequestFailed(RequestResultKind.FIELD_CONFLICT), now=NOW
    )
    assert (state.must_force, state.not_before) == (True, None)
    done = registration_state_after_result(state, IDENTITY, SETTINGS, REQUEST, RequestSucceeded(domain()), now=NOW)
    assert not done.must_force


@pytest.mark.parametrize("is_refused", [False, True], ids=["succeeded", "refused"])
def test_dc056_a_remaining_entry_is_removed_by_put(*, is_refused: bool) -> None:
    registry = domain(entry("n1", 0), entry("n2", 1))
    context = context_for(registry, state={"settled_index": 0}, stop_deadline=NOW + timedelta(seconds=10))
    request = next_daemon_action(context).verdict
    assert isinstance(request, RemoveEntryRequest)
    assert isinstance(request.write, ApplyRequest)
    answer = RequestFailed(RequestResultKind.REFUSED) if is_refused else RequestSucceeded(registry)
    state = registration_state_after_result(context.state, IDENTITY, SETTINGS, request, answer, now=NOW)
    second = next_daemon_action(replace(context, state=state, now=NOW + timedelta(seconds=1))).verdict
    assert isinstance(second, RemoveEntryRequest)
    assert isinstance(second.write, PutRequest)
    assert [item["name"] for item in thaw_json(second.write.manifest)["status"]["nodes"]] == ["n2"]
    gone = registration_state_after_result(
        state, IDENTITY, SETTINGS, second, RequestFailed(RequestResultKind.NOT_FOUND), now=NOW
    )
    assert [why.rule for why in next_daemon_action(replace(context, state=gone)).because] == [
        ComputeDomainReason.NOTHING_LEFT
    ]


@pytest.mark.parametrize(("other", "rule"), [(0, ComputeDomainReason.INDEX_LOST), (1, ComputeDomainReason.INDEX_KEPT)])
@pytest.mark.parametrize("left", [[], [entry("n1", 2)], [entry("n1", 4, ip="10.9.9.9")]])
def test_dc028_removed_or_changed_entry(other: int, rule: ComputeDomainReason, left: list[Json]) -> None:
    fabric = FabricDaemonState(0, PeerMap(((0, "10.0.0.1"), (1, "10.0.0.2"))), ready=True)
    decision = next_daemon_action(context_for(domain(*left, entry("n2", other)), fabric=fabric))
    assert isinstance(decision.verdict, ApplyRequest)
    altered = [item["index"] for item in left if item["ipAddress"] == IDENTITY.ip]
    kept = ComputeDomainReason.INDEX_UNCONFIRMED if altered and rule is ComputeDomainReason.INDEX_LOST else rule
    assert [why.rule for why in decision.because] == [kept]


def test_dc028_changed_duplicate_index_is_replaced() -> None:
    fabric = FabricDaemonState(0, PeerMap(((0, "10.0.0.1"), (1, "10.0.0.2"))), ready=True)
    decision = next_daemon_action(context_for(domain(entry("n1", 2), entry("n2", 0), entry("n3", 2)), fabric=fabric))
    assert [why.rule for why in decision.because] == [ComputeDomainReason.INDEX_LOST]


@pytest.mark.parametrize("lost", [-1, 18])
def test_dc024_index_out_of_range_counts_as_none(lost: int) -> None:
    """The index of a node without fabric or of a larger clique is no valid index, and has no rival."""
    mine = entry("n1", lost)
    decision = next_daemon_action(context_for(domain(mine, entry("n2", 0))))
    assert [why.sentence for why in decision.because] == ["it has no index yet; 1 is the smallest free one"]
    full = next_daemon_action(context_for(domain(mine, entry("n2", 0)), replace(SETTINGS, limit=1)))
    assert isinstance(full.verdict, RemoveEntryRequest)
    assert [why.rule for why in full.because] == [ComputeDomainReason.CLIQUE_FULL]


def test_dc026_only_the_last_node_moves() -> None:
    state = {"settled_index": 0, "contested_since": NOW - timedelta(minutes=1)}
    registry = domain(entry("n1", 0), entry("n2", 0))
    assert (
        next_daemon_action(context_for(registry, state=state, fabric=FabricDaemonState(0, PeerMap(())))).verdict
        == WaitAction()
    )


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ([entry("n1", 0, ip="10.9.9.9"), entry("n2", 0)], {}),
        ([entry("n1", 0), entry("n0", 0)], {"settled_index": 0, "contested_since": NOW - timedelta(minutes=1)}),
        ([entry("n1", 0), entry("n2", 0)], {}),
    ],
)
def test_dc029_withdraws_without_a_free_index(entries: list[Json], state: Json) -> None:
    fabric = FabricDaemonState(0, PeerMap(())) if state else None
    context = context_for(domain(*entries), replace(SETTINGS, limit=1), state=state, fabric=fabric)
    decision = next_daemon_action(context)
    assert isinstance(decision.verdict, RemoveEntryRequest)
    assert [why.rule for why in decision.because] == [ComputeDomainReason.WITHDRAWN]
    answer = RequestSucceeded(domain(entries[1], version=11))
    memory_after = registration_state_after_result(context.state, IDENTITY, SETTINGS, decision.verdict, answer, now=NOW)
    last = next_daemon_action(replace(context, state=memory_after))
    assert last.verdict == (StopFabricAction(NOW + SETTINGS.recheck_interval) if fabric else WaitAction())
    assert [why.rule for why in last.because] == [ComputeDomainReason.CLIQUE_FULL]


def test_dc010_recreated_object_stays_observed() -> None:
    settings = replace(SETTINGS, protocol=RegistrationProtocol.SHARDED_RMW)
    old = clique(entry("n2", 0))
    request = next_daemon_action(context_for(old, settings)).verdict
    assert isinstance(request, PutRequest)
    new = replace(clique(entry("n3", 0), version=12), uid="made-anew")
    state = registration_state_after_result(
        RegistrationState(observed=ObservedDaemonRegistry(12, new)),
        IDENTITY,
        settings,
        request,
        RequestFailed(RequestResultKind.NOT_FOUND),
        now=NOW,
    )
    assert state.observed == ObservedDaemonRegistry(12, new)
    gone = registration_state_after_result(
        RegistrationState(observed=ObservedDaemonRegistry(10, old)),
        IDENTITY,
        settings,
        request,
        RequestFailed(RequestResultKind.NOT_FOUND),
        now=NOW,
    )
    assert gone.observed == ObservedDaemonRegistry(10, None)
    never = registration_state_after_result(
        RegistrationState(), IDENTITY, settings, request, RequestFailed(RequestResultKind.NOT_FOUND), now=NOW
    )
    assert never.observed is None
    silent = registration_state_after_result(
        RegistrationState(), IDENTITY, settings, request, RequestSucceeded(), now=NOW
    )
    assert (silent.observed, silent.settled_index) == (None, None)


@pytest.mark.req("DC-010")
@pytest.mark.parametrize("request_", [LabelPodRequest(IDENTITY.pod_ref, FrozenMap({})), ListPodsRequest("10.0.0.9")])
def test_dc034_missing_pod_does_not_affect_the_registry(request_: LabelPodRequest | ListPodsRequest) -> None:
    """Observation and settled index stay; the request is retried."""
    before = RegistrationState(observed=ObservedDaemonRegistry(10, domain(entry("n1", 0))), settled_index=0)
    after = registration_state_after_result(
        before, IDENTITY, SETTINGS, request_, RequestFailed(RequestResultKind.NOT_FOUND), now=NOW
    )
    assert (after.observed, after.settled_index) == (before.observed, 0)
    assert (after.failures, after.not_before) == (1, NOW + SETTINGS.first_backoff)


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.req("DC-025")
def test_dc068_unstarted_daemon_yields_to_other_registry(*, runs: bool) -> None:
    settings = DaemonRegistrationSettings(has_pods=False)
    peers = PeerMap(((0, "10.0.0.1"),))
    state = {"settled_index": 0, "contested_since": NOW, "other_registry": clique(entry("n2", 0)), "other_read_at": NOW}
    context = context_for(
        domain(entry("n1", 0)), settings, state=state, fabric=FabricDaemonState(0, peers) if runs else None
    )
    decision = next_daemon_action(context)
    assert isinstance(decision.verdict, WaitAction if runs else ApplyRequest)
    assert decision.because[0].rule is (
        ComputeDomainReason.RIVAL_AWAITED if runs else ComputeDomainReason.CONTESTED_ELSEWHERE
    )


def test_dc065_other_domain_is_no_registry() -> None:
    request, other = (
        ReadObjectRequest(IDENTITY.registry_ref(sharded=False)),
        replace(domain(entry("n2", 0)), uid="other_registry"),
    )
    state = registration_state_after_result(
        RegistrationState(),
        IDENTITY,
        SETTINGS,
        request,
        RequestSucceeded(other),
        now=NOW,
    )
    assert (state.other_registry, state.other_read_at) == (None, NOW)
    gone = registration_state_after_result(
        RegistrationState(other_registry=domain()),
        IDENTITY,
        SETTINGS,
        request,
        RequestFailed(RequestResultKind.NOT_FOUND),
        now=NOW,
    )
    assert (gone.other_registry, gone.other_read_at) == (None, NOW)


def test_dc065_rereads_while_members_are_there() -> None:
    settings = DaemonRegistrationSettings(protocol=RegistrationProtocol.SHARDED, has_pods=False)
    peers = PeerMap(((0, "10.0.0.1"), (1, "10.0.0.2")))
    state = {"settled_index": 0, "other_registry": domain(entry("n2", 1)), "other_read_at": NOW}
    registry = replace(clique(entry("n1", 0, status="Ready")), owners=("uid-1",))
    context = context_for(registry, settings, state=state, fabric=FabricDaemonState(0, peers, ready=True))
    assert next_daemon_action(context).verdict == WaitAction(NOW + settings.recheck_interval)
    later = replace(context, now=NOW + settings.recheck_interval)
    assert next_daemon_action(later).verdict == ReadObjectRequest(IDENTITY.registry_ref(sharded=False))
    unread = replace(context, state=replace(context.state, other_read_at=None))
    assert next_daemon_action(unread).verdict == ReadObjectRequest(IDENTITY.registry_ref(sharded=False))


def test_dc030_unknown_fields_are_kept() -> None:
    raw = thaw_json(domain(entry("n2", 0)).stored)
    raw["status"]["nodes"][0]["novelty"] = 1
    raw["status"]["nodes"].append({**entry("n1", 3), "novelty": 2})
    settings = replace(SETTINGS, protocol=RegistrationProtocol.RMW)
    request = next_daemon_action(context_for(compute_domain_from_json(raw), settings)).verdict
    assert isinstance(request, PutRequest)
    assert [item["novelty"] for item in thaw_json(request.manifest)["status"]["nodes"]] == [1, 2]
    post = next_daemon_action(context_for(None, replace(SETTINGS, protocol=RegistrationProtocol.SHARDED_RMW))).verdict
    assert isinstance(post, PostRequest)
    assert post.manifest["apiVersion"] == NVIDIA


@pytest.mark.parametrize(
    ("own", "other", "newer"),
    [
        (NOW, NOW - timedelta(1), False),
        (NOW, NOW + timedelta(1), True),
        (NOW, NOW, True),
        (None, NOW, True),
    ],
)
def test_dc052_newer_pod_by_age_then_uid(own: datetime | None, other: datetime, *, newer: bool) -> None:
    mine = pod("n1", "10.0.0.1", "a", created=own)
    rival = pod("n1", "10.0.0.9", "b", created=other)
    assert (newer_daemon_pod((mine, rival), "uid-a", "10.0.0.9") is not None) is newer
    assert newer_daemon_pod((mine,), "uid-a", "10.0.0.9") is None
    assert newer_daemon_pod((rival,), "uid-a", "10.0.0.9") == rival
    assert newer_daemon_pod((mine, replace(rival, living=False)), "uid-a", "10.0.0.9") is None


@pytest.mark.parametrize("own", [pod("n1", "10.0.0.1", "1", clique=None), None])
def test_dc050_a_label_is_written_once(own: DaemonPod | None) -> None:
    """A pod that was not observed yet may have no label."""
    identity = replace(IDENTITY, clique="")
    context = DaemonInput(
        identity=identity, settings=DaemonRegistrationSettings(), state=RegistrationState(), pod=own, now=NOW
    )
    request = next_daemon_action(context).verdict
    assert isinstance(request, LabelPodRequest)
    assert thaw_json(request.labels) == {DOMAIN_CLIQUE: ""}
    state = registration_state_after_result(
        RegistrationState(),
        identity,
        DaemonRegistrationSettings(),
        request,
        RequestSucceeded(),
        now=NOW,
    )
    assert next_daemon_action(replace(context, state=state)).verdict == IdleAction()


@pytest.mark.parametrize(("ip", "clears"), [("10.0.0.1", True), ("10.9.9.9", False)])
def test_dc067_its_own_address_in_the_other_object(ip: str, *, clears: bool) -> None:
    """A pod may get the address of an earlier pod that registered in the other registry."""
    kept = entry("n2", 1, clique="b")
    state = {"settled_index": 0, "other_registry": clique(entry("n1", 0, ip), kept), "other_read_at": NOW}
    fabric = FabricDaemonState(0, PeerMap(((0, "10.0.0.1"), (1, "10.0.0.2"))), ready=True)
    verdict = next_daemon_action(
        context_for(domain(entry("n1", 0, status="Ready")), DaemonRegistrationSettings(), state=state, fabric=fabric)
    ).verdict
    assert isinstance(verdict, ClearOtherEntryRequest) is clears
    if isinstance(verdict, ClearOtherEntryRequest):
        written = thaw_json(verdict.write.manifest)
        assert [item["nodeName"] for item in written["daemons"]] == ["n2"]
        assert (written["metadata"]["resourceVersion"], verdict.write.subresource) == ("10", "")


def test_dc067_failed_clear_rereads() -> None:
    put = PutRequest(target=IDENTITY.registry_ref(sharded=True), subresource="", manager="m", manifest=FrozenMap({}))
    state = RegistrationState(other_read_at=NOW)
    after = registration_state_after_result(
        state, IDENTITY, SETTINGS, ClearOtherEntryRequest(put), RequestFailed(RequestResultKind.CONFLICT), now=NOW
    )
    assert after.other_read_at is None
    assert after.failures == 1
