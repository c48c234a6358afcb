"""Requests to a server that really listens."""

import asyncio

import pytest
from aiohttp import web

from grove_shell.client.api import Answer, Api, Unreachable
from grove_shell.client.connection import Connection


async def no_token() -> str | None:
    return None


class Slow:
    """A server that answers when it is let; it counts who asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.busy = asyncio.Event()
        self.let = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        self.busy.set()
        await self.let.wait()
        return web.json_response({})


def test_op031_a_write_that_waited_for_its_turn_asks_again_whether_it_may() -> None:
    """One request at a time; while the first is under way, the process loses its leadership."""

    async def scenario() -> tuple[list[str], list[Answer | BaseException]]:
        slow = Slow()
        application = web.Application()
        application.router.add_route("*", "/{path}", slow.answer)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with Api(Connection(server=server, tls=None, token=no_token), in_flight=1) as api:
            first = asyncio.ensure_future(api.request("POST", "/first", body={}))
            await slow.busy.wait()
            others = [asyncio.ensure_future(api.request(method, "/other")) for method in ("DELETE", "GET")]
            await asyncio.sleep(0)
            api.allowed = lambda: False
            slow.let.set()
            answers = await asyncio.gather(first, *others, return_exceptions=True)
        await runner.cleanup()
        return slow.asked, answers

    asked, (first, deletion, reading) = asyncio.run(scenario())
    assert asked == ["POST /first", "GET /other"]
    assert isinstance(first, Answer)
    assert isinstance(reading, Answer)
    with pytest.raises(Unreachable, match="does not lead"):
        raise deletion if isinstance(deletion, Unreachable) else AssertionError(deletion)
