"""A copy of one kind, kept from a server that really listens and behaves badly."""

import asyncio
import json
from typing import Any, Final

import pytest
from aiohttp import web

from grove_shell.client.kinds import KINDS
from grove_shell.client.reflector import Reflector
from grove_shell.world.shelves import Shelves
from tests.operator.answering import asked

A_WHILE: Final = 1.0
FEW: Final = 10


class Curt:
    """A server that ends every watch at once, with these last words."""

    def __init__(self, words: list[dict[str, Any]]) -> None:
        self.words = words
        self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if "watch" in request.query:
            return web.Response(text="".join(json.dumps(each) + "\n" for each in self.words))
        return web.json_response({"metadata": {"resourceVersion": "5"}, "items": []})


@pytest.mark.parametrize("code", [None, 410, 500])
def test_op009_a_watch_that_ends_at_once_is_not_begun_a_thousand_times(code: int | None) -> None:
    async def scenario() -> int:
        curt = Curt([] if code is None else [{"type": "ERROR", "object": {"kind": "Status", "code": code}}])
        async with asked(curt.answer) as api:
            following = asyncio.create_task(Reflector(api, KINDS["Pod"], Shelves()).run())
            await asyncio.sleep(A_WHILE)
            following.cancel()
            await asyncio.wait([following])
        return curt.asked

    times = asyncio.run(scenario())
    assert 2 < times <= (2 * FEW if code else FEW)


def test_op060_a_kind_that_a_cluster_may_do_without_is_none() -> None:
    async def ignorant(_request: web.Request) -> web.Response:
        return web.json_response({"kind": "Status", "code": 404, "message": "page not found"}, status=404)

    async def scenario() -> tuple[Shelves, list[str]]:
        shelves, told = Shelves(), list[str]()
        async with asked(ignorant) as api:
            for kind in ("ComputeDomain", "Service"):
                reflector = Reflector(api, KINDS[kind], shelves, told=lambda kind, _words: told.append(kind))
                following = asyncio.create_task(reflector.run())
                await asyncio.wait_for(reflector.synced.wait(), A_WHILE)
                following.cancel()
                await asyncio.wait([following])
        return shelves, told

    shelves, told = asyncio.run(scenario())
    assert (set(shelves.lost), told) == ({"Service"}, ["Service"])
