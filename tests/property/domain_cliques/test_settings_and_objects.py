"""Settings, names and parsed objects, rule by rule (DC-001 to DC-066)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    RegistrationState,
    choose_daemon_index,
    daemon_entries_of_nvlink_clique,
    nvlink_clique_daemons_of,
)
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    DaemonRegistrationSettings,
    RegistrationProtocol,
    registration_protocol_by_name,
    registration_protocol_problems,
)
from grove_core.areas.domain_cliques.daemon.registration_state_updates import (
    confirmed_daemon_index,
    registration_state_after_result,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    PeerMap,
    RequestSucceeded,
    StartFabricAction,
    WaitAction,
)
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.structs import replace
from grove_core.resources.compute_domain import compute_domain_from_json, daemon_pod_from_json, domain_clique_from_json
from grove_core.resources.naming_rules import (
    compute_domain_clique_name,
    daemon_field_manager,
    daemon_hostname,
    nvlink_clique_in_name,
)
from tests.property.domain_cliques.builders import IDENTITY, NOW, SETTINGS, UID, Json, context_for, domain, entry


@pytest.mark.parametrize(
    ("name", "sharded", "uses_apply"),
    [("ssa", False, True), ("rmw", False, False), ("sharded", True, True), ("sharded-rmw", True, False)],
)
def test_dc001_feature_gate_and_setting_choose_a_protocol(name: str, sharded: bool, uses_apply: bool) -> None:
    found = registration_protocol_by_name(name)
    assert found is not None
    assert (found.sharded, found.uses_apply) == (sharded, uses_apply)


def test_dc001_default_protocol_is_ssa() -> None:
    assert DaemonRegistrationSettings().protocol is RegistrationProtocol.SSA


def test_dc003_names_of_cliques_and_back() -> None:
    name = compute_domain_clique_name(UID, "c0ffee.7")
    assert (name, nvlink_clique_in_name(UID, name), nvlink_clique_in_name("other_registry", name)) == (
        f"{UID}.c0ffee.7",
        "c0ffee.7",
        "",
    )
    unlabelled = domain_clique_from_json({"metadata": {"name": "x"}, "daemons": []})
    assert (unlabelled.domain_uid, unlabelled.clique) == ("", "")


@pytest.mark.parametrize("length", [1, 118, 119, 253])
def test_dc003_managers_are_never_too_long(length: int) -> None:
    name, other = daemon_field_manager("cd-writer", "n" * length), daemon_field_manager("cd-writer", "m" * length)
    assert len(name) <= 128
    assert name != other
    assert (name == f"cd-writer-{'n' * length}") is (length <= 118)


def test_dc003_hosts_have_four_digits() -> None:
    assert daemon_hostname(7) == "compute-domain-daemon-0007"
    assert PeerMap(((7, "10.0.0.7"),)).hosts_file_lines == (("10.0.0.7", "compute-domain-daemon-0007"),)


@pytest.mark.parametrize(
    ("protocol", "limit", "size", "places"),
    [
        ("ssa", 18, 18, []),
        ("paxos", 18, 19, ["protocol", "clique size"]),
        ("rmw", 0, 1, ["limit"]),
        ("rmw", 10_001, 1, ["limit"]),
        ("sharded", 18, 0, ["clique size"]),
    ],
)
def test_cl005_all_problems_are_reported_at_once(protocol: str, limit: int, size: int, places: list[str]) -> None:
    assert [problem.path for problem in registration_protocol_problems(protocol, limit, size)] == places


@given(st.permutations([entry("n2", 0), entry("n3", 2), entry("n4", None)]))
def test_dc010_order_does_not_matter(entries: list[Json]) -> None:
    decision = next_daemon_action(context_for(domain(*entries)))
    assert isinstance(decision.verdict, ApplyRequest)
    assert thaw_json(decision.verdict.fields)["status"]["nodes"][0]["index"] == 1


def test_dc066_indices_of_other_cliques_do_not_count() -> None:
    registry = domain(entry("n2", 0, clique="b"), entry("n3", 1))
    assert choose_daemon_index(nvlink_clique_daemons_of(IDENTITY, registry), 18) == 0
    assert [found.node for found in daemon_entries_of_nvlink_clique("a", registry)] == ["n3"]


@given(st.frozensets(st.integers(-1, 5)), st.integers(1, 6), st.none() | st.integers(-1, 6))
def test_dc020_free_proposal_or_smallest_gap(used: frozenset[int], limit: int, proposal: int | None) -> None:
    view = nvlink_clique_daemons_of(IDENTITY, domain(*(entry(f"n{number + 20}", number) for number in used)))
    index = choose_daemon_index(view, limit, proposal)
    free = [number for number in range(limit) if number not in used]
    assert index == (proposal if proposal in free else next(iter(free), None))


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ([entry("n1", 0)], 0),
        ([entry("n1", 0, ip="10.9.9.9")], None),
        ([entry("n1", 0), entry("n2", 0)], None),
        ([entry("n1", None)], None),
        ([entry("n1", 18)], None),
        ([], None),
    ],
)
@pytest.mark.req("DC-022")
def test_dc023_only_an_own_unique_index_settles(entries: list[Json], wanted: int | None) -> None:
    registry = domain(*entries)
    assert confirmed_daemon_index(IDENTITY, SETTINGS, registry) == wanted
    request = next_daemon_action(context_for(domain())).verdict
    assert isinstance(request, ApplyRequest)
    after = registration_state_after_result(
        RegistrationState(),
        IDENTITY,
        SETTINGS,
        request,
        RequestSucceeded(registry),
        now=NOW,
    )
    assert after.settled_index == wanted


def test_dc066_peer_map_contains_valid_indices() -> None:
    registry = domain(entry("n1", 0), entry("n2", None), entry("n3", -1), entry("n4", 18), entry("n5", 2))
    decision = next_daemon_action(context_for(registry, state={"settled_index": 0}))
    assert decision.verdict == StartFabricAction(0, PeerMap(((0, "10.0.0.1"), (2, "10.0.0.5"))))


def test_dc022_entry_without_index() -> None:
    decision = next_daemon_action(context_for(domain(entry("n1", None), entry("n2", 0))))
    assert isinstance(decision.verdict, ApplyRequest)
    assert [why.rule for why in decision.because] == [ComputeDomainReason.INDEX_CHOSEN]
    assert thaw_json(decision.verdict.fields)["status"]["nodes"][0]["index"] == 1


def test_dc022_index_of_another_clique_is_not_sticky() -> None:
    decision = next_daemon_action(context_for(domain(entry("n1", 5, ip="10.9.9.9", clique="b"))))
    assert isinstance(decision.verdict, ApplyRequest)
    assert thaw_json(decision.verdict.fields)["status"]["nodes"][0]["index"] == 0


def test_dc021_successor_waits_for_a_free_index() -> None:
    settings = replace(SETTINGS, limit=1)
    decision = next_daemon_action(context_for(domain(entry("n1", None, ip="10.9.9.9"), entry("n2", 0)), settings))
    assert (decision.verdict, [why.rule for why in decision.because]) == (
        WaitAction(),
        [ComputeDomainReason.CLIQUE_FULL],
    )


@pytest.mark.parametrize(
    ("project", "raw"),
    [
        (
            compute_domain_from_json,
            {"metadata": {}, "spec": {"numNodes": "two"}, "status": {"nodes": [{"index": "x"}]}},
        ),
        (domain_clique_from_json, {"metadata": {}, "daemons": [{"ipAddress": 5}]}),
        (daemon_pod_from_json, {"metadata": {"name": 5}, "status": {"podIP": 1}}),
    ],
)
@pytest.mark.req("IN-030")
def test_dc010_every_problem_of_an_object_is_reported(project: Any, raw: Json) -> None:
    with pytest.raises(MalformedObject) as fault:
        project(raw)
    assert len(fault.value.problems) >= 2


def test_cl005_problem_lists_all_protocols() -> None:
    (problem,) = registration_protocol_problems("paxos", 18)
    assert problem.expected == "one of rmw, ssa, sharded, sharded-rmw"
