"""Late events: after a list, after a deletion, and after a new object of the name. One order at a time."""

import asyncio
from typing import Final

import pytest
from aiohttp import web

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import BINDING_KIND, GROVE, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import topology_ref
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.topology_cache import TopologyCache
from grove_shell.client import object_store
from tests.operator.cached_objects import NAMESPACE, Json
from tests.operator.stub_server import api_with, not_found
from tests.property.resources.manifests import clique, owner

KIND: Final = "PodClique"
REF: Final = Ref(GROVE, KIND, NAMESPACE, "llm-0-a")
OF_SET: Final = owner("uid-llm", kind="PodCliqueSet", name="llm")
TOPOLOGY: Final = topology_ref("aws", TOPOLOGY_KIND)


def a_clique(uid: str, version: int, *owners: Json) -> Json:
    raw: Json = {**clique(REF.name), "apiVersion": GROVE, "kind": KIND}
    meta = {"name": REF.name, "namespace": NAMESPACE, "uid": uid, "resourceVersion": str(version)}
    return {**raw, "metadata": {**meta, "ownerReferences": list(owners)}}


def ours(uid: str, version: int) -> Json:
    return a_clique(uid, version, OF_SET)


def named(uid: str) -> Json:
    """As a "not found" response reports it."""
    return {"metadata": {"name": REF.name, "namespace": NAMESPACE, "uid": uid}}


def knowing(*objects: Json) -> ClusterCache:
    cache = ClusterCache()
    for raw in objects:
        cache.put(KIND, raw)
    return cache


def shown(cache: ClusterCache) -> tuple[str, str] | None:
    found = cache.find_object(REF)
    return None if found is None else (found.uid, found.resource_version)


def test_op002_one_that_came_after_the_question_is_not_what_was_not_found() -> None:
    """The answer is true of the moment of the question: the one before was gone, and the next one not there yet."""

    async def asked_for() -> tuple[str, str] | None:
        cache, found_nothing, may_arrive = knowing(ours("one", 9)), asyncio.Event(), asyncio.Event()

        async def answer(request: web.Request) -> web.Response:
            said = not_found(request)
            found_nothing.set()
            await may_arrive.wait()
            return said

        async with api_with(answer) as api:
            asking = asyncio.ensure_future(FreshReader(api, cache).read_into_cache(REF))
            await found_nothing.wait()
            cache.drop(KIND, ours("one", 20))
            cache.put(KIND, ours("two", 21))
            may_arrive.set()
            assert not await asking
        return shown(cache)

    assert asyncio.run(asked_for()) == ("two", "21")


def test_op002_a_label_that_was_given_back_before_its_loss_was_reported() -> None:
    """Removed in version 8, restored in 9; a fresh read came in between, and the watch reports both after that."""
    cache = knowing(ours("one", 9))
    cache.drop(KIND, ours("one", 8))
    assert shown(cache) == ("one", "9")
    cache.put(KIND, ours("one", 9))
    cache.replace_all_of_kind(KIND, [ours("one", 9)], "12")
    assert shown(cache) == ("one", "9")
    cache.drop(KIND, ours("one", 13))
    assert shown(cache) is None


def test_op002_a_deletion_event_without_a_version_counts() -> None:
    """And as of the version that was known: what was under way then comes too late."""
    cache = knowing(ours("one", 9))
    cache.drop(KIND, named("one"))
    cache.put(KIND, ours("one", 9))
    assert shown(cache) is None
    cache.put(KIND, ours("one", 10))
    assert shown(cache) == ("one", "10")


def test_op002_an_answer_that_a_list_overtook() -> None:
    cache = knowing(ours("one", 5))
    cache.replace_all_of_kind(KIND, [], "10")
    cache.put(KIND, ours("one", 8))
    assert shown(cache) is None
    assert cache.stores[KIND].has_tombstone("one"), "an end is not decided on the page that still had it (OP-013)"


def test_op002_an_object_that_comes_back_to_sight_after_a_list_is_seen() -> None:
    cache = knowing(ours("one", 5))
    cache.replace_all_of_kind(KIND, [], "10")
    cache.put(KIND, ours("one", 11))
    assert shown(cache) == ("one", "11")
    assert not cache.stores[KIND].has_tombstone("one")


def test_op002_a_deletion_event_without_a_version_does_not_erase_an_earlier_one() -> None:
    """A deletion of ours is answered with "not found" after the watch reported the end."""
    cache = knowing(ours("one", 7))
    cache.drop(KIND, ours("one", 9))
    cache.drop(KIND, named("one"))
    cache.put(KIND, ours("one", 8))
    assert shown(cache) is None


