"""Restoring a removed selector label from the response to a write (OP-018)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from unittest import mock

import pytest
from aiohttp import web

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Apply, Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.resources.api_names import CORE, MANAGED_BY
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_session import NoServerResponse
from tests.operator.stub_server import api_with
from tests.operator.unlabelled_pods import FOLLOWED, Json, Server, a_pod, cache_with

NAME = "llm-0-a-0"
REF = Ref(CORE, "Pod", "ml", NAME)


class Older(Server):
    """Its pod lost the label in version 9; of what else happens to it the answer shows that."""

    def __init__(self) -> None:
        pod = a_pod(NAME, "a", {})
        pod["metadata"]["resourceVersion"] = "9"
        super().__init__(pod)

    async def answer(self, request: web.Request) -> web.Response:
        opens = "strategic" in request.headers.get("Content-Type", "")
        if (opens or request.method == "DELETE") and NAME in self.pods:
            self.pods[NAME]["metadata"]["resourceVersion"] = "10"
            return web.json_response(self.pods[NAME])
        if request.method == "POST":
            self.made.append(NAME)
            return web.json_response(self.pods[NAME], status=201)
        return await super().answer(request)


def manifest() -> FrozenMap:
    frozen = freeze(a_pod(NAME, "a", FOLLOWED))
    assert isinstance(frozen, FrozenMap)
    return frozen


def opening() -> Apply:
    fields = freeze({"spec": {"schedulingGates": None}})
    assert isinstance(fields, FrozenMap)
    return Apply(fields, Guard(NAME, "7"))


def written(server: Server, cache: ClusterCache, write: Callable[[FreshReader], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with api_with(server.answer) as api:
            await write(FreshReader(api, cache))

    asyncio.run(scenario())


async def tried(reader: FreshReader, action: Action) -> Attempt:
    return await StepExecutor(reader).attempt_step(Step(StepStage.WORKLOAD, REF, action, ()))


def is_lost_in_9(cache: ClusterCache) -> Json:
    """As the watch reports it, late."""
    event = a_pod(NAME, "a", FOLLOWED)
    event["metadata"]["resourceVersion"] = "9"
    cache.drop("Pod", event)
    return event


@pytest.mark.parametrize(
    ("action", "before"),
    [(opening(), True), (Delete(Guard(NAME, "7")), True), (Create(manifest()), False)],
    ids=["a gate is opened", "it is deleted", "it is removed from what is made"],
)
@pytest.mark.req("OP-002")
def test_op018_an_answer_without_it_is_not_taken_in(action: Action, before: bool) -> None:
    """The watch reported its end before that, and would report nothing more."""
    server, cache = Older(), cache_with(*[a_pod(NAME, "a", FOLLOWED)] if before else [])

    async def write(reader: FreshReader) -> None:
        assert (await tried(reader, action)).outcome is AttemptOutcome.DONE

    written(server, cache, write)
    is_lost_in_9(cache)
    assert cache.find_object(REF) is not None
    assert server.pods[NAME]["metadata"]["labels"] == FOLLOWED


@pytest.mark.req("OP-106")
def test_op018_while_it_cannot_be_followed_it_goes_out_of_sight() -> None:
    """And is looked for."""
    server, cache = Older(), cache_with(a_pod(NAME, "a", FOLLOWED))
    server.forbids.add(NAME)

    async def write(reader: FreshReader) -> None:
        assert (await tried(reader, opening())).outcome is AttemptOutcome.DONE

    written(server, cache, write)
    is_lost_in_9(cache)
    assert cache.find_object(REF) is None
    assert cache.vanished_pod_count("ml") == 1


def test_op018_an_object_that_was_let_go_of_is_left_alone() -> None:
    """A user removed its owner as well, to keep it."""
    server, cache = Older(), cache_with(a_pod(NAME, "a", FOLLOWED))
    del server.pods[NAME]["metadata"]["ownerReferences"]

    async def write(reader: FreshReader) -> None:
        assert not await reader.read_into_cache(REF)

    written(server, cache, write)
    assert cache.find_object(REF) is None
    assert not server.labelled


class Going(Server):
    """What it is to label is gone by then, or a proxy answers in its place."""

    page = ""
    strips = False
    takes = False
    refuses = 0
    patches = 0

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "POST" and self.strips:
            return web.json_response(self.pods[NAME], status=201)
        if request.method == "POST" and self.takes:
            return web.json_response({"kind": "Status", "reason": "AlreadyExists", "message": "taken"}, status=409)
        self.patches += request.method == "PATCH"
        if request.method == "PATCH" and self.refuses:
            return web.json_response({"kind": "Status", "message": "not now"}, status=self.refuses)
        if request.method == "PATCH" and self.page:
            return web.Response(text=self.page)
        if request.method == "PATCH":
            self.pods.clear()
        return await super().answer(request)


@pytest.mark.req("OP-106")
def test_op018_an_object_that_went_meanwhile_needs_none() -> None:
    server, cache = Going(a_pod(NAME, "a", {})), cache_with(a_pod(NAME, "a", FOLLOWED))

    async def write(reader: FreshReader) -> None:
        assert not await reader.read_into_cache(REF)

    written(server, cache, write)
    assert cache.find_object(REF) is None
    assert not cache.vanished_pod_count("ml"), "the server itself was asked"


@pytest.mark.req("OP-065")
def test_op018_an_invalid_response_restores_no_label() -> None:
    server, cache = Going(a_pod(NAME, "a", {})), cache_with()
    server.page = "<html>please log in</html>"

    async def write(reader: FreshReader) -> None:
        with pytest.raises(
            NoServerResponse, match=r"lost its label .*: the response is not of an API server: <html>please log in"
        ):
            await reader.read_into_cache(REF)

    written(server, cache, write)
    assert cache.find_object(REF) is None


@pytest.mark.req("OP-011")
def test_op018_an_object_that_had_the_name_and_went_is_made_in_the_next_round() -> None:
    """A conflict is looked at again; what was done is not."""
    server, cache = Going(a_pod(NAME, "a", {})), cache_with()
    server.takes = True

    async def write(reader: FreshReader) -> None:
        attempt = await tried(reader, Create(manifest()))
        assert (attempt.outcome, attempt.detail) == (AttemptOutcome.CONFLICT, "it was deleted a moment ago")

    written(server, cache, write)


@pytest.mark.parametrize("status", [403, 409, 500])
def test_op018_what_was_made_and_is_not_followed_is_looked_for(status: int) -> None:
    server, cache = Going(a_pod(NAME, "a", {})), cache_with()
    server.strips, server.refuses = True, status

    async def write(reader: FreshReader) -> None:
        attempt = await tried(reader, Create(manifest()))
        assert attempt.outcome is AttemptOutcome.UNREACHABLE
        assert attempt.detail.startswith(f"Pod/{NAME} lost its label {MANAGED_BY}: ")

    written(server, cache, write)
    assert cache.find_object(REF) is None


@pytest.mark.req("OP-106")
def test_op018_an_object_that_went_while_an_answer_showed_it_is_not_taken_in() -> None:
    server, cache = Going(a_pod(NAME, "a", {})), cache_with()

    async def write(reader: FreshReader) -> None:
        attempt = await tried(reader, Create(manifest()))
        assert (attempt.outcome, attempt.detail) == (AttemptOutcome.CONFLICT, "it was deleted a moment ago")

    server.strips = True
    written(server, cache, write)
    assert cache.find_object(REF) is None


def test_op018_it_is_given_back_once_in_ten_seconds() -> None:
    """As often as the label is removed; each pod has ten seconds of its own."""
    first, second, server = *(f"llm-0-a-{index}" for index in range(2)), Server()
    server.pods = {name: a_pod(name, "a", {}) for name in (first, second)}

    async def write(reader: FreshReader) -> None:
        async def is_met(name: str, *, gets_it: bool) -> None:
            server.pods[name]["metadata"]["labels"] = {}
            doubt = rf"^Pod/{name} lost its label .* again, right after it was restored$"
            with nullcontext() if gets_it else pytest.raises(NoServerResponse, match=doubt):
                await reader.read_into_cache(Ref(CORE, "Pod", "ml", name))

        loop = asyncio.get_running_loop()
        with mock.patch.object(loop, "time", return_value=0.0) as clock:
            await is_met(first, gets_it=True)
            clock.return_value = 6.0
            await is_met(second, gets_it=True)
            await is_met(first, gets_it=False)
            clock.return_value = 10.5
            await is_met(second, gets_it=False)
            await is_met(first, gets_it=True)
            clock.return_value = 21.0
            await is_met(first, gets_it=True)

    written(server, cache_with(), write)
    assert server.labelled == [first, second, first, first]
