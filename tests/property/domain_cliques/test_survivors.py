"""What mutants of ComputeDomain synchronisation lived through until these tests were written (specs/mutants.md)."""

from dataclasses import replace
from datetime import timedelta

from grove_core.areas.domain_cliques.clique_view import view_of
from grove_core.areas.domain_cliques.memory import after_answer, after_event
from grove_core.areas.domain_cliques.moment import moment_of
from grove_core.areas.domain_cliques.other_source import next_reading
from grove_core.areas.domain_cliques.protocols import Protocol, Setup, problems_in_setup
from grove_core.areas.domain_cliques.registering import replace as replaced
from grove_core.areas.domain_cliques.situation import Glimpse, Memory
from grove_core.areas.domain_cliques.summary import fabricless_of
from grove_core.areas.domain_cliques.verdicts import Answer, Apply, ListPods, Put, Read, Remove, Reply
from grove_core.kernel.frozen import FrozenMap, freeze
from tests.property.domain_cliques.made import ME, NOW, SETUP, clique, domain, entry, looking, pod

REQUEST = Apply(target=ME.register_ref(sharded=False), subresource="status", manager="m", fields=domain().spec)
SECOND = timedelta(seconds=1)


def test_dc034_a_delay_that_is_over_does_not_hurry_an_event() -> None:
    memory = Memory(not_before=NOW - SECOND, failures=2)
    assert after_event(memory, ME, SETUP, Glimpse(1, None), now=NOW).not_before == NOW + SETUP.first_delay


def test_dc034_an_answer_ends_the_delays() -> None:
    failed = Memory(failures=7, failure="it did not work", not_before=NOW + SECOND)
    for request, answer in (
        (REQUEST, Answer(reply=Reply.DONE, register=domain())),
        (Read(ME.register_ref(sharded=True)), Answer(reply=Reply.GONE)),
    ):
        after = after_answer(failed, ME, SETUP, request, answer, now=NOW)
        assert (after.failures, after.failure, after.not_before) == (0, "", None)


def test_dc010_who_was_to_be_written_away_may_be_another_by_now() -> None:
    """The object is gone; one of its name that was made since is not, whatever the request meant."""
    put = Put(
        target=ME.register_ref(sharded=False),
        subresource="status",
        manager="m",
        manifest=FrozenMap({"metadata": freeze({"uid": "the one before"})}),
    )
    seen = Glimpse(10, domain(entry("n1", 0)))
    for request in (put, Remove(put)):
        assert after_answer(Memory(seen=seen), ME, SETUP, request, Answer(reply=Reply.GONE), now=NOW).seen == seen


def test_dc023_an_answer_that_shows_a_rival_keeps_what_was_settled_and_counts() -> None:
    answer = Answer(reply=Reply.DONE, register=domain(entry("n1", 0), entry("n2", 0)))
    after = after_answer(Memory(settled=0), ME, SETUP, REQUEST, answer, now=NOW)
    assert (after.settled, after.contested_since) == (0, NOW)


def test_dc065_a_rival_in_the_other_object_contests_too() -> None:
    memory = Memory(settled=0, other=clique(entry("n2", 0)), other_read_at=NOW)
    after = after_event(memory, ME, SETUP, Glimpse(10, domain(entry("n1", 0))), now=NOW)
    assert (after.settled, after.contested_since) == (0, NOW)


def test_dc007_every_protocol_that_there_is_is_named() -> None:
    (problem,) = problems_in_setup("paxos", 18)
    assert problem.expected == "one of rmw, ssa, sharded, sharded-rmw"


def test_dc065_an_object_without_others_of_the_clique_is_read_once() -> None:
    setup = Setup(protocol=Protocol.SHARDED, has_pods=False)
    for others, again in (((), None), ((entry("n2", 1, clique="b"),), None), ((entry("n2", 1),), NOW + setup.recheck)):
        memory = {"settled": 0, "other": domain(*others), "other_read_at": NOW}
        assert next_reading(looking(clique(entry("n1", 0)), setup, memory=memory)) == again


def test_dc051_pods_are_listed_again_when_the_list_is_old_or_of_another_address() -> None:
    setup = Setup(reads_both=False)
    register = domain(entry("n1", 0, "10.0.0.9"))
    mine = view_of(ME, register).mine
    assert mine is not None
    listed = {"pods": (pod("n1", "10.0.0.9", "b", created=NOW),), "pods_listed_for": "10.0.0.9"}
    for at, again in ((None, True), (NOW - setup.recheck, True), (NOW - setup.recheck + SECOND, False)):
        situation = looking(register, setup, memory={**listed, "pods_listed_at": at})
        verdict = replaced(situation, view_of(ME, register), mine).verdict
        assert isinstance(verdict, ListPods) is again


def test_dc062_nodes_without_fabric_are_sorted() -> None:
    pods = [pod(node, f"10.0.0.{node[1:]}", node, clique="") for node in ("n3", "n1", "n2")]
    moment = moment_of(domain(), [], pods, pods_version=100, now=NOW)
    assert [one.node for one in fabricless_of(moment)] == ["n1", "n2", "n3"]
    assert fabricless_of(replace(moment, pods=())) == ()