@pytest.mark.parametrize("by_list", [False, True])
def test_op002_an_object_that_lost_its_owner_stays_unowned(by_list: bool) -> None:
    cache = knowing(ours("one", 5), a_clique("one", 6))
    cache.put(KIND, ours("one", 5))
    assert shown(cache) is None
    if by_list:
        cache.replace_all_of_kind(KIND, [a_clique("one", 9)], "10")
    else:
        cache.put(KIND, a_clique("one", 9))
    cache.put(KIND, ours("one", 8))
    assert shown(cache) is None, "it had an owner in between, and lost that too"
    cache.put(KIND, ours("one", 11))
    assert shown(cache) == ("one", "11"), "an owner lost and regained"


def test_op002_what_never_was_ours_takes_no_memory() -> None:
    cache = knowing(*(a_clique(f"theirs {number}", number) for number in range(1, 9)))
    assert not any(cache.stores[KIND].has_tombstone(f"theirs {number}") for number in range(1, 9))


def test_op002_only_the_last_ends_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "_MOST_TOMBSTONES", 3)
    cache = ClusterCache()
    for number in range(1, 9):
        cache.put(KIND, ours(f"no. {number}", number))
        cache.replace_all_of_kind(KIND, [], str(number))
    assert [number for number in range(1, 9) if cache.stores[KIND].has_tombstone(f"no. {number}")] == [6, 7, 8]


@pytest.mark.req("OP-002")
def test_op002_late_news_of_the_one_before_do_not_hide_the_new_one() -> None:
    cache = knowing(ours("new", 20))
    cache.put(KIND, ours("old", 8))
    assert shown(cache) == ("new", "20")
    cache.drop(KIND, ours("old", 9))
    assert shown(cache) == ("new", "20")


def test_op002_the_one_before_does_not_come_when_the_new_one_went() -> None:
    cache = knowing(ours("new", 20), ours("old", 8))
    cache.drop(KIND, ours("new", 21))
    cache.put(KIND, ours("old", 9))
    assert shown(cache) is None


def test_op002_whose_name_was_taken_over_is_gone() -> None:
    """Its end was not reported, for a list came between; what is known of its name since is gone too."""
    cache = knowing(ours("old", 5), ours("new", 20))
    cache.drop(KIND, ours("new", 21))
    cache.put(KIND, ours("old", 8))
    assert shown(cache) is None


def test_op002_an_object_without_a_version_is_accepted() -> None:
    cache = knowing(ours("old", 5))
    cache.put(KIND, {**ours("new", 0), "metadata": {**ours("new", 0)["metadata"], "resourceVersion": ""}})
    found = cache.find_object(REF)
    assert found is not None
    assert found.uid == "new"


def test_op002_a_list_brings_back_an_object_that_counted_as_deleted() -> None:
    """An API server that had fallen behind did not find it; the list as of a later version has it, unchanged."""
    cache = knowing(ours("one", 9))
    cache.drop(KIND, named("one"))
    cache.replace_all_of_kind(KIND, [ours("one", 9)], "8")
    assert shown(cache) is None, "the list is older than that word"
    cache.replace_all_of_kind(KIND, [ours("one", 9)], "12")
    assert shown(cache) == ("one", "9")


def test_op002_a_list_shows_the_holder_of_a_name() -> None:
    """Whatever brought the other one into the copy."""
    cache = knowing(ours("other", 11))
    cache.replace_all_of_kind(KIND, [ours("one", 9)], "12")
    assert shown(cache) == ("one", "9")
    cache.put(KIND, ours("other", 12))
    assert shown(cache) == ("one", "9")


def a_topology(uid: str, version: int, *, reads: bool = True) -> Json:
    meta = {"name": "aws", "uid": uid, "resourceVersion": str(version)}
    spec = {"levels": [{"domain": "zone", "key": "zone"}]} if reads else "text"
    return {"apiVersion": GROVE, "kind": TOPOLOGY_KIND, "metadata": meta, "spec": spec}


def topologies(*objects: Json) -> TopologyCache:
    topology_cache = TopologyCache(lambda _home: None)
    for raw in objects:
        topology_cache.put(TOPOLOGY_KIND, raw)
    return topology_cache


def is_in_doubt(topology_cache: TopologyCache) -> bool:
    return TOPOLOGY.name not in topology_cache.by_name and len(list(topology_cache.unreadable_topology_messages)) == 1


