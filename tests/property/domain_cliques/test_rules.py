"""What a daemon does next, rule by rule: what it remembers, waits for, gives way to and writes (DC-010 to DC-068)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.memory import after_answer, after_event, version_of
from grove_core.areas.domain_cliques.protocols import Protocol, Setup
from grove_core.areas.domain_cliques.registering import newer_pod
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Fabric, Glimpse, Memory, Situation
from grove_core.areas.domain_cliques.verdicts import (
    Answer,
    Apply,
    Clear,
    Label,
    ListPods,
    Peers,
    Post,
    Put,
    Read,
    Remove,
    Reply,
    Rest,
    Wait,
    Yield,
)
from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.resources.api_names import DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.compute_domain import compute_domain_of
from grove_core.resources.daemon_pod import DaemonPod
from tests.property.domain_cliques.made import ME, NOW, SETUP, Json, clique, domain, entry, looking, pod


def test_dc010_an_older_event_is_no_news() -> None:
    memory = Memory(seen=Glimpse(10, domain(entry("n1", 0))), settled=0)
    after = after_event(memory, ME, SETUP, Glimpse(9, None), now=NOW)
    assert (after.seen, after.settled) == (memory.seen, 0)
    gone = after_event(memory, ME, SETUP, Glimpse(11, None), now=NOW)
    assert (gone.seen, gone.settled) == (Glimpse(11, None), None)
    assert version_of(replace(domain(), resource_version="ab")) == 0


def test_dc027_what_is_contested_is_remembered_and_forgotten() -> None:
    memory = Memory(seen=Glimpse(10, domain(entry("n1", 0))), settled=0)
    two = after_event(memory, ME, SETUP, Glimpse(11, domain(entry("n1", 0), entry("n2", 0), version=11)), now=NOW)
    later = after_event(
        two,
        ME,
        SETUP,
        Glimpse(12, domain(entry("n1", 0), entry("n2", 0), version=12)),
        now=NOW + timedelta(1),
    )
    one = after_event(later, ME, SETUP, Glimpse(13, domain(entry("n1", 0), version=13)), now=NOW)
    assert (two.contested_since, later.contested_since, one.contested_since) == (NOW, NOW, None)


REQUEST = Apply(target=ME.register_ref(sharded=False), subresource="status", manager="m", fields=domain().spec)


def test_dc034_delays_double_and_events_end_them() -> None:
    memory, delays = Memory(), []
    for _ in range(13):
        memory = after_answer(memory, ME, SETUP, REQUEST, Answer(reply=Reply.STALE), now=NOW)
        assert memory.not_before is not None
        delays.append((memory.not_before - NOW) / timedelta(milliseconds=1))
    assert delays[:3] == [5, 10, 20]
    assert delays[-1] == 6000
    fresh = after_event(memory, ME, SETUP, Glimpse(1, None), now=NOW, jitter=1.2)
    assert fresh.not_before == NOW + timedelta(milliseconds=6)
    assert (fresh.failures, fresh.failure) == (0, "")
    again = after_event(fresh, ME, SETUP, Glimpse(2, None), now=NOW + timedelta(milliseconds=2))
    assert again.not_before == fresh.not_before


@pytest.mark.parametrize(("asked", "wanted"), [(None, 1), (timedelta(seconds=30), 30)])
def test_dc035_patience_is_kept_through_events(asked: timedelta | None, wanted: int) -> None:
    memory = after_answer(Memory(), ME, SETUP, REQUEST, Answer(reply=Reply.BUSY, retry_after=asked), now=NOW)
    memory = after_event(memory, ME, SETUP, Glimpse(1, domain()), now=NOW)
    assert memory.patient_until == NOW + timedelta(seconds=wanted)
    situation = Situation(me=ME, setup=SETUP, memory=memory, now=NOW + timedelta(milliseconds=500))
    assert decide(situation).verdict == Wait(NOW + timedelta(seconds=wanted))


def test_dc032_once_with_force() -> None:
    memory = after_answer(Memory(), ME, SETUP, REQUEST, Answer(reply=Reply.OWNED), now=NOW)
    assert (memory.must_force, memory.not_before) == (True, None)
    done = after_answer(memory, ME, SETUP, REQUEST, Answer(reply=Reply.DONE, register=domain()), now=NOW)
    assert not done.must_force


@pytest.mark.parametrize("reply", [Reply.DONE, Reply.REFUSED])
def test_dc056_what_remains_is_written_away(reply: Reply) -> None:
    register = domain(entry("n1", 0), entry("n2", 1))
    situation = looking(register, memory={"settled": 0}, stop_by=NOW + timedelta(seconds=10))
    request = decide(situation).verdict
    assert isinstance(request, Remove)
    assert isinstance(request.write, Apply)
    answer = Answer(reply=reply, register=register if reply is Reply.DONE else None)
    memory = after_answer(situation.memory, ME, SETUP, request, answer, now=NOW)
    second = decide(replace(situation, memory=memory, now=NOW + timedelta(seconds=1))).verdict
    assert isinstance(second, Remove)
    assert isinstance(second.write, Put)
    assert [item["name"] for item in thaw(second.write.manifest)["status"]["nodes"]] == ["n2"]
    gone = after_answer(memory, ME, SETUP, second, Answer(reply=Reply.GONE), now=NOW)
    assert [why.rule for why in decide(replace(situation, memory=gone)).because] == [Why.NOTHING_LEFT]


@pytest.mark.parametrize(("other", "rule"), [(0, Why.INDEX_LOST), (1, Why.INDEX_KEPT)])
@pytest.mark.parametrize("left", [[], [entry("n1", 2)], [entry("n1", 4, ip="10.9.9.9")]])
def test_dc028_somebody_took_the_entry_away_or_altered_it(other: int, rule: Why, left: list[Json]) -> None:
    fabric = Fabric(0, Peers(((0, "10.0.0.1"), (1, "10.0.0.2"))), ready=True)
    decision = decide(looking(domain(*left, entry("n2", other)), fabric=fabric))
    assert isinstance(decision.verdict, Apply)
    altered = [item["index"] for item in left if item["ipAddress"] == ME.ip]
    kept = Why.INDEX_UNCONFIRMED if altered and rule is Why.INDEX_LOST else rule
    assert [why.rule for why in decision.because] == [kept]


def test_dc028_an_altered_index_that_is_shared_too_is_replaced() -> None:
    fabric = Fabric(0, Peers(((0, "10.0.0.1"), (1, "10.0.0.2"))), ready=True)
    decision = decide(looking(domain(entry("n1", 2), entry("n2", 0), entry("n3", 2)), fabric=fabric))
    assert [why.rule for why in decision.because] == [Why.INDEX_LOST]


@pytest.mark.parametrize("lost", [-1, 18])
def test_dc024_an_index_out_of_range_is_nobodys(lost: int) -> None:
    """That of a node without fabric, or of a longer clique: none that a rival has too."""
    mine = entry("n1", lost)
    decision = decide(looking(domain(mine, entry("n2", 0))))
    assert [why.sentence for why in decision.because] == ["it has no index yet; 1 is the smallest that nobody has"]
    full = decide(looking(domain(mine, entry("n2", 0)), replace(SETUP, limit=1)))
    assert isinstance(full.verdict, Remove)
    assert [why.rule for why in full.because] == [Why.CLIQUE_FULL]


def test_dc026_who_is_not_the_last_goes_on_waiting() -> None:
    memory = {"settled": 0, "contested_since": NOW - timedelta(minutes=1)}
    register = domain(entry("n1", 0), entry("n2", 0))
    assert decide(looking(register, memory=memory, fabric=Fabric(0, Peers(())))).verdict == Wait()


@pytest.mark.parametrize(
    ("entries", "memory"),
    [
        ([entry("n1", 0, ip="10.9.9.9"), entry("n2", 0)], {}),
        ([entry("n1", 0), entry("n0", 0)], {"settled": 0, "contested_since": NOW - timedelta(minutes=1)}),
        ([entry("n1", 0), entry("n2", 0)], {}),
    ],
)
def test_dc029_who_would_have_to_move_and_cannot_withdraws(entries: list[Json], memory: Json) -> None:
    fabric = Fabric(0, Peers(())) if memory else None
    situation = looking(domain(*entries), replace(SETUP, limit=1), memory=memory, fabric=fabric)
    decision = decide(situation)
    assert isinstance(decision.verdict, Remove)
    assert [why.rule for why in decision.because] == [Why.WITHDRAWN]
    answer = Answer(reply=Reply.DONE, register=domain(entries[1], version=11))
    memory_after = after_answer(situation.memory, ME, SETUP, decision.verdict, answer, now=NOW)
    last = decide(replace(situation, memory=memory_after))
    assert last.verdict == (Yield(NOW + SETUP.recheck) if fabric else Wait())
    assert [why.rule for why in last.because] == [Why.CLIQUE_FULL]


def test_dc010_what_was_made_anew_is_not_forgotten() -> None:
    setup = replace(SETUP, protocol=Protocol.SHARDED_RMW)
    old = clique(entry("n2", 0))
    request = decide(looking(old, setup)).verdict
    assert isinstance(request, Put)
    new = replace(clique(entry("n3", 0), version=12), uid="made-anew")
    memory = after_answer(Memory(seen=Glimpse(12, new)), ME, setup, request, Answer(reply=Reply.GONE), now=NOW)
    assert memory.seen == Glimpse(12, new)
    gone = after_answer(Memory(seen=Glimpse(10, old)), ME, setup, request, Answer(reply=Reply.GONE), now=NOW)
    assert gone.seen == Glimpse(10, None)
    never = after_answer(Memory(), ME, setup, request, Answer(reply=Reply.GONE), now=NOW)
    assert never.seen is None
    silent = after_answer(Memory(), ME, setup, request, Answer(reply=Reply.DONE), now=NOW)
    assert (silent.seen, silent.settled) == (None, None)


@pytest.mark.req("DC-010")
@pytest.mark.parametrize("request_", [Label(ME.pod_ref, FrozenMap({})), ListPods("10.0.0.9")])
def test_dc034_a_pod_that_is_not_there_says_nothing_of_the_register(request_: Label | ListPods) -> None:
    """What was seen and settled stays; the request is tried again."""
    before = Memory(seen=Glimpse(10, domain(entry("n1", 0))), settled=0)
    after = after_answer(before, ME, SETUP, request_, Answer(reply=Reply.GONE), now=NOW)
    assert (after.seen, after.settled) == (before.seen, 0)
    assert (after.failures, after.not_before) == (1, NOW + SETUP.first_delay)


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.req("DC-025")
def test_dc068_who_has_not_started_yields_to_the_other_object(*, runs: bool) -> None:
    setup = Setup(has_pods=False)
    peers = Peers(((0, "10.0.0.1"),))
    memory = {"settled": 0, "contested_since": NOW, "other": clique(entry("n2", 0)), "other_read_at": NOW}
    situation = looking(domain(entry("n1", 0)), setup, memory=memory, fabric=Fabric(0, peers) if runs else None)
    decision = decide(situation)
    assert isinstance(decision.verdict, Wait if runs else Apply)
    assert decision.because[0].rule is (Why.RIVAL_AWAITED if runs else Why.CONTESTED_ELSEWHERE)


def test_dc065_a_domain_of_another_uid_is_no_source() -> None:
    request, other = Read(ME.register_ref(sharded=False)), replace(domain(entry("n2", 0)), uid="other")
    memory = after_answer(Memory(), ME, SETUP, request, Answer(reply=Reply.DONE, register=other), now=NOW)
    assert (memory.other, memory.other_read_at) == (None, NOW)
    gone = after_answer(Memory(other=domain()), ME, SETUP, request, Answer(reply=Reply.GONE), now=NOW)
    assert (gone.other, gone.other_read_at) == (None, NOW)


def test_dc065_it_looks_again_while_others_are_there() -> None:
    setup = Setup(protocol=Protocol.SHARDED, has_pods=False)
    peers = Peers(((0, "10.0.0.1"), (1, "10.0.0.2")))
    memory = {"settled": 0, "other": domain(entry("n2", 1)), "other_read_at": NOW}
    register = replace(clique(entry("n1", 0, status="Ready")), owners=("uid-1",))
    situation = looking(register, setup, memory=memory, fabric=Fabric(0, peers, ready=True))
    assert decide(situation).verdict == Wait(NOW + setup.recheck)
    later = replace(situation, now=NOW + setup.recheck)
    assert decide(later).verdict == Read(ME.register_ref(sharded=False))
    unread = replace(situation, memory=replace(situation.memory, other_read_at=None))
    assert decide(unread).verdict == Read(ME.register_ref(sharded=False))


def test_dc030_unknown_fields_are_carried_along() -> None:
    raw = thaw(domain(entry("n2", 0)).stored)
    raw["status"]["nodes"][0]["novelty"] = 1
    raw["status"]["nodes"].append({**entry("n1", 3), "novelty": 2})
    setup = replace(SETUP, protocol=Protocol.RMW)
    request = decide(looking(compute_domain_of(raw), setup)).verdict
    assert isinstance(request, Put)
    assert [item["novelty"] for item in thaw(request.manifest)["status"]["nodes"]] == [1, 2]
    post = decide(looking(None, replace(SETUP, protocol=Protocol.SHARDED_RMW))).verdict
    assert isinstance(post, Post)
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
def test_dc052_the_newer_pod_by_age_then_by_uid(own: datetime | None, other: datetime, *, newer: bool) -> None:
    mine = pod("n1", "10.0.0.1", "a", created=own)
    rival = pod("n1", "10.0.0.9", "b", created=other)
    assert (newer_pod((mine, rival), "uid-a", "10.0.0.9") is not None) is newer
    assert newer_pod((mine,), "uid-a", "10.0.0.9") is None
    assert newer_pod((rival,), "uid-a", "10.0.0.9") == rival
    assert newer_pod((mine, replace(rival, living=False)), "uid-a", "10.0.0.9") is None


@pytest.mark.parametrize("own", [pod("n1", "10.0.0.1", "1", clique=None), None])
def test_dc050_a_label_is_written_once(own: DaemonPod | None) -> None:
    """A pod that is not seen yet may have none."""
    me = replace(ME, clique="")
    situation = Situation(me=me, setup=Setup(), memory=Memory(), pod=own, now=NOW)
    request = decide(situation).verdict
    assert isinstance(request, Label)
    assert thaw(request.labels) == {DOMAIN_CLIQUE: ""}
    memory = after_answer(Memory(), me, Setup(), request, Answer(reply=Reply.DONE), now=NOW)
    assert decide(replace(situation, memory=memory)).verdict == Rest()


@pytest.mark.parametrize(("ip", "clears"), [("10.0.0.1", True), ("10.9.9.9", False)])
def test_dc067_its_own_address_in_the_other_object(ip: str, *, clears: bool) -> None:
    """A pod may get the address of the one before it, which registered by the other gate."""
    kept = entry("n2", 1, clique="b")
    memory = {"settled": 0, "other": clique(entry("n1", 0, ip), kept), "other_read_at": NOW}
    fabric = Fabric(0, Peers(((0, "10.0.0.1"), (1, "10.0.0.2"))), ready=True)
    verdict = decide(looking(domain(entry("n1", 0, status="Ready")), Setup(), memory=memory, fabric=fabric)).verdict
    assert isinstance(verdict, Clear) is clears
    if isinstance(verdict, Clear):
        written = thaw(verdict.write.manifest)
        assert [item["nodeName"] for item in written["daemons"]] == ["n2"]
        assert (written["metadata"]["resourceVersion"], verdict.write.subresource) == ("10", "")


def test_dc067_what_could_not_be_cleared_is_read_again() -> None:
    put = Put(target=ME.register_ref(sharded=True), subresource="", manager="m", manifest=FrozenMap({}))
    memory = Memory(other_read_at=NOW)
    after = after_answer(memory, ME, SETUP, Clear(put), Answer(reply=Reply.STALE), now=NOW)
    assert after.other_read_at is None
    assert after.failures == 1
