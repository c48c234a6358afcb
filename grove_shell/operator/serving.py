"""What an operator serves: its health, whether it is ready, and its metrics. None of it depends on leadership."""

import asyncio
from collections.abc import Callable
from typing import Final

from aiohttp import web

_TEXT: Final = "text/plain; version=0.0.4"


class CannotListen(Exception):
    """Nothing can be served where it should be; the message says where, and what to change."""


class Serving:
    """A small HTTP server; to be used as an asynchronous context manager."""

    def __init__(self, *, host: str, port: int, missing: Callable[[], list[str]], metrics: Callable[[], bytes]) -> None:
        """Serve nothing yet.

        Args:
            host, port: to listen at; port 0 for any that is free.
            missing: what the process still waits for before it is of use; empty when it is ready.
            metrics: the page of metrics.
        """
        self._host = host
        self._port = port
        self._missing = missing
        self._metrics = metrics
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> int:
        """Listen, and tell at which port.

        Raises:
            CannotListen: the port is taken, or the address is not ours.
        """
        application = web.Application()
        application.add_routes(
            [
                web.get("/healthz", self._health),
                web.get("/readyz", self._ready),
                web.get("/metrics", self._page),
            ]
        )
        self._runner = web.AppRunner(application, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError as fault:
            await self._runner.cleanup()
            where = f"{self._host}:{self._port}"
            raise CannotListen(f"{where}: {fault.strerror}; another one is set by serving.port in --config") from fault
        port: int = self._runner.addresses[0][1]
        return port

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _health(self, _request: web.Request) -> web.Response:
        """Whether the event loop turns: who answers is alive."""
        await asyncio.sleep(0)
        return web.Response(text="ok\n")

    async def _ready(self, _request: web.Request) -> web.Response:
        missing = self._missing()
        return web.Response(
            text="ok\n" if not missing else f"waits for {', '.join(missing)}\n", status=503 if missing else 200
        )

    async def _page(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), headers={"Content-Type": _TEXT})
