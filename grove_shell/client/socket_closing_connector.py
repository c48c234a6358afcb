"""Connections to an API server that are all closed with their session."""

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import Final
from weakref import WeakSet

import aiohttp
from aiohttp.connector import AddrInfoType

_POLL_PAUSE: Final = 0.001
_MOST_POLLS: Final = 1000


class SocketClosingConnector(aiohttp.TCPConnector):
    """Keeps a weak reference to every socket that it opens.

    A cancelled request leaves its connection in the TLS shutdown, which aiohttp does not await and asyncio lets last
    for half a minute; behind a proxy the handshake may never have begun.
    """

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        """Open nothing yet.

        Args:
            tls: the certificate authorities; None for those of the machine.
        """
        super().__init__(limit=0, ssl=tls or True, socket_factory=self._opened)  # watches hold a connection each
        self._sockets = WeakSet[socket.socket]()
        self._is_closing = False

    def _opened(self, address: AddrInfoType) -> socket.socket:
        if self._is_closing:
            raise OSError("the session is closed")  # a name may have further addresses
        family, kind, protocol, *_ = address
        opened = socket.socket(family, kind, protocol)
        self._sockets.add(opened)
        return opened

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Shut every socket down at once, in the middle of a TLS shutdown or a write too (OP-033)."""
        self._is_closing = True
        for opened in tuple(self._sockets):
            with suppress(OSError):  # closed already, or never connected
                opened.shutdown(socket.SHUT_RDWR)
        await super().close(abort_ssl=abort_ssl)
        for _ in range(_MOST_POLLS):
            if all(opened.fileno() < 0 for opened in tuple(self._sockets)):
                return
            await asyncio.sleep(_POLL_PAUSE)  # asyncio closes it in one of its next turns
