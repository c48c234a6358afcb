"""Whoever leads looks for pods that nobody follows, be there one to make or not (OP-107)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from unittest import mock

import pytest
from aiohttp import web

from grove_core.kernel.refs import Ref
from grove_core.resources.keys import CORE, GROVE, MANAGED_BY, OPERATOR
from grove_shell.operator.acting import ClusterActing
from grove_shell.world import lost_labels, roll_call
from grove_shell.world.shelves import Shelves
from grove_shell.world.writes import Writes
from tests.operator.answering import asked
from tests.operator.missing_labels import FOLLOWED, Json, Server, a_clique, a_pod, known, until

SELDOM: Final = 1.0


def looked_around(
    server: Server, shelves: Shelves, meanwhile: Callable[[set[str]], Awaitable[None]], pause: float = 0.01
) -> list[str]:
    """What looks for pods all the time, with a pause between; it leads while there is anything in a set.

    Returns: which faults of ours were told.
    """
    told: list[str] = []

    async def scenario() -> None:
        leads: set[str] = set()
        async with asked(server.answer) as api:
            acting = ClusterActing(api, shelves, Writes(api, shelves))
            looking = asyncio.ensure_future(acting.look_around(lambda: bool(leads), told.append))
            await meanwhile(leads)
            assert not looking.done()
            looking.cancel()
            await asyncio.wait([looking])

    with mock.patch.object(roll_call, "_PAUSE", pause):
        asyncio.run(scenario())
    return told


@pytest.mark.req("OP-030")
@pytest.mark.req("OP-021")
def test_op107_whoever_leads_asks_once() -> None:
    server, shelves = Server(a_pod("llm-0-a-lost", "a", {})), known()

    async def meanwhile(leads: set[str]) -> None:
        await asyncio.sleep(0.1)
        assert not server.lists
        leads.add("leads")
        await asyncio.sleep(0.3)
        assert (server.lists, server.labelled) == (["ml"], ["llm-0-a-lost"])

    looked_around(server, shelves, meanwhile)
    assert shelves.find(Ref(CORE, "Pod", "ml", "llm-0-a-lost")) is not None


@pytest.mark.parametrize("trouble", ["silent", "forbids"])
def test_op107_what_comes_to_nothing_is_tried_again(trouble: str) -> None:
    server, shelves = Server(a_pod("llm-0-a-lost", "a", {})), known()
    server.silent, server.forbids = (2, set()) if trouble == "silent" else (0, {"llm-0-a-lost"})

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.2)
        server.forbids.clear()
        await asyncio.sleep(0.2)

    with mock.patch.object(lost_labels, "_AGAIN", 0.05):
        looked_around(server, shelves, meanwhile)
    assert server.labelled == ["llm-0-a-lost"]


def test_op107_one_that_stays_out_of_sight_hides_no_other() -> None:
    """Of its own PodClique and of others."""
    lost = {f"llm-0-{letter}-{index}": letter for letter in "ab" for index in range(3)}
    server, shelves = Server(*(a_pod(name, letter, {}) for name, letter in lost.items())), known()
    server.forbids = {"llm-0-a-1", "llm-0-b-0"}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)

    looked_around(server, shelves, meanwhile)
    assert sorted(server.labelled) == sorted(lost.keys() - server.forbids)


def test_op107_while_nobody_answers_one_is_asked_for_at_a_time() -> None:
    """Each of a thousand would be waited for, and the rest of the cluster would wait with them."""
    server = Server(*(a_pod(f"llm-0-a-{index}", "a", {}) for index in range(3)))
    server.cuts = True

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: bool(server.tried))
        await asyncio.sleep(SELDOM / 3)

    looked_around(server, known(), meanwhile, pause=SELDOM)
    assert server.tried == ["llm-0-a-0"]


@pytest.mark.parametrize(("version", "kind"), [("other.example/v1", "PodClique"), (GROVE, "Workload")])
def test_op107_pods_of_another_kind_are_left_alone(version: str, kind: str) -> None:
    foreign = a_pod("x-0", "x", {})
    foreign["metadata"]["ownerReferences"][0] |= {"apiVersion": version, "kind": kind}
    server = Server(foreign, a_pod("llm-0-a-lost", "a", {}))

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.2)

    looked_around(server, known(), meanwhile)
    assert server.labelled == server.looked_at == ["llm-0-a-lost"]


@pytest.mark.req("OP-027")
def test_op107_a_fault_of_ours_ends_no_process_and_holds_up_no_other_namespace() -> None:
    """A list that only looks like one."""
    nameless = a_pod("llm-0-a-lost", "a", {}, namespace="aa")
    del nameless["metadata"]["uid"]
    server, shelves = Server(nameless, a_pod("llm-0-b-lost", "b", {})), known()
    aside = a_clique("aside", "aa")
    shelves.put("PodClique", aside)

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.2)

    told = looked_around(server, shelves, meanwhile)
    assert told
    assert all(words.startswith("KeyError: 'uid' (at grove_shell/") for words in told)
    assert server.labelled == ["llm-0-b-lost"]


def test_op107_who_leads_no_more_in_the_middle_looks_for_nobody_else() -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))

    async def meanwhile(leads: set[str]) -> None:
        server.asked_for = leads.clear
        leads.add("leads")
        await asyncio.sleep(0.2)

    looked_around(server, known(), meanwhile)
    assert (server.lists, server.looked_at) == (["ml"], [])


def test_op107_of_a_namespace_that_is_empty_again_nothing_is_remembered() -> None:
    """Somebody may make one of that name again."""
    server, shelves = Server(), known()
    aside = a_clique("aside", "aa")
    shelves.put("PodClique", aside)

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.1)
        assert server.lists == ["aa", "ml"]
        shelves.drop("PodClique", aside)
        await asyncio.sleep(0.1)
        shelves.put("PodClique", {**aside, "metadata": {**aside["metadata"], "uid": "again"}})
        await asyncio.sleep(0.1)

    looked_around(server, shelves, meanwhile)
    assert server.lists == ["aa", "ml", "aa"]


@pytest.mark.req("OP-018")
def test_op107_who_loses_it_again_and_again_is_asked_for_seldom() -> None:
    server, shelves = Server(a_pod("llm-0-a-lost", "a", {})), known()

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: bool(server.labelled))
        pod = server.pods["llm-0-a-lost"]
        pod["metadata"] |= {"labels": {}, "resourceVersion": "9"}
        shelves.drop("Pod", {**pod, "metadata": {**pod["metadata"], "labels": FOLLOWED}})
        await asyncio.sleep(0.3)

    looked_around(server, shelves, meanwhile)
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

    with mock.patch.object(roll_call, "_DOUBT", 0.02):
        looked_around(server, known(), meanwhile)
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

    looked_around(server, known(), meanwhile)
    assert server.tried == ["llm-0-a-lost"]
    assert server.lists == ["ml"]


def test_op107_of_what_is_of_no_set_nobody_is_called() -> None:
    server, shelves = Server(), known()
    shelves.put("Pod", a_pod("orphan", "x", {MANAGED_BY: OPERATOR}, namespace="aa"))

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.1)

    looked_around(server, shelves, meanwhile)
    assert server.lists == ["ml"]


@pytest.mark.req("OP-106")
def test_op107_who_could_not_be_read_is_missed_as_well() -> None:
    broken = a_pod("llm-0-a-0", "a", FOLLOWED)
    broken["status"] = {"conditions": [{"type": "Ready", "status": "Maybe"}]}
    server, shelves = Server(), known(broken)

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.1)
        shelves.drop("Pod", broken)
        await asyncio.sleep(0.1)

    looked_around(server, shelves, meanwhile)
    assert server.lists == ["ml", "ml"]


def test_op107_where_the_server_is_not_well_it_is_asked_once_at_a_time_and_another_comes_first_then() -> None:
    """A webhook of somebody else may take ten seconds for each pod of some kind, and then say that it failed."""
    server = Server(*(a_pod(f"llm-0-a-{index}", "a", {}) for index in range(4)))
    server.fails = {"llm-0-a-0", "llm-0-a-1"}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: len(server.tried) >= 8)

    looked_around(server, known(), meanwhile)
    assert "".join(name[-1] for name in server.tried[:8]) == "01230101"
    assert server.labelled == ["llm-0-a-2", "llm-0-a-3"]


def test_op107_who_failed_the_longest_ago_is_the_first_of_those_who_did() -> None:
    """When all have failed once, one that goes on failing keeps no other waiting."""
    server = Server(*(a_pod(f"llm-0-a-{index}", "a", {}) for index in range(3)))
    server.fails = {*server.pods}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: {*server.tried} == server.fails)
        server.fails = {"llm-0-a-0"}
        await asyncio.sleep(0.3)

    looked_around(server, known(), meanwhile)
    assert server.labelled == ["llm-0-a-1", "llm-0-a-2"]


class Tired(Server):
    """After each pod another one goes out of sight, and it leaves the list that is due then without an answer."""

    def __init__(self, shelves: Shelves, *pods: Json) -> None:
        super().__init__(*pods)
        self.shelves = shelves

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "PATCH":
            self.silent += 1
            other = a_pod(f"llm-0-b-{len(self.tried)}", "b", FOLLOWED)
            self.shelves.put("Pod", other)
            self.shelves.drop("Pod", other)
        return await super().answer(request)


def test_op107_a_list_that_fails_does_not_change_whose_turn_it_is() -> None:
    shelves = known()
    server = Tired(shelves, *(a_pod(f"llm-0-a-{index}", "a", {}) for index in range(3)))
    server.fails = {*server.pods}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: len(server.tried) >= 6)

    looked_around(server, shelves, meanwhile)
    assert len(server.lists) > 6
    assert "".join(name[-1] for name in server.tried[:6]) == "012012"


def test_op107_who_leads_no_more_when_its_turn_comes_asks_nobody() -> None:
    server, shelves = Server(), known()
    server.hangs = {f"n{index:02}" for index in range(20)}
    for namespace in server.hangs:
        shelves.put("PodClique", a_clique("aside", namespace))

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: len(server.lists) == 9)
        leads.clear()
        server.hangs.clear()
        await asyncio.sleep(0.1)

    looked_around(server, shelves, meanwhile)
    assert len(server.lists) == 9


def test_op107_namespaces_take_turns() -> None:
    """Each of many pods of the others is refused its label slowly."""
    many = [
        a_pod(f"{namespace}-{index:02}", "aside", {}, namespace=namespace)
        for namespace in (f"n{number:02}" for number in range(9))
        for index in range(20)
    ]
    server, shelves = Server(*many, a_pod("z-lost", "aside", {}, namespace="zz")), known()
    server.forbids = {pod["metadata"]["name"] for pod in many}
    server.hesitates = 0.05
    for namespace in sorted({pod["metadata"]["namespace"] for pod in server.pods.values()}):
        shelves.put("PodClique", {**a_clique("aside", namespace)})

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await until(lambda: bool(server.labelled))

    looked_around(server, shelves, meanwhile)
    assert server.labelled == ["z-lost"]
    assert len(server.tried) < len(many) / 2


def test_op107_a_few_namespaces_are_asked_for_at_a_time() -> None:
    """Rounds have requests of their own."""
    server, shelves = Server(), known()
    server.hangs = {f"n{index:02}" for index in range(20)}
    for namespace in server.hangs:
        shelves.put("PodClique", a_clique("aside", namespace))

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)
        asked_for.extend(server.lists)
        server.hangs.clear()

    asked_for: list[str] = []
    looked_around(server, shelves, meanwhile)
    assert asked_for == ["ml", *(f"n{index:02}" for index in range(8))]


def test_op107_a_namespace_that_is_slow_keeps_no_other_waiting() -> None:
    server, shelves = Server(a_pod("llm-0-b-lost", "b", {})), known()
    shelves.put("PodClique", a_clique("aside", "aa"))
    server.hangs = {"aa"}

    async def meanwhile(leads: set[str]) -> None:
        leads.add("leads")
        await asyncio.sleep(0.3)
        assert len(asyncio.all_tasks()) < 20, "one look at each"
        server.hangs.clear()

    looked_around(server, shelves, meanwhile)
    assert server.labelled == ["llm-0-b-lost"]
    assert server.lists == ["aa", "ml"]
