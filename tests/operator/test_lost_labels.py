"""An answer may show that a label was lost before any watch tells it (OP-018)."""

import asyncio
from collections.abc import Awaitable, Callable
from unittest import mock

import pytest
from aiohttp import web

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Apply, Attempt, Create, Delete, Outcome, Stage, Step
from grove_core.resources.keys import CORE, MANAGED_BY
from grove_shell.client.api import Unreachable
from grove_shell.world import lost_labels
from grove_shell.world.shelves import Shelves
from grove_shell.world.writes import Writes
from tests.operator.answering import asked
from tests.operator.missing_labels import FOLLOWED, Json, Server, a_pod, known

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


def written(server: Server, shelves: Shelves, write: Callable[[Writes], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with asked(server.answer) as api:
            await write(Writes(api, shelves))

    asyncio.run(scenario())


async def tried(writes: Writes, action: Action) -> Attempt:
    return await writes.attempt(Step(Stage.WORKLOAD, REF, action, ()))


def is_lost_in_9(shelves: Shelves) -> Json:
    """As the watch tells it, late."""
    event = a_pod(NAME, "a", FOLLOWED)
    event["metadata"]["resourceVersion"] = "9"
    shelves.drop("Pod", event)
    return event


@pytest.mark.parametrize(
    ("action", "before"),
    [(opening(), True), (Delete(Guard(NAME, "7")), True), (Create(manifest()), False)],
    ids=["a gate is opened", "it is deleted", "somebody takes it from what is made"],
)
@pytest.mark.req("OP-085")
def test_op018_an_answer_without_it_is_not_taken_in(action: Action, before: bool) -> None:
    """The watch told of its end before that, and would tell nothing more."""
    server, shelves = Older(), known(*[a_pod(NAME, "a", FOLLOWED)] if before else [])

    async def write(writes: Writes) -> None:
        assert (await tried(writes, action)).outcome is Outcome.DONE

    written(server, shelves, write)
    is_lost_in_9(shelves)
    assert shelves.find(REF) is not None
    assert server.pods[NAME]["metadata"]["labels"] == FOLLOWED


@pytest.mark.req("OP-106")
def test_op018_while_it_cannot_be_followed_it_goes_out_of_sight() -> None:
    """And is looked for."""
    server, shelves = Older(), known(a_pod(NAME, "a", FOLLOWED))
    server.forbids.add(NAME)

    async def write(writes: Writes) -> None:
        attempt = await tried(writes, opening())
        assert attempt.outcome is Outcome.REFUSED
        assert attempt.detail == f"Pod/{NAME} lost its label {MANAGED_BY}: no labels here"

    written(server, shelves, write)
    is_lost_in_9(shelves)
    assert shelves.find(REF) is None
    assert shelves.out_of_sight("ml") == 1


def test_op018_who_was_let_go_of_is_left_alone() -> None:
    """Somebody took its owner as well, to keep it for himself."""
    server, shelves = Older(), known(a_pod(NAME, "a", FOLLOWED))
    del server.pods[NAME]["metadata"]["ownerReferences"]

    async def write(writes: Writes) -> None:
        assert not await writes.look_at(REF)

    written(server, shelves, write)
    assert shelves.find(REF) is None
    assert not server.labelled


class Going(Server):
    """What it is to label is gone by then, or a proxy answers in its place."""

    page = ""

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "PATCH" and self.page:
            return web.Response(text=self.page)
        if request.method == "PATCH":
            self.pods.clear()
        return await super().answer(request)


@pytest.mark.req("OP-106")
def test_op018_who_went_meanwhile_needs_none() -> None:
    server, shelves = Going(a_pod(NAME, "a", {})), known(a_pod(NAME, "a", FOLLOWED))

    async def write(writes: Writes) -> None:
        assert not await writes.look_at(REF)

    written(server, shelves, write)
    assert shelves.find(REF) is None
    assert not shelves.out_of_sight("ml"), "the server itself was asked"


@pytest.mark.req("OP-068")
def test_op018_what_is_no_answer_gives_it_to_nobody() -> None:
    server, shelves = Going(a_pod(NAME, "a", {})), known()
    server.page = "<html>please log in</html>"

    async def write(writes: Writes) -> None:
        with pytest.raises(Unreachable, match=r"lost its label .*: what came is no answer: <html>please log in"):
            await writes.look_at(REF)

    written(server, shelves, write)
    assert shelves.find(REF) is None


def test_op018_it_is_given_back_once_in_ten_seconds() -> None:
    """As often as somebody takes it."""
    server, shelves = Server(*(a_pod(f"llm-0-a-{index}", "a", {}) for index in range(2))), known()

    async def write(writes: Writes) -> None:
        async def is_met(index: int) -> None:
            await writes.look_at(Ref(CORE, "Pod", "ml", f"llm-0-a-{index}"))

        await is_met(0)
        server.pods[NAME]["metadata"]["labels"] = {}
        with pytest.raises(Unreachable, match=rf"^Pod/{NAME} lost its label .* again, a moment after it got it back$"):
            await is_met(0)
        await is_met(1)
        assert server.labelled == [NAME, "llm-0-a-1"]
        await asyncio.sleep(0.2)
        await is_met(0)

    with mock.patch.object(lost_labels, "_AGAIN", 0.1):
        written(server, shelves, write)
    assert server.labelled == [NAME, "llm-0-a-1", NAME]
