"""Servers and proxies that accept a request and never answer, or never send a whole line."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

import pytest

from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ConnectionSettings
from tests.operator.stub_server import no_token

SOON: Final = 0.1  # seconds that an answer may take
LONG: Final = 3.0
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BEGINNINGS: Final = (b"", b"HTTP/1.1 200 OK\r\nX-Slow: ", CHUNKED, b"HTTP/1.1 410 Gone\r\nContent-Length: 99\r\n\r\n")


async def watched(api: ApiSession) -> list[bytes]:
    return [line async for line in api.stream_lines("/api/v1/pods", {})]


async def hung(
    beginning: bytes,
    more: bytes,
    way: Callable[[int], ConnectionSettings],
    what: Callable[[ApiSession], Awaitable[object]],
) -> None:
    """Request a server with this response, and then the same again and again."""
    over: list[asyncio.Event] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        over.append(asyncio.Event())
        mine = over[-1]
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(beginning)
            while not reader.at_eof() and not writer.is_closing():
                writer.write(more)
                await asyncio.sleep(SOON / 2)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        mine.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    try:
        async with ApiSession(way(port), timeout=SOON) as api:
            await asyncio.wait_for(what(api), LONG)
    finally:
        await asyncio.gather(*(one.wait() for one in over))
        server.close()
        await server.wait_closed()


def straight(port: int, token: Callable[[], Awaitable[str | None]] = no_token) -> ConnectionSettings:
    return ConnectionSettings(server=f"http://127.0.0.1:{port}", tls=None, token=token)


def through_a_proxy(port: int) -> ConnectionSettings:
    tls = ssl.create_default_context()
    return ConnectionSettings(server="https://localhost:1", tls=tls, token=no_token, proxy=f"http://127.0.0.1:{port}")


async def never() -> str | None:
    await asyncio.sleep(2 * LONG)
    return None


@pytest.mark.parametrize("beginning", BEGINNINGS, ids=["nothing", "half a header", "no line", "half a refusal"])
@pytest.mark.parametrize("trickles", [False, True])
def test_op080_a_watch_without_whole_lines_ends(beginning: bytes, *, trickles: bool) -> None:
    """Bytes that make no line keep no watch alive."""
    more = b"1\r\n \r\n" if beginning is CHUNKED else b" "
    with pytest.raises(NoServerResponse, match="no answer in time"):
        asyncio.run(hung(beginning, more if trickles and beginning else b"", straight, watched))


def test_op080_a_client_that_reads_slowly_loses_nothing() -> None:
    """The time for a line counts from when the last one was taken."""

    async def two(api: ApiSession) -> None:
        lines = api.stream_lines("/api/v1/pods", {})
        await anext(lines)
        await asyncio.sleep(10 * SOON)
        await anext(lines)
        await lines.aclose()

    asyncio.run(hung(CHUNKED, b"2\r\n5\n\r\n", straight, two))


@pytest.mark.parametrize("what", [watched, partial(ApiSession.request, method="GET", path="/api")])
def test_op065_a_proxy_that_never_answers_is_no_way(what: Callable[[ApiSession], Awaitable[object]]) -> None:
    with pytest.raises(NoServerResponse, match="no answer in time"):
        asyncio.run(hung(b"", b"", through_a_proxy, what))


@pytest.mark.parametrize("what", [watched, partial(ApiSession.request, method="GET", path="/api")])
def test_op065_a_token_that_never_comes_is_no_answer(what: Callable[[ApiSession], Awaitable[object]]) -> None:
    with pytest.raises(NoServerResponse, match="no answer in time"):
        asyncio.run(hung(b"", b"", partial(straight, token=never), what))
