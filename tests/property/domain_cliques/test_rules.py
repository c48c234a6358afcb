"""Rules of domain cliques that a table or a few examples say best."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.domain_cliques.clique_view import chosen, entries_of, view_of
from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.memory import after_answer, after_event, settled_index, version_of
from grove_core.areas.domain_cliques.moment import moment_of
from grove_core.areas.domain_cliques.protocols import Protocol, Setup, problems_in_setup, protocol_for, protocol_named
from grove_core.areas.domain_cliques.registering import newer_pod
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Daemon, Fabric, Glimpse, Memory, Situation
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
    Start,
    Wait,
    Yield,
)
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.kernel.steps import Apply as ApplyStep
from grove_core.kernel.steps import SetStatus
from grove_core.reconcile_domain import reconcile_domain
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_of
from grove_core.resources.compute_domain_clique import ComputeDomainClique, compute_domain_clique_of
from grove_core.resources.daemon_pod import DaemonPod, daemon_pod_of
from grove_core.resources.keys import DOMAIN, DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.names import clique_of_name, daemon_host, domain_clique_name, field_manager, index_of_host

Json = dict[str, Any]
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
UID = "uid-of-domain"
SETUP = Setup(reads_both=False, has_pods=False)
ME = Daemon(
    node="n1",
    ip="10.0.0.1",
    clique="a",
    namespace="ml",
    domain="training",
    domain_uid=UID,
    pod_namespace="driver",
    pod="pod-1",
    pod_uid="uid-1",
)


def entry(node: str, index: int | None, ip: str = "", clique: str = "a", status: str = "NotReady") -> Json:
    whole = {
        "name": node,
        "ipAddress": ip or f"10.0.0.{node[1:]}",
        "cliqueID": clique,
        "index": index,
        "status": status,
    }
    return {name: value for name, value in whole.items() if value is not None and value != ""}


def domain(*entries: Json, version: int = 10, **status: Any) -> ComputeDomain:
    metadata = {"name": "training", "namespace": "ml", "uid": UID, "resourceVersion": str(version)}
    spec = {"numNodes": 1}
    return compute_domain_of({"metadata": metadata, "spec": spec, "status": {"nodes": list(entries), **status}})


def clique(*entries: Json, version: int = 10, name: str = "a", uid: str = UID) -> ComputeDomainClique:
    metadata = {
        "name": f"{uid}.{name}",
        "namespace": "driver",
        "uid": f"uid-of-{name}",
        "resourceVersion": str(version),
        "labels": {DOMAIN: uid, DOMAIN_CLIQUE: name},
    }
    daemons = [{"nodeName": item["name"], **{key: item[key] for key in item if key != "name"}} for item in entries]
    return compute_domain_clique_of({"metadata": metadata, "daemons": daemons})


def pod(node: str, ip: str, name: str = "pod", clique: str | None = "a", **more: Any) -> DaemonPod:
    labels = {DOMAIN: UID} if clique is None else {DOMAIN: UID, DOMAIN_CLIQUE: clique}
    return replace(
        daemon_pod_of(
            {
                "metadata": {"name": name, "namespace": "driver", "uid": f"uid-{name}", "labels": labels},
                "spec": {"nodeName": node},
                "status": {"podIP": ip, "phase": "Running"},
            }
        ),
        **more,
    )


def looking(register: Any, setup: Setup = SETUP, **more: Any) -> Situation:
    memory = {"seen": Glimpse(version_of(register) if register else 0, register), **more.pop("memory", {})}
    return Situation(me=ME, setup=setup, memory=Memory(**memory), now=NOW, **more)


@pytest.mark.parametrize(
    ("cliques", "applies", "wanted"),
    [
        (False, True, Protocol.SSA),
        (False, False, Protocol.RMW),
        (True, True, Protocol.SHARDED),
        (True, False, Protocol.SHARDED_RMW),
    ],
)
def test_dc001_gate_and_setting_choose(cliques: bool, applies: bool, wanted: Protocol) -> None:
    assert protocol_for(cliques=cliques, applies=applies) is wanted
    assert protocol_named(wanted.word) is wanted


def test_dc002_without_a_setting_it_is_apply_on_the_domain() -> None:
    assert protocol_for() is Setup().protocol is Protocol.SSA


def test_dc003_names_of_cliques_and_back() -> None:
    name = domain_clique_name(UID, "c0ffee.7")
    assert (name, clique_of_name(UID, name), clique_of_name("other", name)) == (f"{UID}.c0ffee.7", "c0ffee.7", "")
    unlabelled = compute_domain_clique_of({"metadata": {"name": "x"}, "daemons": []})
    assert (unlabelled.domain_uid, unlabelled.clique) == ("", "")


@pytest.mark.parametrize("length", [1, 118, 119, 253])
def test_dc004_managers_are_never_too_long(length: int) -> None:
    name, other = field_manager("cd-writer", "n" * length), field_manager("cd-writer", "m" * length)
    assert len(name) <= 128
    assert name != other
    assert (name == f"cd-writer-{'n' * length}") is (length <= 118)


@given(st.integers(0, 9999))
def test_dc005_hosts_and_back(index: int) -> None:
    assert index_of_host(daemon_host(index)) == index
    assert daemon_host(7) == "compute-domain-daemon-0007"
    assert index_of_host("compute-domain-daemon-7") is index_of_host("other-0007") is None
    assert Peers(((7, "10.0.0.7"),)).hosts == (("10.0.0.7", "compute-domain-daemon-0007"),)


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
def test_dc007_all_that_is_wrong_is_said_at_once(protocol: str, limit: int, size: int, places: list[str]) -> None:
    assert [problem.path for problem in problems_in_setup(protocol, limit, size)] == places


@given(st.permutations([entry("n2", 0), entry("n3", 2), entry("n4", None)]))
def test_dc011_order_does_not_matter(entries: list[Json]) -> None:
    decision = decide(looking(domain(*entries)))
    assert isinstance(decision.verdict, Apply)
    assert thaw(decision.verdict.fields)["status"]["nodes"][0]["index"] == 1


def test_dc018_other_cliques_do_not_count() -> None:
    register = domain(entry("n2", 0, clique="b"), entry("n3", 1))
    assert chosen(view_of(ME, register), 18) == 0
    assert [found.node for found in entries_of("a", register)] == ["n3"]


@given(st.frozensets(st.integers(-1, 5)), st.integers(1, 6), st.none() | st.integers(-1, 6))
def test_dc020_the_smallest_gap_or_the_proposal(used: frozenset[int], limit: int, proposal: int | None) -> None:
    view = view_of(ME, domain(*(entry(f"n{number + 20}", number) for number in used)))
    index = chosen(view, limit, proposal)
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
def test_dc023_only_an_own_and_single_index_settles(entries: list[Json], wanted: int | None) -> None:
    register = domain(*entries)
    assert settled_index(ME, SETUP, register) == wanted
    request = decide(looking(domain())).verdict
    assert isinstance(request, Apply)
    after = after_answer(Memory(), ME, SETUP, request, Answer(reply=Reply.DONE, register=register), now=NOW)
    assert after.settled == wanted


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
        now=NOW * 1 if False else NOW + timedelta(1),
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


def test_dc044_a_map_holds_what_has_an_index() -> None:
    register = domain(entry("n1", 0), entry("n2", None), entry("n3", -1), entry("n4", 18), entry("n5", 2))
    decision = decide(looking(register, memory={"settled": 0}))
    assert decision.verdict == Start(0, Peers(((0, "10.0.0.1"), (2, "10.0.0.5"))))


def test_dc022_an_older_writer_left_no_index() -> None:
    decision = decide(looking(domain(entry("n1", None), entry("n2", 0))))
    assert isinstance(decision.verdict, Apply)
    assert [why.rule for why in decision.because] == [Why.INDEX_CHOSEN]
    assert thaw(decision.verdict.fields)["status"]["nodes"][0]["index"] == 1


def test_dc022_an_index_of_another_clique_is_not_inherited() -> None:
    decision = decide(looking(domain(entry("n1", 5, ip="10.9.9.9", clique="b"))))
    assert isinstance(decision.verdict, Apply)
    assert thaw(decision.verdict.fields)["status"]["nodes"][0]["index"] == 0


def test_dc021_a_predecessor_without_a_free_index_waits() -> None:
    setup = replace(SETUP, limit=1)
    decision = decide(looking(domain(entry("n1", None, ip="10.9.9.9"), entry("n2", 0)), setup))
    assert (decision.verdict, [why.rule for why in decision.because]) == (Wait(), [Why.CLIQUE_FULL])


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


def test_dc050_a_label_is_written_once() -> None:
    me = replace(ME, clique="")
    own = pod("n1", "10.0.0.1", "1", clique=None)
    situation = Situation(me=me, setup=Setup(), memory=Memory(), pod=own, now=NOW)
    request = decide(situation).verdict
    assert isinstance(request, Label)
    assert thaw(request.labels) == {DOMAIN_CLIQUE: ""}
    memory = after_answer(Memory(), me, Setup(), request, Answer(reply=Reply.DONE), now=NOW)
    assert decide(replace(situation, memory=memory)).verdict == Rest()


def planned(found: ComputeDomain, cliques: list[ComputeDomainClique], pods: list[DaemonPod], version: int = 100) -> Any:
    return reconcile_domain(moment_of(found, cliques, pods, pods_version=version, now=NOW))


def status_in(plan: Any) -> Json:
    (fields,) = [step.action.fields for step in plan.steps if isinstance(step.action, SetStatus)]
    found: Json = thaw(fields)
    return found


def test_no_rule_set_judged_a_domain() -> None:
    assert planned(domain(), [], []).rules == ""


@pytest.mark.parametrize(
    ("found", "stays"),
    [
        (pod("n1", "10.0.0.1"), True),
        (pod("n1", "10.9.9.9"), True),
        (pod("n1", "10.9.9.9", clique=None), True),
        (pod("n1", "", clique=None, living=False), True),
        (pod("n1", "10.9.9.9", clique="b"), False),
        (pod("n2", "10.9.9.9"), False),
        (replace(pod("n1", "10.9.9.9"), domain_uid="other"), False),
    ],
)
@pytest.mark.req("DC-070")
@pytest.mark.req("DC-071")
def test_dc073_which_pods_keep_an_entry(found: DaemonPod, *, stays: bool) -> None:
    plan = planned(domain(), [clique(entry("n1", 0))], [found])
    removed = [step for step in plan.steps if step.target.kind == "ComputeDomainClique"]
    assert bool(removed) is not stays


def test_dc072_a_view_must_be_as_new_as_the_entry() -> None:
    plan = planned(domain(), [clique(entry("n1", 0), version=50)], [], version=49)
    assert [held.target.kind for held in plan.withheld] == ["ComputeDomainClique"]
    assert plan.wake_at == NOW + timedelta(seconds=2)
    assert planned(domain(), [clique(entry("n1", 0), version=50)], [], version=50).withheld == ()


@pytest.mark.parametrize(
    ("ip", "pods", "version", "goes"),
    [
        ("10.9.9.1", [pod("n1", "10.0.0.1")], 50, True),
        ("10.9.9.1", [pod("n1", "10.0.0.1"), pod("n1", "10.0.0.2", name="newer", clique=None)], 50, True),
        ("10.9.9.1", [pod("n1", "10.0.0.1", living=False), pod("n1", "10.0.0.2", name="newer")], 50, False),
        ("10.0.0.2", [pod("n1", "10.0.0.1"), pod("n1", "10.0.0.2", name="older")], 50, False),
        ("10.9.9.1", [pod("n1", "10.0.0.1")], 49, False),
    ],
)
def test_dc074_who_is_registered_elsewhere(ip: str, pods: list[DaemonPod], version: int, *, goes: bool) -> None:
    """An entry of no pod goes for a living pod that stands in the clique, however many other pods wait on the node."""
    plan = planned(domain(entry("n1", 0, ip)), [clique(entry("n1", 0), version=50)], pods, version)
    removed = [step for step in plan.steps if isinstance(step.action, ApplyStep)]
    assert [step.target.kind for step in removed] == (["ComputeDomain"] if goes else [])


def test_dc062_a_node_without_fabric_gets_its_entry() -> None:
    bare = pod("n1", "10.0.0.1", clique="", ready=True)
    status = status_in(planned(domain(), [], [bare]))
    assert status["nodes"] == [{"name": "n1", "ipAddress": "10.0.0.1", "cliqueID": "", "index": -1, "status": "Ready"}]
    stored = domain(entry("n1", -1, clique="", status="Ready"), status="Ready")
    raw = thaw(stored.stored)
    raw["status"]["nodes"][0]["cliqueID"] = ""
    assert planned(compute_domain_of(raw), [], [bare]).steps == ()


def test_dc082_only_cliques_of_the_domain_have_a_record() -> None:
    status = status_in(planned(domain(), [clique(), clique(uid="other", name="b")], []))
    assert status["cliques"] == [{"id": "a", "status": "NotReady"}]


@pytest.mark.parametrize(("status", "wanted"), [("Ready", "Ready"), ("NotReady", "NotReady"), ("", "NotReady")])
def test_dc085_no_word_is_no(status: str, wanted: str) -> None:
    plan = planned(domain(), [clique(entry("n1", 0, status=status))], [pod("n1", "10.0.0.1")])
    found = {finding.subject.kind: finding.verdict for finding in plan.findings}
    assert found == {"ComputeDomain": wanted, "ComputeDomainClique": wanted}


def test_dc066_a_node_in_two_sources_counts_once_and_as_the_worse() -> None:
    both = [clique(entry("n1", 0, status="Ready"))]
    plan = planned(domain(entry("n1", 0, ip="10.9.9.9")), both, [pod("n1", "10.0.0.1")], version=5)
    assert [found.verdict for found in plan.findings if found.subject.kind == "ComputeDomain"][-1] == "NotReady"


@given(st.permutations([clique(entry("n1", 0, status="Ready")), clique(entry("n2", 0, clique="b"), name="b")]))
def test_dc086_twice_is_once_in_any_order(cliques: list[ComputeDomainClique]) -> None:
    pods = [pod("n1", "10.0.0.1"), pod("n2", "10.0.0.2", "other", clique="b")]
    fields = status_in(planned(domain(), cliques, pods))
    assert fields == status_in(planned(domain(), cliques[::-1], pods[::-1]))
    raw = thaw(domain().stored)
    raw["status"] = fields
    assert planned(compute_domain_of(raw), cliques, pods).steps == ()


def test_dc075_what_stays_is_carried_byte_for_byte() -> None:
    raw = thaw(clique(entry("n1", 0), entry("n2", 1)).stored)
    raw["daemons"][1]["novelty"] = True
    plan = planned(domain(), [compute_domain_clique_of(raw)], [pod("n2", "10.0.0.2")])
    (step,) = [step for step in plan.steps if step.target.kind == "ComputeDomainClique"]
    assert thaw(step.action.fields) == {"daemons": [raw["daemons"][1]]}


@pytest.mark.parametrize(
    ("project", "raw"),
    [
        (compute_domain_of, {"metadata": {}, "spec": {"numNodes": "two"}, "status": {"nodes": [{"index": "x"}]}}),
        (compute_domain_clique_of, {"metadata": {}, "daemons": [{"ipAddress": 5}]}),
        (daemon_pod_of, {"metadata": {"name": 5}, "status": {"podIP": 1}}),
    ],
)
@pytest.mark.req("IN-030")
def test_dc011_every_problem_of_an_object_is_said(project: Any, raw: Json) -> None:
    with pytest.raises(MalformedObject) as fault:
        project(raw)
    assert len(fault.value.problems) >= 2


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
