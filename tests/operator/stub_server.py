"""An HTTP server on the loopback whose responses a test decides, and an ``ApiSession`` connected to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from grove_shell.client.api_session import ApiSession, OnResponse
from grove_shell.client.connection_settings import ConnectionSettings

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
Token = Callable[[], Awaitable[str | None]]


async def no_token() -> str | None:
    return None


def not_found(request: web.Request) -> web.Response:
    """As a server says that it has no such object."""
    name = request.path.removesuffix("/status").rpartition("/")[2]
    words = {"kind": "Status", "status": "Failure", "reason": "NotFound", "message": f"{name} not found", "code": 404}
    return web.json_response({**words, "details": {"name": name}}, status=404)


@asynccontextmanager
async def listening_server(answer: Answer, *, patience: float = 60.0) -> AsyncIterator[str]:
    """A server's address, with this response to everything; at its end it waits so many seconds for its clients."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=patience)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def api_with(
    answer: Answer, *, in_flight: int = 32, token: Token = no_token, observer: OnResponse | None = None
) -> AsyncIterator[ApiSession]:
    """A client of such a server."""
    async with listening_server(answer) as server:
        way = ConnectionSettings(server=server, tls=None, token=token)
        async with ApiSession(way, in_flight=in_flight, on_response=observer) as api:
            yield api
