"""Sessions end although the server reads nothing, not even the end of the connection."""

import asyncio
import gc
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final

import pytest
import trustme

from grove_shell.client.api_session import ApiSession, NoServerResponse, WatchRefused
from grove_shell.client.connection_settings import ConnectionSettings
from tests.operator.stub_server import no_token

HEADERS: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
WHOLE: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
REFUSAL: Final = b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
SAID: Final = (b"", HEADERS, WHOLE, HEADERS + b"rubbish\r\n", REFUSAL)
PATIENCE: Final = 10.0


class Deaf:
    """Takes one request, sends the given bytes, and then neither reads nor closes."""

    def __init__(self, authority: trustme.CA, said: bytes) -> None:
        """Listen where the system says."""
        self._tls, self._said = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), said
        authority.issue_cert("127.0.0.1").configure_cert(self._tls)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._connection: socket.socket | None = None

    def serve(self) -> None:
        """Until the request is there, and answered."""
        taken, _ = self._door.accept()
        self._connection = self._tls.wrap_socket(taken, server_side=True)
        self._connection.recv(65536)
        self._connection.sendall(self._said)

    def is_left(self) -> bool:
        """Whether the other side closed, whatever TLS says to that; waits for it."""
        assert self._connection is not None
        with socket.fromfd(self._connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as bare:
            bare.settimeout(PATIENCE)
            try:
                while bare.recv(65536):
                    pass
            except ConnectionError:
                return True
            except TimeoutError:
                return False
            return True

    def close(self) -> None:
        """The test is over."""
        for one in (self._connection, self._door):
            if one is not None:
                one.close()


def connections() -> set[int]:
    """What this process has open."""
    sockets = [one for one in gc.get_objects() if isinstance(one, socket.socket)]
    return {one.fileno() for one in sockets if one.family == socket.AF_INET and one.fileno() >= 0}


@asynccontextmanager
async def deaf(said: bytes, *, is_proxy: bool) -> AsyncIterator[tuple[Deaf, ConnectionSettings, asyncio.Future[None]]]:
    """A peer, the way to it or through it, and its end."""
    authority, ours = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(ours)
    peer = Deaf(authority, said)
    there = f"https://127.0.0.1:{peer.port}"
    server, proxy = ("https://localhost:1", there) if is_proxy else (there, "")
    served = asyncio.ensure_future(asyncio.to_thread(peer.serve))
    try:
        yield peer, ConnectionSettings(server=server, tls=ours, token=no_token, proxy=proxy), served
        await served
    finally:
        peer.close()


async def watched(api: ApiSession) -> None:
    async for _ in api.stream_lines("/api/v1/pods", {}):
        pass


@pytest.mark.parametrize(
    "what", [watched, partial(ApiSession.request, method="GET", path="/api")], ids=["watch", "request"]
)
@pytest.mark.parametrize("said", SAID, ids=["nothing", "half an answer", "an answer", "rubbish", "a refusal"])
@pytest.mark.parametrize("is_proxy", [False, True], ids=["a server", "a proxy"])
def test_op033_a_client_that_stops_closes_its_connection(
    what: Callable[[ApiSession], Awaitable[object]], said: bytes, *, is_proxy: bool
) -> None:
    """A cancelled request leaves no connection open, though the peer closes nothing."""

    async def left() -> bool:
        async with deaf(said, is_proxy=is_proxy) as (peer, way, served):
            async with ApiSession(way) as api:
                before = connections()
                asking = asyncio.ensure_future(what(api))
                await served
                await asyncio.sleep(0.1)
                asking.cancel()
                with suppress(asyncio.CancelledError, NoServerResponse, WatchRefused):
                    await asking
            assert len(connections() - before) == 1, "that of the peer"
            return await asyncio.to_thread(peer.is_left)

    assert asyncio.run(left())


@pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")
def test_op033_a_client_that_stops_does_not_wait_for_a_stuck_peer() -> None:
    """A write of which the other side never reads the end."""

    async def left() -> None:
        with socket.create_server(("127.0.0.1", 0)) as door:
            way = ConnectionSettings(server=f"http://127.0.0.1:{door.getsockname()[1]}", tls=None, token=no_token)
            async with ApiSession(way) as api:
                asking = asyncio.ensure_future(api.request("POST", "/api", body=b"x" * (16 << 20)))
                await asyncio.sleep(0.2)
            with pytest.raises(NoServerResponse):
                await asyncio.wait_for(asking, PATIENCE)

    asyncio.run(asyncio.wait_for(left(), PATIENCE))


def test_op033_a_client_that_leaves_tries_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is not cancelled is in its TLS handshake with the first one."""

    async def left() -> None:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port = first.getsockname()[1]
            with socket.create_server(("127.0.0.2", port)) as second:
                found = [
                    (socket.AF_INET, socket.SOCK_STREAM, 6, "", (where, port)) for where in ("127.0.0.1", "127.0.0.2")
                ]
                monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
                way = ConnectionSettings(
                    server=f"https://ha.test:{port}", tls=ssl.create_default_context(), token=no_token
                )
                async with ApiSession(way) as api:
                    asking = asyncio.ensure_future(api.request("GET", "/api"))
                    taken, _ = await asyncio.to_thread(first.accept)
                with pytest.raises(NoServerResponse):
                    await asking
                taken.close()
                second.setblocking(False)
                with pytest.raises(BlockingIOError):
                    second.accept()

    asyncio.run(asyncio.wait_for(left(), PATIENCE))
