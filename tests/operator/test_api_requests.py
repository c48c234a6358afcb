"""Requests of ``Api`` to a server on the loopback."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from grove_shell.client.api_response import ApiResponse
from grove_shell.client.api_session import NoServerResponse, RequestWithdrawn
from tests.operator.stub_server import api_with


class Slow:
    """A server that responds when released; it counts its clients."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.busy = asyncio.Event()
        self.let = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        self.busy.set()
        await self.let.wait()
        return web.json_response({})


def test_op030_a_write_that_waited_for_its_turn_asks_again_whether_it_may() -> None:
    """One request at a time; while the first is under way, the process loses its leadership."""

    async def scenario() -> tuple[list[str], list[ApiResponse | BaseException]]:
        slow = Slow()
        async with api_with(slow.answer, in_flight=1) as api:
            first = asyncio.ensure_future(api.request("POST", "/first", body={}))
            await slow.busy.wait()
            others = [asyncio.ensure_future(api.request(method, "/other")) for method in ("DELETE", "GET")]
            await asyncio.sleep(0)
            api.allowed = lambda: False
            slow.let.set()
            answers = await asyncio.gather(first, *others, return_exceptions=True)
        return slow.asked, answers

    heard, (first, deletion, reading) = asyncio.run(scenario())
    assert heard == ["POST /first", "GET /other"]
    assert isinstance(first, ApiResponse)
    assert isinstance(reading, ApiResponse)
    with pytest.raises(NoServerResponse, match="does not lead"):
        raise deletion if isinstance(deletion, NoServerResponse) else AssertionError(deletion)


def test_op030_a_write_that_waited_for_its_credentials_asks_again_whether_it_may() -> None:
    """A program that makes tokens takes its time; by then the process does not lead any more."""

    async def scenario() -> tuple[list[str], list[ApiResponse | BaseException]]:
        slow, wanted, given = Slow(), asyncio.Event(), asyncio.Event()
        slow.let.set()

        async def token() -> str:
            wanted.set()
            await given.wait()
            return "a token"

        async with api_with(slow.answer, token=token) as api:
            both = [asyncio.ensure_future(api.request(method, "/first")) for method in ("DELETE", "GET")]
            await wanted.wait()
            api.allowed = lambda: False
            given.set()
            answers = await asyncio.gather(*both, return_exceptions=True)
            with pytest.raises(NoServerResponse, match="does not lead"):
                await api.request("DELETE", "/on/the/same/connection")
        return slow.asked, answers

    heard, (deletion, reading) = asyncio.run(scenario())
    assert heard == ["GET /first"]
    assert isinstance(reading, ApiResponse)
    assert isinstance(deletion, NoServerResponse)


def test_op030_other_tasks_run_before_the_first_byte() -> None:
    """It leads when there is a connection, and does not any more when the request is written to it."""

    async def scenario() -> list[str]:
        slow, times = Slow(), iter([True, False])
        slow.let.set()
        async with api_with(slow.answer) as api:
            api.allowed = lambda: next(times)
            with pytest.raises(NoServerResponse, match="does not lead"):
                await api.request("DELETE", "/first", body={})
        return slow.asked

    assert asyncio.run(scenario()) == []


@pytest.mark.parametrize("pause", ["nan", "inf", "-inf", "-1", "soon", ""])
def test_op065_whatever_a_server_says_of_patience_it_is_asked_again(pause: str) -> None:
    async def scenario() -> tuple[int, int]:
        answers = iter([429, 200])
        heard = 0

        async def answer(_request: web.Request) -> web.Response:
            nonlocal heard
            heard += 1
            return web.json_response({}, status=next(answers), headers={"Retry-After": pause})

        async with api_with(answer) as api, asyncio.timeout(20):
            found = await api.request("GET", "/first")
        return found.status, heard

    assert asyncio.run(scenario()) == (200, 2)


def test_op074_what_is_withdrawn_leaves_no_connection() -> None:
    """Also not where that is known only when the request is written; and no response is reported."""

    async def scenario() -> tuple[list[str], list[tuple[str, int]], set[int]]:
        slow, reported, open_at = Slow(), list[tuple[str, int]](), set[int]()
        slow.let.set()
        async with api_with(
            slow.answer, observer=lambda method, status, _seconds: reported.append((method, status))
        ) as api:
            await api.request("GET", "/first")
            for number in range(40):
                words = iter([None, "spared"] if number % 2 else ["spared"])
                with pytest.raises(RequestWithdrawn, match="spared"):
                    await api.request("DELETE", "/second", body={}, unless=words.__next__)
                open_at.add(open_sockets())
            assert (await api.request("DELETE", "/third", body={}, unless=lambda: None)).is_success
        return slow.asked, reported, open_at

    heard, reported, open_at = asyncio.run(scenario())
    assert heard == ["GET /first", "DELETE /third"]
    assert reported == [("GET", 200), ("DELETE", 200)]
    assert max(open_at) - min(open_at) < 10, open_at


def open_sockets() -> int:
    """Of this process, server and client."""
    return sum(one.readlink().name.startswith("socket") for one in Path("/proc/self/fd").iterdir() if one.is_symlink())