def test_op002_older_news_that_read_leave_it_in_doubt() -> None:
    topology_cache = topologies(a_topology("one", 9, reads=False), a_topology("one", 8))
    assert is_in_doubt(topology_cache)
    topology_cache.put(TOPOLOGY_KIND, a_topology("before", 5))
    assert is_in_doubt(topology_cache)
    topology_cache.put(TOPOLOGY_KIND, a_topology("one", 10))
    assert TOPOLOGY.name in topology_cache.by_name


def test_op002_the_end_of_the_one_before_leaves_it_in_doubt() -> None:
    topology_cache = topologies(a_topology("one", 9, reads=False))
    topology_cache.drop(TOPOLOGY_KIND, a_topology("before", 7))
    topology_cache.drop(TOPOLOGY_KIND, a_topology("one", 8))
    assert is_in_doubt(topology_cache)
    topology_cache.drop(TOPOLOGY_KIND, a_topology("one", 10))
    assert not list(topology_cache.unreadable_topology_messages)


@pytest.mark.parametrize("reads", [False, True])
def test_op002_a_list_ends_only_what_is_older(reads: bool) -> None:
    topology_cache = topologies(a_topology("one", 9, reads=reads))
    topology_cache.replace_all_of_kind(TOPOLOGY_KIND, [], "8")
    assert is_in_doubt(topology_cache) != reads
    topology_cache.replace_all_of_kind(TOPOLOGY_KIND, [], "12")
    topology_cache.put(TOPOLOGY_KIND, a_topology("one", 10, reads=reads))
    assert TOPOLOGY.name not in topology_cache.by_name, "an answer that the list overtook (OP-002)"
    assert not list(topology_cache.unreadable_topology_messages)
    topology_cache.replace_all_of_kind(TOPOLOGY_KIND, [a_topology("one", 10)], "13")
    assert TOPOLOGY.name in topology_cache.by_name


def test_op080_a_list_without_a_version_counts_more_than_all_that_is_known() -> None:
    """As it is taken in after a restore of the store: the same object, another one of its name, and one that went."""
    for known in ([ours("one", 9000)], [ours("one", 9000), ours("two", 9100)]):
        cache = knowing(*known)
        cache.replace_all_of_kind(KIND, [ours("one", 4000)], "")
        assert shown(cache) == ("one", "4000")
        cache.put(KIND, ours("one", 4001))
        assert shown(cache) == ("one", "4001")
    cache = knowing(ours("one", 3000))
    cache.drop(KIND, ours("one", 8000))
    cache.replace_all_of_kind(KIND, [ours("one", 3000)], "")
    assert shown(cache) == ("one", "3000")


def test_op020_an_unchanged_list_requeues_nothing() -> None:
    cache, requeued = knowing(ours("one", 5)), list[object]()
    cache.changed = requeued.append
    cache.replace_all_of_kind(KIND, [ours("one", 5)], "9")
    assert requeued == []
    cache.replace_all_of_kind(KIND, [ours("one", 7)], "10")
    assert requeued


def test_op080_a_store_that_went_back_and_caught_up_is_believed() -> None:
    """The list is newer than all that is known, and shows an object as it was before."""
    cache = knowing(ours("one", 9000))
    cache.replace_all_of_kind(KIND, [ours("one", 4000)], "9500")
    assert shown(cache) == ("one", "4000")
    cache.put(KIND, ours("one", 9600))
    cache.replace_all_of_kind(KIND, [ours("one", 4000)], "9550")
    assert shown(cache) == ("one", "9600"), "it changed while the list was under way"


def test_op020_an_unchanged_list_of_topologies_requeues_nothing() -> None:
    requeued = list[object]()
    topology_cache = TopologyCache(requeued.append)
    raw = {"metadata": {"name": "aws", "uid": "t", "resourceVersion": "1"}, "spec": {"levels": []}}
    for kind in (TOPOLOGY_KIND, BINDING_KIND):
        topology_cache.replace_all_of_kind(kind, [raw] if kind == TOPOLOGY_KIND else [], "5")
    assert requeued
    requeued.clear()
    topology_cache.replace_all_of_kind(TOPOLOGY_KIND, [raw], "6")
    assert requeued == []
    topology_cache.mark_kind_unlisted(TOPOLOGY_KIND, "forbidden")
    requeued.clear()
    topology_cache.replace_all_of_kind(TOPOLOGY_KIND, [raw], "7")
    assert requeued
