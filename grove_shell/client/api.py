"""Requests to an API server, with a limit on concurrent ones, retries where the server asks for them, and one error."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, Self

import aiohttp

from grove_shell.client.connection import Connection
from grove_shell.client.connector import Connector
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.response import OK, SERVER_FAULT, TOO_MANY, Response, retry_after_in

JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
_TRIES: Final = 5
_LONGEST_WAIT: Final = 60.0
_TIMEOUT: Final = 30.0
_IN_FLIGHT: Final = 32
_SILENCE: Final = 4  # times the time for an answer: a server sends a bookmark every minute


class Unreachable(Exception):
    """There was no response: refused, cut, or too late. Whether the request was carried out is not known."""


class Withdrawn(Exception):
    """The request was not sent: it was withdrawn while it waited for its turn."""


OnResponse = Callable[[str, int], None]
Unless = Callable[[], str | None]
"""Why a request is not to be sent any more; None where it is."""


class Api:
    """A session with one API server; to be used as an asynchronous context manager.

    Attributes:
        allowed: called right before every write is sent; False drops the write (OP-031).
    """

    def __init__(
        self,
        connection: Connection,
        *,
        in_flight: int = _IN_FLIGHT,
        rate_limiter: RateLimiter | None = None,
        timeout: float = _TIMEOUT,
        tries: int = _TRIES,
        on_response: OnResponse | None = None,
        user_agent: str = "grove",
    ) -> None:
        """Open nothing yet.

        Args:
            connection: address and credentials.
            in_flight: the most concurrent requests, watches apart.
            rate_limiter: limits requests per second; None for no limit but the server's own.
            timeout: seconds to wait for a response.
            tries: how often a request is sent while the server answers 429 or 503.
            on_response: called after every request with its method and the status of the response (0 for none).
            user_agent: the User-Agent header.
        """
        self.connection = connection
        self.allowed: Callable[[], bool] = lambda: True
        self._slots = asyncio.Semaphore(in_flight)
        self._rate_limiter = rate_limiter
        self._tries = tries
        self._seconds = timeout
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._on_response = on_response
        self._user_agent = user_agent
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        last_moment = aiohttp.TraceConfig()
        last_moment.on_request_headers_sent.append(self._about_to_send)
        last_moment.on_request_chunk_sent.append(self._about_to_send)  # others may have had their turn since
        self._session = aiohttp.ClientSession(
            f"{self.connection.server}/",  # it may be behind a path, which what is asked for is joined to
            connector=Connector(self.connection.tls),
            trust_env=False,  # to look at the environment costs two hops a request
            headers={"User-Agent": self._user_agent},
            trace_configs=[last_moment],
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        unless: Unless = lambda: None,
    ) -> Response:
        """Send a request and return the response; it is sent again after 429, and after 503 with ``Retry-After``.

        Args:
            method, path, query, body, content_type, accept: of the HTTP request.
            unless: called right before a write is sent; returns why it is withdrawn, None to send it (OP-074).

        Raises:
            Unreachable: there was no response, or writing is not allowed any more.
            Withdrawn: ``unless`` returned a reason.
        """
        data = body if body is None or isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        headers = {"Accept": accept, **({"Content-Type": content_type} if data is not None else {})}
        asking = _Asking(method, path.removeprefix("/"), query, data, headers, None if method == "GET" else unless)
        for left in range(self._tries, 0, -1):
            if self._rate_limiter is not None:
                await self._rate_limiter.take()
            async with self._slots:
                answer = await self._ask(asking)
            if self._on_response is not None:
                self._on_response(method, answer.status)
            if answer.retry_after is None or left == 1:
                return answer
            await asyncio.sleep(min(answer.retry_after, _LONGEST_WAIT))
        raise AssertionError("the last try returns")

    async def _ask(self, asking: "_Asking") -> Response:
        try:
            async with self._open.request(
                asking.method,
                asking.path,
                params=asking.query,
                data=asking.data,
                headers=await self._proof(asking.headers),
                timeout=self._timeout,
                server_hostname=self.connection.server_name or None,
                proxy=self.connection.proxy or None,
                trace_request_ctx=asking.unless,
            ) as response:
                pause = retry_after_in(response.status, response.headers.get("Retry-After"))
                return Response(response.status, await response.read(), pause)
        except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError) as fault:
            if isinstance(fault.__cause__, (Withdrawn, Unreachable)):  # what was said in the last moment
                raise fault.__cause__ from None
            if self._on_response is not None:
                self._on_response(asking.method, 0)
            raise Unreachable(_said(self.connection.server, fault)) from fault

    async def _about_to_send(self, _session: object, about: SimpleNamespace, _told: object) -> None:
        """Called with a connection at hand: nothing is awaited between here and the first byte of the request."""
        unless: Unless | None = about.trace_request_ctx
        if unless is None:
            return
        if not self.allowed():
            raise Unreachable("this process does not lead any more")
        words = unless()
        if words is not None:
            raise Withdrawn(words)

    async def lines(self, path: str, query: Mapping[str, str], accept: str = JSON) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a streaming response.

        Raises:
            Unreachable: the connection could not be made, was cut, or no whole line came for too long (OP-007).
            WatchRefused: the server refused the request.
        """
        patience = self._seconds * _SILENCE
        try:
            async with asyncio.timeout(patience):  # bytes that trickle and make no line would reset one of the socket
                response = await self._open.get(
                    path.removeprefix("/"),
                    params=query,
                    headers=await self._proof({"Accept": accept}),
                    timeout=aiohttp.ClientTimeout(total=None, connect=self._seconds),  # what a proxy says included
                    server_hostname=self.connection.server_name or None,
                    proxy=self.connection.proxy or None,
                )
            async with response:
                if self._on_response is not None:
                    self._on_response("GET", response.status)
                if response.status != OK:
                    async with asyncio.timeout(patience):
                        raise WatchRefused(Response(response.status, await response.read()))
                async for line in _lines_of(response.content, patience):
                    yield line
        except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError) as fault:
            raise Unreachable(_said(self.connection.server, fault)) from fault

    @property
    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the session was not entered")
        return self._session

    async def _proof(self, headers: dict[str, str]) -> dict[str, str]:
        async with asyncio.timeout(self._seconds):  # a plugin may never come back
            token = await self.connection.token()
        return headers if token is None else {**headers, "Authorization": f"Bearer {token}"}


