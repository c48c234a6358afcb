"""What mutants of ComputeDomain synchronisation lived through until these tests were written (specs/mutants.md)."""

from dataclasses import replace
from datetime import timedelta

from grove_core.areas.domain_cliques.clique_view import clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonState, RegistryObservation
from grove_core.areas.domain_cliques.domain_snapshot import domain_snapshot_of
from grove_core.areas.domain_cliques.domain_status import fabricless_entries
from grove_core.areas.domain_cliques.other_registry import next_read
from grove_core.areas.domain_cliques.protocols import DaemonSettings, Protocol, problems_in_settings
from grove_core.areas.domain_cliques.registration import take_over_entry as replaced
from grove_core.areas.domain_cliques.state_updates import after_event, after_result
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    ListPods,
    Put,
    ReadObject,
    RemoveEntry,
    RequestResult,
    ResultKind,
)
from grove_core.kernel.frozen import FrozenMap, freeze
from tests.property.domain_cliques.builders import IDENTITY, NOW, SETTINGS, clique, context_for, domain, entry, pod

REQUEST = Apply(target=IDENTITY.registry_ref(sharded=False), subresource="status", manager="m", fields=domain().spec)
SECOND = timedelta(seconds=1)


def test_dc034_a_delay_that_is_over_does_not_hurry_an_event() -> None:
    state = DaemonState(not_before=NOW - SECOND, failures=2)
    assert (
        after_event(state, IDENTITY, SETTINGS, RegistryObservation(1, None), now=NOW).not_before
        == NOW + SETTINGS.first_backoff
    )


def test_dc034_an_answer_ends_the_delays() -> None:
    failed = DaemonState(failures=7, failure="it did not work", not_before=NOW + SECOND)
    for request, answer in (
        (REQUEST, RequestResult(kind=ResultKind.SUCCEEDED, registry=domain())),
        (ReadObject(IDENTITY.registry_ref(sharded=True)), RequestResult(kind=ResultKind.NOT_FOUND)),
    ):
        after = after_result(failed, IDENTITY, SETTINGS, request, answer, now=NOW)
        assert (after.failures, after.failure, after.not_before) == (0, "", None)


def test_dc010_who_was_to_be_written_away_may_be_another_by_now() -> None:
    """The object is gone; one of its name that was made since is not, whatever the request meant."""
    put = Put(
        target=IDENTITY.registry_ref(sharded=False),
        subresource="status",
        manager="m",
        manifest=FrozenMap({"metadata": freeze({"uid": "the one before"})}),
    )
    seen = RegistryObservation(10, domain(entry("n1", 0)))
    for request in (put, RemoveEntry(put)):
        assert (
            after_result(
                DaemonState(observed=seen),
                IDENTITY,
                SETTINGS,
                request,
                RequestResult(kind=ResultKind.NOT_FOUND),
                now=NOW,
            ).observed
            == seen
        )


def test_dc023_an_answer_that_shows_a_rival_keeps_what_was_settled_and_counts() -> None:
    answer = RequestResult(kind=ResultKind.SUCCEEDED, registry=domain(entry("n1", 0), entry("n2", 0)))
    after = after_result(DaemonState(settled_index=0), IDENTITY, SETTINGS, REQUEST, answer, now=NOW)
    assert (after.settled_index, after.contested_since) == (0, NOW)


def test_dc065_a_rival_in_the_other_object_contests_too() -> None:
    state = DaemonState(settled_index=0, other_registry=clique(entry("n2", 0)), other_read_at=NOW)
    after = after_event(state, IDENTITY, SETTINGS, RegistryObservation(10, domain(entry("n1", 0))), now=NOW)
    assert (after.settled_index, after.contested_since) == (0, NOW)


def test_dc007_every_protocol_that_there_is_is_named() -> None:
    (problem,) = problems_in_settings("paxos", 18)
    assert problem.expected == "one of rmw, ssa, sharded, sharded-rmw"


def test_dc065_an_object_without_others_of_the_clique_is_read_once() -> None:
    settings = DaemonSettings(protocol=Protocol.SHARDED, has_pods=False)
    for others, again in (
        ((), None),
        ((entry("n2", 1, clique="b"),), None),
        ((entry("n2", 1),), NOW + settings.recheck_interval),
    ):
        state = {"settled_index": 0, "other_registry": domain(*others), "other_read_at": NOW}
        assert next_read(context_for(clique(entry("n1", 0)), settings, state=state)) == again


def test_dc051_pods_are_listed_again_when_the_list_is_old_or_of_another_address() -> None:
    settings = DaemonSettings(reads_other_registry=False)
    registry = domain(entry("n1", 0, "10.0.0.9"))
    mine = clique_view_of(IDENTITY, registry).own
    assert mine is not None
    listed = {"pods": (pod("n1", "10.0.0.9", "b", created=NOW),), "pods_listed_for": "10.0.0.9"}
    for at, again in (
        (None, True),
        (NOW - settings.recheck_interval, True),
        (NOW - settings.recheck_interval + SECOND, False),
    ):
        context = context_for(registry, settings, state={**listed, "pods_listed_at": at})
        verdict = replaced(context, clique_view_of(IDENTITY, registry), mine).verdict
        assert isinstance(verdict, ListPods) is again


def test_dc062_nodes_without_fabric_are_sorted() -> None:
    pods = [pod(node, f"10.0.0.{node[1:]}", node, clique="") for node in ("n3", "n1", "n2")]
    moment = domain_snapshot_of(domain(), [], pods, pods_version=100, now=NOW)
    assert [one.node for one in fabricless_entries(moment)] == ["n1", "n2", "n3"]
    assert fabricless_entries(replace(moment, pods=())) == ()
