"""The list before a pod is created, for every kind of response (OP-106)."""

import asyncio
from collections.abc import Callable
from unittest import mock

import pytest
from aiohttp import web

from grove_core.kernel.steps import Attempt, AttemptOutcome
from grove_core.resources.api_names import MANAGED_BY, OPERATOR
from grove_shell.apply import pod_relist
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.pod_relist import LastPodLists
from tests.operator.stub_server import api_with
from tests.operator.unlabelled_pods import FOLLOWED, Server, Tried, a_clique, a_pod, cache_with, outcomes, run_on


class Slow(Server):
    """Its second list is of the time before the creation that it leaves without an answer."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived, self.listed, self.lost = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        if self.loses and request.method == "POST":
            self.arrived.set()
            await self.listed.wait()
        answer = await super().answer(request)
        if len(self.lists) == 2:
            self.listed.set()
            await self.lost.wait()
        return answer


def test_op106_a_call_that_began_before_a_creation_was_lost_is_no_answer() -> None:
    other, server = a_pod("llm-0-b-17", "b", FOLLOWED), Slow()
    cache = cache_with(other)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        await begin()("llm-0-b-0", "b")
        server.loses = True
        former = asyncio.ensure_future(begin()("llm-0-a-former", "a"))
        await server.arrived.wait()
        cache.drop("Pod", other)
        asks = asyncio.ensure_future(begin()("llm-0-b-1", "b"))
        lost, server.loses = await former, False
        again = asyncio.ensure_future(begin()("llm-0-a-0", "a"))
        await asyncio.sleep(0.05)
        server.lost.set()
        return [lost, await asks, await again]

    assert outcomes(run_on(server, cache, acts)) == [
        AttemptOutcome.UNREACHABLE,
        AttemptOutcome.DONE,
        AttemptOutcome.CONFLICT,
    ]
    assert server.made == ["llm-0-b-0", "llm-0-a-former", "llm-0-b-1"]


def test_op106_none_is_made_beside_one_that_cannot_be_read() -> None:
    broken = a_pod("llm-0-a-lost", "a", {})
    broken["status"] = {"conditions": [{"type": "Ready", "status": "Maybe"}]}
    server = Server(broken)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        return list(await asyncio.gather(make("llm-0-a-0", "a"), make("llm-0-a-1", "a")))

    for attempt in run_on(server, cache_with(), acts):
        assert attempt.outcome is AttemptOutcome.CONFLICT
        assert attempt.detail == "Pod/llm-0-a-lost exists, and the plan did not know it"
    assert not server.made


@pytest.mark.parametrize("becomes", ["unowned", "another one"])
def test_op106_a_failed_pod_lookup_is_repeated_after_ten_seconds(becomes: str) -> None:
    """It may be foreign no more, and its PodClique would get no pod because of it."""
    server = Server(a_pod("llm-0-a-lost", "a", {}))
    changed: dict[str, object] = {"ownerReferences": [], "labels": {MANAGED_BY: OPERATOR}, "resourceVersion": "12"}
    if becomes == "another one":
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "x", "controller": True}
        changed |= {"ownerReferences": [owner], "uid": "another"}

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        server.fails.add("llm-0-a-lost")
        first = await begin()("llm-0-a-0", "a")
        server.fails.clear()
        server.pods["llm-0-a-lost"]["metadata"] |= changed
        second = await begin()("llm-0-a-0", "a")
        assert server.lists == ["ml"]
        await asyncio.sleep(0.4)
        return [first, second, await begin()("llm-0-a-0", "a")]

    with mock.patch.object(pod_relist, "_LIST_AGAIN_AFTER", 0.3):
        attempts = run_on(server, cache_with(), acts)
    assert outcomes(attempts) == [AttemptOutcome.UNREACHABLE, AttemptOutcome.UNREACHABLE, AttemptOutcome.DONE]
    assert server.lists == ["ml", "ml"]


def test_op106_without_a_failed_lookup_there_is_no_second_list() -> None:
    """Nothing is delayed where the server does not respond to that."""
    server = Server(a_pod("llm-0-a-lost", "a", {}))

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        server.fails.add("llm-0-a-lost")
        attempts = [await begin()("llm-0-a-0", "a"), await begin()("llm-0-b-0", "b")]
        assert server.lists == ["ml"]
        server.silent = 9
        await asyncio.sleep(0.4)
        attempts.append(await begin()("llm-0-b-1", "b"))
        assert server.lists == ["ml"]
        attempts.append(await begin()("llm-0-a-0", "a"))
        assert server.lists == ["ml", "ml"]
        return attempts

    with mock.patch.object(pod_relist, "_LIST_AGAIN_AFTER", 0.3):
        attempts = run_on(server, cache_with(), acts)
    silent = AttemptOutcome.UNREACHABLE
    assert outcomes(attempts) == [silent, AttemptOutcome.DONE, AttemptOutcome.DONE, silent]
    assert "failed calling webhook" in attempts[0].detail
    assert attempts[3].detail == "the pods of the namespace could not be listed: Pod: away"


@pytest.mark.parametrize("heard", ["by a watch", "by a call"])
def test_op106_none_is_made_beside_one_that_cannot_be_read_and_came_in_the_middle_of_a_round(heard: str) -> None:
    """Another list may have shown it."""
    broken = a_pod("llm-0-a-lost", "a", {} if heard == "by a call" else FOLLOWED)
    broken["status"] = {"conditions": [{"type": "Ready", "status": "Maybe"}]}
    server, cache = Server(), cache_with()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        await make("llm-0-b-0", "b")
        server.pods["llm-0-a-lost"] = broken
        if heard == "by a call":
            cache.drop("Pod", server.pods["llm-0-b-0"])
            await begin()("llm-0-a-9", "a")
        else:
            cache.put("Pod", broken)
        return [await make("llm-0-a-0", "a"), await begin()("llm-0-a-0", "a")]

    attempts = run_on(server, cache, acts)
    assert outcomes(attempts) == [AttemptOutcome.CONFLICT, AttemptOutcome.CONFLICT]
    assert attempts[0].detail == "Pod/llm-0-a-lost exists, and the plan did not know it"
    assert server.made == ["llm-0-b-0"]


def test_op106_side_by_side_one_asks_for_all() -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        return list(await asyncio.gather(*(make(f"llm-0-a-{index}", "a") for index in range(4))))

    assert outcomes(run_on(server, cache_with(), acts)) == [AttemptOutcome.CONFLICT] * 4
    assert len(server.tried) == 1


class Expiring(Server):
    """The token of its first list runs out at once, and the pod that was on the first page is gone then."""

    async def answer(self, request: web.Request) -> web.Response:
        if request.query.get("continue"):
            self.pods.clear()
            return web.json_response({"kind": "Status", "code": 410, "reason": "Expired"}, status=410)
        return await super().answer(request)

    def _called(self, request: web.Request) -> web.Response:
        items = [{"metadata": pod["metadata"]} for pod in self.pods.values()]
        meta = {"resourceVersion": "9", **({"continue": "next"} if items else {})}
        return web.json_response({"metadata": meta, "kind": "PartialObjectMetadataList", "items": items})


@pytest.mark.req("OP-080")
def test_op106_a_list_that_is_begun_again_counts_from_its_new_beginning() -> None:
    server = Expiring(a_pod("llm-0-a-lost", "a", {}))

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache_with(), acts)) == [AttemptOutcome.DONE]
    assert not server.looked_at


@pytest.mark.req("OP-018")
def test_op106_a_pod_that_is_gone_before_its_label_is_restored_delays_nothing() -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))
    server.asked_for = server.pods.clear

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache_with(), acts)) == [AttemptOutcome.DONE]


def test_op106_a_pod_with_an_event_during_the_list_is_not_looked_up() -> None:
    lost = a_pod("llm-0-a-lost", "a", FOLLOWED)
    server, cache = Server(lost, a_pod("llm-0-a-other", "a", FOLLOWED)), cache_with()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        server.asked_for = lambda: cache.put("Pod", lost)
        return [await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache, acts)) == [AttemptOutcome.CONFLICT]
    assert server.looked_at == ["llm-0-a-other"]


class Taken(Server):
    """The present pod has its name."""

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "POST" and (await request.json())["metadata"]["name"] in self.pods:
            return web.json_response({"kind": "Status", "reason": "AlreadyExists", "message": "taken"}, status=409)
        return await super().answer(request)


@pytest.mark.req("OP-018")
def test_op106_after_one_was_met_in_vain_all_are_asked_for_again() -> None:
    """Where its name was taken: the next one may have another name."""
    server = Taken()
    server.forbids.add("llm-0-a-former")

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        first = await begin()("llm-0-b-0", "b")
        server.pods["llm-0-a-former"] = a_pod("llm-0-a-former", "a", {})
        refused = await begin()("llm-0-a-former", "a")
        server.forbids.clear()
        return [first, refused, await begin()("llm-0-a-0", "a")]

    attempts = run_on(server, cache_with(), acts)
    assert outcomes(attempts) == [AttemptOutcome.DONE, AttemptOutcome.REFUSED, AttemptOutcome.CONFLICT]
    assert server.lists == ["ml", "ml"]


class Stripping(Server):
    """It stores a pod without its label, and refuses to restore that."""

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "POST" and self.forbids:
            self.pods["llm-0-a-former"] = a_pod("llm-0-a-former", "a", {})
            return web.json_response(self.pods["llm-0-a-former"], status=201)
        return await super().answer(request)


@pytest.mark.req("OP-018")
def test_op106_a_created_pod_without_its_label_causes_a_list() -> None:
    server = Stripping()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        first = await begin()("llm-0-b-0", "b")
        server.forbids.add("llm-0-a-former")
        lost = await begin()("llm-0-a-former", "a")
        server.forbids.clear()
        return [first, lost, await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache_with(), acts)) == [
        AttemptOutcome.DONE,
        AttemptOutcome.UNREACHABLE,
        AttemptOutcome.CONFLICT,
    ]
    assert server.lists == ["ml", "ml"]


@pytest.mark.req("OP-041")
def test_op106_of_a_namespace_that_is_empty_again_nothing_is_remembered() -> None:
    """A pod of that name may be made again."""
    aside, again = a_clique("aside", "aa"), a_clique("again", "aa")
    server, cache = Server(), cache_with()

    async def scenario() -> None:
        async with api_with(server.answer) as api:
            pods = LastPodLists(FreshReader(api, cache))
            cache.put("PodClique", aside)
            await pods.pods_unknown_because("aa", "aside")
            cache.drop("PodClique", aside)
            await pods.pods_unknown_because("ml", "a")
            cache.put("PodClique", again)
            await pods.pods_unknown_because("aa", "again")

    asyncio.run(scenario())
    assert server.lists == ["aa", "ml", "aa"]