class _Asking(NamedTuple):
    """One request; ``unless`` is None where nothing is written."""

    method: str
    path: str
    query: Mapping[str, str] | None
    data: bytes | None
    headers: dict[str, str]
    unless: Unless | None


class WatchRefused(Exception):
    """The response to a watch was no stream of events."""

    def __init__(self, answer: Response) -> None:
        """Keep the answer."""
        super().__init__(answer.message)
        self.answer = answer

    @property
    def is_lasting(self) -> bool:
        """Whether the same watch would be refused again; an overloaded server does not say so."""
        return self.answer.status != TOO_MANY and self.answer.status < SERVER_FAULT


async def _lines_of(content: aiohttp.StreamReader, patience: float) -> AsyncGenerator[bytes, None]:
    """Yield whole lines, at the pace of the reader. Raises TimeoutError if none arrives for long."""
    rest, clock = b"", asyncio.get_running_loop()
    while True:
        until, whole = clock.time() + patience, list[bytes]()
        while not whole:
            async with asyncio.timeout_at(until):
                chunk = await content.readany()
            if not chunk:
                return
            *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in whole:
            yield line


def _said(server: str, fault: BaseException) -> str:
    what = "no answer in time" if isinstance(fault, TimeoutError) else str(fault) or type(fault).__name__
    return f"{server}: {what}"
