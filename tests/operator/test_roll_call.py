"""Before a pod is made it is asked who is there, whatever their labels (OP-106)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from aiohttp import web

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, Create, Delete, Outcome, Stage, Step
from grove_core.resources.keys import CORE, GROVE, MANAGED_BY, OPERATOR, SET, SET_REPLICA
from grove_shell.operator.acting import ClusterActing
from grove_shell.world.shelves import Shelves
from grove_shell.world.writes import Writes
from tests.operator.answering import asked, not_found

FOLLOWED: Final = {SET[0]: "llm", MANAGED_BY: OPERATOR}
PLURALS: Final = ("pods", "podcliques", "podcliquescalinggroups")
A_LIST: Final = {"metadata": {"resourceVersion": "9"}}
Json = dict[str, Any]


def a_clique(letter: str, namespace: str = "ml") -> Json:
    labels = {SET[0]: "llm", SET_REPLICA[0]: "0"}
    meta = {"name": f"llm-0-{letter}", "namespace": namespace, "uid": letter, "resourceVersion": "6", "labels": labels}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": meta, "spec": {"replicas": 3}}


def a_pod(name: str, letter: str, labels: Json, *, namespace: str = "ml", leaves: bool = False) -> Json:
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": f"llm-0-{letter}", "uid": letter}
    meta = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": "7", "labels": labels}
    left = {"deletionTimestamp": "2026-11-20T08:00:00Z"} if leaves else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**meta, **left, "ownerReferences": [{**owner, "controller": True}]},
        "spec": {"containers": [{"name": "main"}]},
    }


class Server:
    """It has some pods, makes those it is asked for, and writes down who lists all of them and whom it labels.

    Attributes:
        silent: how many lists it still leaves without an answer.
        forbids: whether it lets nobody label a pod.
        finds: whether it has what is to be deleted.
        asked_for: what happens while a list is on its way.
    """

    def __init__(self, *pods: Json) -> None:
        self.pods = {pod["metadata"]["name"]: pod for pod in pods}
        self.lists: list[str] = []
        self.labelled: list[str] = []
        self.made: list[str] = []
        self.silent = 0
        self.forbids = False
        self.finds = True
        self.asked_for: Callable[[], None] = lambda: None

    async def answer(self, request: web.Request) -> web.Response:
        _, name = request.path.rsplit("/", 1)
        if request.method == "GET" and name in PLURALS:
            a_call = "PartialObjectMetadata" in request.headers["Accept"]
            return self._called(request) if a_call else web.json_response({**A_LIST, "items": []})
        if request.method == "POST":
            pod = await request.json()
            pod["metadata"] |= {"uid": pod["metadata"]["name"]}
            self.made.append(pod["metadata"]["name"])
            return web.json_response(pod, status=201)
        if request.method == "PATCH":
            return self._labels(name)
        if request.method == "DELETE" and self.finds:
            done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
            return web.json_response({**done, "details": {"name": name, "uid": name}})
        return not_found(request)

    def _called(self, request: web.Request) -> web.Response:
        assert not request.query.get("labelSelector")
        self.lists.append(request.path.split("/")[-2])
        items = [{"metadata": pod["metadata"]} for pod in self.pods.values()]
        happens, self.asked_for = self.asked_for, lambda: None
        happens()
        if self.silent:
            self.silent -= 1
            return web.json_response({"kind": "Status", "message": "away"}, status=403)
        return web.json_response({**A_LIST, "kind": "PartialObjectMetadataList", "items": items})

    def _labels(self, name: str) -> web.Response:
        if self.forbids:
            return web.json_response({"kind": "Status", "message": "no labels here"}, status=403)
        self.labelled.append(name)
        pod = self.pods[name]
        pod["metadata"] |= {"labels": FOLLOWED, "resourceVersion": "8"}
        return web.json_response(pod)


Tried = Callable[[str, str], Awaitable[Attempt]]
Acts = Callable[[Callable[[], Tried]], Awaitable[Any]]


def acted(server: Server, shelves: Shelves, acts: Acts) -> Any:
    """What comes of it; it gets what begins a round, which gets what makes a pod of a name for a clique."""

    async def scenario() -> Any:
        async with asked(server.answer) as api:
            acting = ClusterActing(api, shelves, Writes(api, shelves))
            return await acts(lambda: _making(acting))

    return asyncio.run(scenario())


def _making(acting: ClusterActing, namespace: str = "ml") -> Tried:
    trial = acting.trial()

    async def make(name: str, letter: str) -> Attempt:
        manifest = freeze(a_pod(name, letter, FOLLOWED, namespace=namespace))
        assert isinstance(manifest, FrozenMap)
        return await trial(Step(Stage.WORKLOAD, Ref(CORE, "Pod", namespace, name), Create(manifest), ()))

    return make


def known(*pods: Json) -> Shelves:
    """A copy with two cliques, and these pods."""
    shelves = Shelves()
    for letter in "ab":
        shelves.put("PodClique", a_clique(letter))
    for pod in pods:
        shelves.put("Pod", pod)
    return shelves


def outcomes(attempts: list[Attempt]) -> list[Outcome]:
    return [attempt.outcome for attempt in attempts]


def test_op106_a_namespace_is_asked_once_by_all_who_make_pods() -> None:
    server = Server()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        first = await asyncio.gather(*(make(f"llm-0-a-{index}", "a") for index in range(20)))
        return [*first, await begin()("llm-0-b-0", "b")]

    assert outcomes(acted(server, known(), acts)) == [Outcome.DONE] * 21
    assert server.lists == ["ml"]


@pytest.mark.parametrize(("leaves", "again"), [(False, 1), (True, 0)], ids=["it served", "it was leaving"])
def test_op106_it_is_asked_again_when_one_went_that_was_not_being_deleted(leaves: bool, again: int) -> None:
    """By an event, and by a list that has it not."""
    pods = [a_pod(name, "a", FOLLOWED, leaves=leaves) for name in ("llm-0-a-0", "llm-0-a-1")]
    server, shelves = Server(), known(*pods)

    async def acts(begin: Callable[[], Tried]) -> None:
        await begin()("llm-0-b-0", "b")
        shelves.drop("Pod", pods[0])
        await begin()("llm-0-b-1", "b")
        assert len(server.lists) == 1 + again
        shelves.replace("Pod", [a_pod(name, "b", FOLLOWED) for name in server.made], "20")
        await begin()("llm-0-b-2", "b")
        assert len(server.lists) == 1 + 2 * again

    acted(server, shelves, acts)


@pytest.mark.parametrize("how", ["deleted", "not found", "asked for"])
def test_op106_who_went_at_our_own_word_is_not_missed(how: str) -> None:
    """The server was asked for that very pod."""
    server, shelves = Server(), known(a_pod("llm-0-a-0", "a", FOLLOWED))
    server.finds = how == "deleted"
    ref = Ref(CORE, "Pod", "ml", "llm-0-a-0")

    async def scenario() -> None:
        async with asked(server.answer) as api:
            acting = ClusterActing(api, shelves, Writes(api, shelves))
            make = _making(acting)
            await make("llm-0-b-0", "b")
            if how == "asked for":
                await acting.refresh(("ml", "llm"))
            else:
                await acting.trial()(Step(Stage.WORKLOAD, ref, Delete(Guard("llm-0-a-0", "7")), ()))
            assert shelves.find(ref) is None
            await make("llm-0-b-1", "b")

    asyncio.run(scenario())
    assert server.lists == ["ml"]


def test_op106_who_counts_as_lost_with_all_its_kind_is_missed() -> None:
    pod = a_pod("llm-0-a-0", "a", FOLLOWED)
    server, shelves = Server(), known(pod)

    async def acts(begin: Callable[[], Tried]) -> None:
        await begin()("llm-0-b-0", "b")
        shelves.lose("Pod", "forbidden")
        await begin()("llm-0-b-1", "b")

    acted(server, shelves, acts)
    assert server.lists == ["ml", "ml"]


def test_op106_what_is_no_pod_is_made_without_asking_and_not_missed() -> None:
    server, shelves = Server(), known()

    async def scenario() -> None:
        async with asked(server.answer) as api:
            acting = ClusterActing(api, shelves, Writes(api, shelves))
            clique = freeze(a_clique("c"))
            assert isinstance(clique, FrozenMap)
            await acting.trial()(Step(Stage.WORKLOAD, Ref(GROVE, "PodClique", "ml", "llm-0-c"), Create(clique), ()))
            assert (server.made, server.lists) == (["llm-0-c"], [])
            await _making(acting)("llm-0-b-0", "b")
            shelves.drop("PodClique", a_clique("a"))
            await _making(acting)("llm-0-b-1", "b")

    asyncio.run(scenario())
    assert server.lists == ["ml"]


@pytest.mark.req("OP-018")
def test_op106_who_lost_its_label_is_not_made_again() -> None:
    """Nothing of this round for its clique, be it tried later; all else is made, and the next round knows of it."""
    server, shelves = Server(a_pod("llm-0-a-7", "a", {})), known()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make, other = begin(), begin()
        first = [await make("llm-0-b-0", "b"), await make("llm-0-a-0", "a"), await other("llm-0-a-1", "a")]
        return [*first, await begin()("llm-0-a-2", "a")]

    attempts = acted(server, shelves, acts)
    assert outcomes(attempts) == [Outcome.DONE, Outcome.CONFLICT, Outcome.CONFLICT, Outcome.DONE]
    assert attempts[1].detail == "Pod/llm-0-a-7 had lost its label, and is there"
    assert shelves.find(Ref(CORE, "Pod", "ml", "llm-0-a-7")) is not None
    assert (server.labelled, server.lists) == (["llm-0-a-7"], ["ml"])


@pytest.mark.req("OP-018")
def test_op106_none_is_made_until_it_is_followed() -> None:
    server, shelves = Server(a_pod("llm-0-a-7", "a", {})), known()
    server.forbids = True

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        first = [await begin()("llm-0-a-0", "a"), await begin()("llm-0-b-0", "b"), await begin()("llm-0-a-0", "a")]
        server.forbids = False
        return [*first, await begin()("llm-0-a-0", "a"), await begin()("llm-0-a-0", "a")]

    attempts = acted(server, shelves, acts)
    silent = Outcome.UNREACHABLE
    assert outcomes(attempts) == [silent, Outcome.DONE, silent, Outcome.CONFLICT, Outcome.DONE]
    assert attempts[0].detail == f"Pod/llm-0-a-7 lost its label {MANAGED_BY}: no labels here"
    assert len(server.lists) == 3


@pytest.mark.parametrize("before", ["", "gone"], ids=["nobody", "one of its name"])
def test_op106_who_was_made_by_another_process_a_moment_ago_is_waited_for(before: str) -> None:
    pod = a_pod("llm-0-a-7", "a", FOLLOWED)
    server, shelves = Server(pod), known()
    if before:
        former = a_pod("llm-0-a-7", "a", FOLLOWED)
        former["metadata"] |= {"uid": before, "resourceVersion": "6"}
        shelves.put("Pod", former)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        first = await begin()("llm-0-a-0", "a")
        shelves.put("Pod", pod)
        return [first, await begin()("llm-0-a-0", "a")]

    attempts = acted(server, shelves, acts)
    assert outcomes(attempts) == [Outcome.UNREACHABLE, Outcome.DONE]
    assert attempts[0].detail == "Pod/llm-0-a-7 is there, and nobody told of it yet"
    assert not server.labelled
    assert server.lists == ["ml"], "who is heard of meanwhile need not be asked for"


def test_op106_while_nobody_answers_none_is_made() -> None:
    server = Server(a_pod("llm-0-a-7", "a", {}))
    server.silent = 1

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-b-0", "b"), await begin()("llm-0-b-0", "b")]

    attempts = acted(server, known(), acts)
    assert outcomes(attempts) == [Outcome.UNREACHABLE, Outcome.DONE]
    assert attempts[0].detail == "who is there could not be asked: Pod: away"
    assert len(server.made) == 1


def test_op106_who_goes_out_of_sight_while_the_server_answers_is_asked_for() -> None:
    """The answer may be of the time before."""
    pod = a_pod("llm-0-a-7", "a", FOLLOWED)
    server, shelves = Server(), known(pod)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        def vanishes() -> None:
            shelves.drop("Pod", pod)
            server.pods["llm-0-a-7"] = a_pod("llm-0-a-7", "a", {})

        server.asked_for = vanishes
        early, make = begin(), begin()
        return [await early("llm-0-b-0", "b"), await make("llm-0-a-0", "a")]

    assert outcomes(acted(server, shelves, acts)) == [Outcome.DONE, Outcome.CONFLICT]
    assert server.lists == ["ml", "ml"]


def test_op106_nobody_makes_do_with_an_answer_that_is_older() -> None:
    """Another pod is to be made while the server answers, and it asks for one that went meanwhile."""
    pod = a_pod("llm-0-a-7", "a", FOLLOWED)
    server, shelves = Server(), known(pod)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        early, make = begin(), begin()
        later: list[asyncio.Future[Attempt]] = []

        def vanishes() -> None:
            shelves.drop("Pod", pod)
            server.pods["llm-0-a-7"] = a_pod("llm-0-a-7", "a", {})
            later.append(asyncio.ensure_future(make("llm-0-a-0", "a")))

        server.asked_for = vanishes
        return [await early("llm-0-b-0", "b"), await later[0]]

    assert outcomes(acted(server, shelves, acts)) == [Outcome.DONE, Outcome.CONFLICT]
    assert server.lists == ["ml", "ml"]


def test_op106_pods_of_others_are_none_of_its_business() -> None:
    foreign, bare = a_pod("db-0", "db", {}), a_pod("shell", "x", {})
    foreign["metadata"]["ownerReferences"][0]["kind"] = "StatefulSet"
    del bare["metadata"]["ownerReferences"]
    server = Server(foreign, bare)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-a-0", "a")]

    assert outcomes(acted(server, known(), acts)) == [Outcome.DONE]
    assert not server.labelled
