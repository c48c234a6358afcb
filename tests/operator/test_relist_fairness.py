"""Labels are restored in many namespaces at once, and none waits for another (OP-107)."""

import asyncio

import pytest

from grove_shell.cache.cluster_cache import ClusterCache
from tests.domain_daemon.single_domain import until
from tests.operator.label_repair_loop import run_label_repair
from tests.operator.unlabelled_pods import Server, a_clique, a_pod, cache_with


def hanging() -> tuple[Server, ClusterCache]:
    """A server that answers no list but that of the first of many namespaces."""
    server, cache = Server(), cache_with()
    server.hangs = {f"n{index:02}" for index in range(20)}
    for namespace in server.hangs:
        cache.put("PodClique", a_clique("aside", namespace))
    return server, cache


@pytest.mark.req("OP-027")
def test_op107_a_fault_of_ours_ends_no_process_and_holds_up_no_other_namespace() -> None:
    """A list that only looks like one."""
    nameless = a_pod("llm-0-a-lost", "a", {}, namespace="aa")
    del nameless["metadata"]["uid"]
    server, cache = Server(nameless, a_pod("llm-0-b-lost", "b", {})), cache_with()
    aside = a_clique("aside", "aa")
    cache.put("PodClique", aside)

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.2)

    told = run_label_repair(server, cache, meanwhile)
    assert told
    assert all(words.startswith("KeyError: 'uid' (at grove_shell/") for words in told)
    assert server.labelled == ["llm-0-b-lost"]


def test_op107_a_namespace_that_is_slow_keeps_no_other_waiting() -> None:
    server, cache = Server(a_pod("llm-0-b-lost", "b", {})), cache_with()
    cache.put("PodClique", a_clique("aside", "aa"))
    server.hangs = {"aa"}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)
        assert len(asyncio.all_tasks()) < 20, "one look at each"
        server.hangs.clear()

    run_label_repair(server, cache, meanwhile)
    assert server.labelled == ["llm-0-b-lost"]
    assert server.lists == ["aa", "ml"]


def test_op107_namespaces_take_turns() -> None:
    """Each of many pods of the others is refused its label slowly."""
    many = [
        a_pod(f"{namespace}-{index:02}", "aside", {}, namespace=namespace)
        for namespace in (f"n{number:02}" for number in range(9))
        for index in range(20)
    ]
    server, cache = Server(*many, a_pod("z-lost", "aside", {}, namespace="zz")), cache_with()
    server.forbids = {pod["metadata"]["name"] for pod in many}
    server.hesitates = 0.05
    for namespace in sorted({pod["metadata"]["namespace"] for pod in server.pods.values()}):
        cache.put("PodClique", {**a_clique("aside", namespace)})

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: bool(server.labelled))

    run_label_repair(server, cache, meanwhile)
    assert server.labelled == ["z-lost"]
    assert len(server.tried) < len(many) / 2


def test_op107_a_few_namespaces_are_asked_for_at_a_time() -> None:
    """Rounds have requests of their own."""
    server, cache = hanging()

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)
        asked_for.extend(server.lists)
        server.hangs.clear()

    asked_for: list[str] = []
    run_label_repair(server, cache, meanwhile)
    assert asked_for == ["ml", *(f"n{index:02}" for index in range(8))]


def test_op107_who_leads_no_more_when_its_turn_comes_asks_nobody() -> None:
    server, cache = hanging()

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: len(server.lists) == 9)
        leads.clear()
        server.hangs.clear()
        await asyncio.sleep(0.1)

    run_label_repair(server, cache, meanwhile)
    assert len(server.lists) == 9


def test_op107_of_a_namespace_that_is_empty_again_nothing_is_remembered() -> None:
    """Somebody may make one of that name again."""
    server, cache = Server(), cache_with()
    aside = a_clique("aside", "aa")
    cache.put("PodClique", aside)

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.1)
        assert server.lists == ["aa", "ml"]
        cache.drop("PodClique", aside)
        await asyncio.sleep(0.1)
        cache.put("PodClique", {**aside, "metadata": {**aside["metadata"], "uid": "again"}})
        await asyncio.sleep(0.1)

    run_label_repair(server, cache, meanwhile)
    assert server.lists == ["aa", "ml", "aa"]
