"""What an operator serves: its health, whether it is ready, and its metrics. None of it depends on leadership."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from ssl import SSLContext
from typing import Final

from aiohttp import web

_TEXT: Final = "text/plain; version=0.0.4"
_FINISH: Final = 2.5  # aiohttp waits for twice as long; beside rounds and the Lease that is all that a pod has (OP-091)


class CannotListen(Exception):
    """A port is taken, or not ours to listen at; the message says which, and what to change."""


@asynccontextmanager
async def listening_at(server: AbstractAsyncContextManager[int], host: str, port: int) -> AsyncIterator[int]:
    """Enter a server and tell at which port it listens. Raises CannotListen."""
    async with AsyncExitStack() as stack:
        try:
            found = await stack.enter_async_context(server)
        except OSError as fault:
            words = f"cannot listen at {host}:{port}: {fault.strerror or fault}; --config says where to"
            raise CannotListen(words) from fault
        yield found


class HttpServer:
    """Serves an application; to be used as an asynchronous context manager."""

    def __init__(
        self,
        application: web.Application,
        host: str,
        port: int,
        *,
        tls: SSLContext | None = None,
        finish: float = _FINISH,
    ) -> None:
        """Serve nothing yet.

        Args:
            application: what is served.
            host, port: to listen at; port 0 for any that is free.
            tls: with a certificate; None for HTTP.
            finish: how many seconds what was begun may still take at the end.
        """
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=finish)
        self._listens_at = (host, port, tls)

    async def __aenter__(self) -> int:
        """Listen, and tell at which port.

        Raises:
            OSError: the port is taken, or the address is not ours; see :func:`listening_at`.
        """
        host, port, tls = self._listens_at
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port, ssl_context=tls).start()
        except OSError:
            await self._runner.cleanup()
            raise
        found: int = self._runner.addresses[0][1]
        return found

    async def __aexit__(self, *_: object) -> None:
        """Answer what was begun, and close."""
        await self._runner.cleanup()


class HealthServer(HttpServer):
    """A small HTTP server for those who watch over a process."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        missing: Callable[[], list[str]],
        metrics: Callable[[], bytes],
        notes: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Serve nothing yet.

        Args:
            host, port: to listen at; port 0 for any that is free.
            missing: what the process still waits for before it is of use; empty when it is ready.
            metrics: the page of metrics.
            notes: what else to tell who asks whether it is ready.
        """
        self._missing = missing
        self._metrics = metrics
        self._notes = notes
        application = web.Application()
        application.add_routes(
            [
                web.get("/healthz", self._health),
                web.get("/readyz", self._ready),
                web.get("/metrics", self._page),
            ]
        )
        super().__init__(application, host, port)

    async def _health(self, _request: web.Request) -> web.Response:
        """Whether the event loop turns: who answers is alive."""
        await asyncio.sleep(0)
        return web.Response(text="ok\n")

    async def _ready(self, _request: web.Request) -> web.Response:
        missing = self._missing()
        if missing:
            return web.Response(text=f"waits for {', '.join(missing)}\n", status=503)
        return web.Response(text="".join(f"{line}\n" for line in ("ok", *self._notes())))

    async def _page(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), headers={"Content-Type": _TEXT})
