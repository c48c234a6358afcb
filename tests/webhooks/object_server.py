"""An API server that stores objects on the loopback, as far as creations and reads go; it counts what it is asked."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from grove_shell.client.connection_settings import ConnectionSettings
from tests.operator.stub_server import not_found

Json = dict[str, Any]
_CONFLICT: Final = 409


class ObjectServer:
    """What is stored, by path; an answer takes a moment, so that requests meet.

    Attributes:
        refuses: what is said to every creation of a plural; nothing where none is refused.
        hides: the response to reads of an object of a plural.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.asked: Counter[str] = Counter()
        self.refuses: dict[str, tuple[int, Json]] = {}
        self.hides: dict[str, tuple[int, Json]] = {}

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

    async def _hear(self, request: web.Request) -> web.Response:
        self.asked[request.method] += 1
        await asyncio.sleep(0.02)
        if request.method == "POST":
            return self._create(request.path, await request.json())
        plural = request.path.split("/")[-2]
        if plural in self.hides:
            code, said = self.hides[plural]
            return web.json_response(said, status=code)
        found = self.objects.get(request.path)
        return web.json_response(found) if found else not_found(request)

    def _create(self, place: str, body: Json) -> web.Response:
        plural = place.rpartition("/")[2]
        if plural in self.refuses:
            code, said = self.refuses[plural]
            return web.json_response(said, status=code)
        path = f"{place}/{body['metadata']['name']}"
        if path in self.objects:
            said = {"kind": "Status", "reason": "AlreadyExists", "message": f"{path} already exists"}
            return web.json_response(said, status=_CONFLICT)
        number = str(len(self.objects) + 1)
        body["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": number}
        self.objects[path] = body
        return web.json_response(body, status=201)
