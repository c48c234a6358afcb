"""A server on the loopback that writes down what it is asked, as rules of a role would have it, and knows nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from aiohttp import web

from grove_shell.client.connection_settings import ConnectionSettings
from tests.operator.stub_server import not_found

Json = dict[str, Any]
_DISCOVERY: Final = 3  # slashes in the longest path of discovery, /apis/grove.io/v1alpha1, which no role has to allow
_WRITES: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Asked(NamedTuple):
    """One request."""

    group: str
    resource: str
    verb: str
    name: str = ""


def asked_by(method: str, path: str, *, watches: bool) -> Asked:
    """What a request asks for, as an API server derives it from the path."""
    parts = path.strip("/").split("/")
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    plural, name, part = (*rest, "", "")[:3]
    reading = "get" if name else "watch" if watches else "list"
    return Asked(group, f"{plural}/{part}" if part else plural, _WRITES.get(method, reading), name)


Answer = Callable[[Asked, int], tuple[int, Json]]


class Recorder:
    """What was asked so far, and in which form the answers of a resource were wanted.

    Args:
        answer: what to say to a request, and to how many like it before.
    """

    def __init__(self, answer: Answer) -> None:
        self.asked: list[Asked] = []
        self.accepted: dict[str, set[str]] = {}
        self._answer = answer
        self._heard = asyncio.Event()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[ConnectionSettings]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._hear)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()

        async def no_token() -> None:
            return None

        try:
            yield ConnectionSettings(f"http://127.0.0.1:{runner.addresses[0][1]}", None, no_token)
        finally:
            await runner.cleanup()

    async def until(self, *wanted: Asked) -> None:
        """Wait until all of these were asked."""
        async with asyncio.timeout(20):
            while not set(wanted) <= {one._replace(name="") for one in self.asked}:
                self._heard.clear()
                await self._heard.wait()

    async def _hear(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/apis/") and request.path.count("/") <= _DISCOVERY:
            return not_found(request)
        one = asked_by(request.method, request.path, watches="watch" in request.query)
        before = sum(other == one for other in self.asked)
        self.asked.append(one)
        self.accepted.setdefault(one.resource, set()).add(request.headers["Accept"])
        self._heard.set()
        if one.verb == "watch":
            return web.Response(text="")
        code, body = self._answer(one, before)
        return not_found(request) if code == 404 and not body else web.json_response(body, status=code)
