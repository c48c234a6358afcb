"""The leader finds pods without a label also where none is created (OP-107)."""

import asyncio
from typing import Final
from unittest import mock

import pytest

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, GROVE, MANAGED_BY, OPERATOR
from grove_shell.apply import label_repair, pod_relist
from tests.domain_daemon.single_domain import until
from tests.operator.label_repair_loop import run_label_repair
from tests.operator.unlabelled_pods import FOLLOWED, Server, a_pod, cache_with

SELDOM: Final = 1.0


@pytest.mark.req("OP-030")
@pytest.mark.req("OP-021")
def test_op107_whoever_leads_asks_once() -> None:
    server, cache = Server(a_pod("llm-0-a-lost", "a", {})), cache_with()

    async def meanwhile(leads: set[str]) -> None:
        await asyncio.sleep(0.1)
        assert not server.lists
        leads.add("leads")
        await asyncio.sleep(0.3)
        assert (server.lists, server.labelled) == (["ml"], ["llm-0-a-lost"])

    run_label_repair(server, cache, meanwhile)
    assert cache.find(Ref(CORE, "Pod", "ml", "llm-0-a-lost")) is not None


@pytest.mark.parametrize("trouble", ["silent", "forbids"])
def test_op107_what_comes_to_nothing_is_tried_again(trouble: str) -> None:
    server, cache = Server(a_pod("llm-0-a-lost", "a", {})), cache_with()
    server.silent, server.forbids = (2, set()) if trouble == "silent" else (0, {"llm-0-a-lost"})

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.2)
        server.forbids.clear()
        await asyncio.sleep(0.2)

    with mock.patch.object(label_repair, "_RETRY_AFTER", 0.05):
        run_label_repair(server, cache, meanwhile)
    assert server.labelled == ["llm-0-a-lost"]


def test_op107_one_that_stays_out_of_sight_hides_no_other() -> None:
    """Of its own PodClique and of others."""
    lost = {f"llm-0-{letter}-{index}": letter for letter in "ab" for index in range(3)}
    server, cache = Server(*(a_pod(name, letter, {}) for name, letter in lost.items())), cache_with()
    server.forbids = {"llm-0-a-1", "llm-0-b-0"}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)

    run_label_repair(server, cache, meanwhile)
    assert sorted(server.labelled) == sorted(lost.keys() - server.forbids)


def test_op107_while_nobody_answers_one_is_asked_for_at_a_time() -> None:
    """Each of a thousand would be waited for, and the rest of the cluster would wait with them."""
    server = Server(*(a_pod(f"llm-0-a-{index}", "a", {}) for index in range(3)))
    server.cuts = True

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: bool(server.tried))
        await asyncio.sleep(SELDOM / 3)

    run_label_repair(server, cache_with(), meanwhile, pause=SELDOM)
    assert server.tried == ["llm-0-a-0"]


@pytest.mark.parametrize(("version", "kind"), [("other.example/v1", "PodClique"), (GROVE, "Workload")])
def test_op107_pods_of_another_kind_are_left_alone(version: str, kind: str) -> None:
    foreign = a_pod("x-0", "x", {})
    foreign["metadata"]["ownerReferences"][0] |= {"apiVersion": version, "kind": kind}
    server = Server(foreign, a_pod("llm-0-a-lost", "a", {}))

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.2)

    run_label_repair(server, cache_with(), meanwhile)
    assert server.labelled == server.looked_at == ["llm-0-a-lost"]


def test_op107_who_leads_no_more_in_the_middle_looks_for_nobody_else() -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))

    async def meanwhile(leads: set[str]) -> None:
        server.asked_for = leads.clear
        leads.add("leads")
        await asyncio.sleep(0.2)

    run_label_repair(server, cache_with(), meanwhile)
    assert (server.lists, server.looked_at) == (["ml"], [])


@pytest.mark.req("OP-018")
def test_op107_who_loses_it_again_and_again_is_asked_for_seldom() -> None:
    server, cache = Server(a_pod("llm-0-a-lost", "a", {})), cache_with()

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: bool(server.labelled))
        pod = server.pods["llm-0-a-lost"]
        pod["metadata"] |= {"labels": {}, "resourceVersion": "9"}
        cache.drop("Pod", {**pod, "metadata": {**pod["metadata"], "labels": FOLLOWED}})
        await asyncio.sleep(0.3)

    run_label_repair(server, cache, meanwhile)
    assert server.tried == ["llm-0-a-lost"]
    assert server.lists == ["ml", "ml"]


@pytest.mark.req("OP-106")
@pytest.mark.parametrize("is_well", [True, False])
def test_op107_who_was_met_in_vain_is_asked_for_again_after_ten_seconds(*, is_well: bool) -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))
    server.forbids = set() if is_well else {"llm-0-a-lost"}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)

    with mock.patch.object(pod_relist, "_DOUBT_AFTER", 0.02):
        run_label_repair(server, cache_with(), meanwhile)
    assert (len(server.lists) == 1) is is_well


@pytest.mark.req("OP-018")
@pytest.mark.parametrize("trouble", ["forbids", "undoes"])
def test_op107_who_does_not_get_it_is_asked_for_seldom(trouble: str) -> None:
    """Nobody lists a namespace for one of whom it is known already."""
    server = Server(a_pod("llm-0-a-lost", "a", {}))
    getattr(server, trouble).add("llm-0-a-lost")

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)

    run_label_repair(server, cache_with(), meanwhile)
    assert server.tried == ["llm-0-a-lost"]
    assert server.lists == ["ml"]


def test_op107_of_what_is_of_no_set_nobody_is_called() -> None:
    server, cache = Server(), cache_with()
    cache.put("Pod", a_pod("orphan", "x", {MANAGED_BY: OPERATOR}, namespace="aa"))

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.1)

    run_label_repair(server, cache, meanwhile)
    assert server.lists == ["ml"]


@pytest.mark.req("OP-106")
def test_op107_who_could_not_be_read_is_missed_as_well() -> None:
    broken = a_pod("llm-0-a-0", "a", FOLLOWED)
    broken["status"] = {"conditions": [{"type": "Ready", "status": "Maybe"}]}
    server, cache = Server(), cache_with(broken)

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.1)
        cache.drop("Pod", broken)
        await asyncio.sleep(0.1)

    run_label_repair(server, cache, meanwhile)
    assert server.lists == ["ml", "ml"]
