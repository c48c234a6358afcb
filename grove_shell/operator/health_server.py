"""The HTTP server of a process: ``/healthz``, ``/readyz`` and ``/metrics``; none depends on leadership (OP-034)."""

import asyncio
import errno
import socket
from collections.abc import Callable, Iterable
from ssl import SSLContext
from typing import Final

from aiohttp import web

from grove_shell.exit_codes import CommandFailed

_TEXT: Final = "text/plain; version=0.0.4"
_FINISH: Final = 2.5  # seconds; aiohttp waits twice as long (OP-033)


class CannotListen(CommandFailed):
    """A port is taken, or must not be used; the message says which, and what to change."""


def socket_of_every_address(port: int) -> socket.socket:
    """Return a socket of every IPv4 and IPv6 address, of IPv4 alone where the machine has no IPv6 (OP-110)."""
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        except OSError as fault:
            if fault.errno != errno.EADDRNOTAVAIL:
                raise
    return socket.create_server(("", port))


class HttpServer:
    """Serves an application while entered as an asynchronous context manager."""

    def __init__(
        self,
        application: web.Application,
        host: str,
        port: int,
        *,
        tls: SSLContext | None = None,
        finish: float = _FINISH,
    ) -> None:
        """Listen on no port yet.

        Args:
            application: what is served.
            host: to listen at; empty for every IPv4 and IPv6 address of the machine (OP-110).
            port: to listen on; 0 for any free one.
            tls: with a certificate; None for HTTP.
            finish: seconds that requests in progress may still take when it is left.
        """
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=finish)
        self._listens_at = (host, port, tls)

    async def __aenter__(self) -> int:
        """Listen, and return the port.

        Raises:
            CannotListen: the port is taken, or the address is not of this machine.
        """
        host, port, tls = self._listens_at
        await self._runner.setup()
        try:
            if host:
                await web.TCPSite(self._runner, host, port, ssl_context=tls).start()
            else:
                await web.SockSite(self._runner, socket_of_every_address(port), ssl_context=tls).start()
        except OSError as fault:
            await self._runner.cleanup()
            where = f"{f'[{host}]' if ':' in host else host}:{port}" if host else f"port {port}"
            words = f"cannot listen at {where}: {fault.strerror or fault}; --config says where to"
            raise CannotListen(words) from fault
        found: int = self._runner.addresses[0][1]
        return found

    async def __aexit__(self, *_: object) -> None:
        """Finish the requests in progress, and close."""
        await self._runner.cleanup()


class HealthServer(HttpServer):
    """Serves health, readiness and metrics of a process."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        missing: Callable[[], list[str]],
        metrics: Callable[[], bytes],
        notes: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Listen on no port yet.

        Args:
            host, port: as of HttpServer.
            missing: returns what the process waits for before it is ready; empty when it is.
            metrics: returns the page of metrics.
            notes: returns further lines of ``/readyz``.
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
        """Answer in another turn of the event loop, which shows that it runs."""
        await asyncio.sleep(0)
        return web.Response(text="ok\n")

    async def _ready(self, _request: web.Request) -> web.Response:
        missing = self._missing()
        if missing:
            return web.Response(text=f"waits for {', '.join(missing)}\n", status=503)
        return web.Response(text="".join(f"{line}\n" for line in ("ok", *self._notes())))

    async def _page(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), headers={"Content-Type": _TEXT})
