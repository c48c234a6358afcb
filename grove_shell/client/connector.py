"""Connections to an API server, of which none outlives its session."""

import asyncio
import ssl
from weakref import WeakSet

import aiohttp
from aiohttp.connector import Connection
from aiohttp.tracing import Trace


class Connector(aiohttp.TCPConnector):
    """Knows every connection that it gave away, until it is closed.

    A request that is broken off leaves its connection with TLS' farewell, which aiohttp does not wait for, and which
    asyncio gives the other side half a minute to answer.
    """

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        """Open nothing yet.

        Args:
            tls: whom to trust; None for what the machine trusts.
        """
        super().__init__(limit=0, ssl=tls or True)  # watches hold a connection each
        self._given = WeakSet[asyncio.Transport]()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp calls it by this name
    ) -> Connection:
        """A connection for one request."""
        connection = await super().connect(req, traces, timeout)
        if connection.transport is not None:
            self._given.add(connection.transport)
        return connection

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Hang up, whoever is still to answer a farewell (OP-108)."""
        await super().close(abort_ssl=abort_ssl)
        for transport in tuple(self._given):
            transport.abort()  # which is nothing for one that is closed
        await asyncio.sleep(0)  # asyncio closes a socket in its next turn
