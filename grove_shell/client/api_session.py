"""Requests to an API server: a limit on concurrent ones, retries on 429 and 503, and one error for no response."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final, Self

import aiohttp
import msgspec

from grove_shell.client.api_response import OK, SERVER_FAULT, TOO_MANY, ApiResponse, retry_after_seconds
from grove_shell.client.connection_settings import ConnectionSettings
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.socket_closing_connector import SocketClosingConnector
from grove_shell.exit_codes import CommandFailed

JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
_TRIES: Final = 5
_LONGEST_WAIT: Final = 60.0
_TIMEOUT: Final = 30.0
_IN_FLIGHT: Final = 32
_WATCH_TIMEOUTS: Final = 4  # times the timeout of a request: a server sends a bookmark every minute


class NoServerResponse(CommandFailed):
    """There was no response: refused, cut, or too late. Whether the request was carried out is not known."""


class RequestWithdrawn(Exception):
    """The request was not sent: it was withdrawn while it waited for its turn."""


OnResponse = Callable[[str, int, float | None], None]
"""Gets the method, the status of the response (0 for none), and the seconds that it took; None for a watch."""
Unless = Callable[[], str | None]
"""Why a request is not to be sent any more; None where it is."""


class ApiSession:
    """A session with one API server; to be used as an asynchronous context manager.

    Attributes:
        allowed: called right before every write is sent; False drops the write (OP-030).
    """

    def __init__(
        self,
        connection: ConnectionSettings,
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
            in_flight: the most concurrent requests, watches apart.
            rate_limiter: limits requests per second; None for no limit but the server's own.
            timeout: seconds to wait for a response.
            tries: how often a request is sent while the server answers 429 or 503.
            on_response: called after every request.
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
        before_sending = aiohttp.TraceConfig()
        before_sending.on_request_headers_sent.append(self._about_to_send)
        before_sending.on_request_chunk_sent.append(
            self._about_to_send
        )  # other tasks may have run since the headers were sent
        self._session = aiohttp.ClientSession(
            f"{self.connection.server}/",  # it may have a path, to which that of a request is appended
            connector=SocketClosingConnector(self.connection.tls),
            trust_env=False,  # reading the environment costs two turns of the event loop for each request
            headers={"User-Agent": self._user_agent},
            trace_configs=[before_sending],
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
    ) -> ApiResponse:
        """Send a request and return the response; it is sent again after 429, and after 503 with ``Retry-After``.

        Args:
            unless: called right before a write is sent; returns why it is withdrawn, None to send it (OP-074).

        Raises:
            NoServerResponse: there was no response, or writing is not allowed any more.
            RequestWithdrawn: ``unless`` returned a reason.
        """
        data = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        headers = {"Accept": accept, **({"Content-Type": content_type} if data is not None else {})}
        for left in range(self._tries, 0, -1):
            if self._rate_limiter is not None:
                await self._rate_limiter.take_token()
            async with self._slots:
                response = await self._send(method, path, query, data, headers, None if method == "GET" else unless)
            if response.retry_after is None or left == 1:
                return response
            await asyncio.sleep(min(response.retry_after, _LONGEST_WAIT))
        raise AssertionError("the last try returns")

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        data: bytes | None,
        headers: dict[str, str],
        unless: Unless | None,
    ) -> ApiResponse:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with self._open_session.request(
                method,
                path.removeprefix("/"),
                params=query,
                data=data,
                headers=await self._with_token(headers),
                timeout=self._timeout,
                server_hostname=self.connection.server_name or None,
                proxy=self.connection.proxy or None,
                trace_request_ctx=unless,
            ) as response:
                pause = retry_after_seconds(response.status, response.headers.get("Retry-After"))
                found = ApiResponse(response.status, await response.read(), pause)
        except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError) as fault:
            if isinstance(fault.__cause__, (RequestWithdrawn, NoServerResponse)):  # raised by _about_to_send
                raise fault.__cause__ from None
            if self._on_response is not None:
                self._on_response(method, 0, clock() - began)
            raise NoServerResponse(_error_text(self.connection.server, fault)) from fault
        if self._on_response is not None:
            self._on_response(method, found.status, clock() - began)
        return found

    async def _about_to_send(self, _session: object, context: SimpleNamespace, _params: object) -> None:
        """Check a request with its connection open: nothing is awaited between this and the first byte."""
        unless: Unless | None = context.trace_request_ctx
        if unless is None:
            return
        if not self.allowed():
            raise NoServerResponse("this process does not lead any more")
        words = unless()
        if words is not None:
            raise RequestWithdrawn(words)

    async def stream_lines(
        self, path: str, query: Mapping[str, str], accept: str = JSON
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a streaming response.

        Raises:
            NoServerResponse: the connection could not be made, was cut, or no whole line came for too long (OP-080).
            WatchRefused: the server refused the request.
        """
        seconds = self._seconds * _WATCH_TIMEOUTS
        try:
            async with asyncio.timeout(seconds):  # a timeout of the socket would begin again with every byte
                response = await self._open_session.get(
                    path.removeprefix("/"),
                    params=query,
                    headers=await self._with_token({"Accept": accept}),
                    timeout=aiohttp.ClientTimeout(
                        total=None, connect=self._seconds
                    ),  # the response of a proxy included
                    server_hostname=self.connection.server_name or None,
                    proxy=self.connection.proxy or None,
                )
            async with response:
                if self._on_response is not None:
                    self._on_response("GET", response.status, None)
                if response.status != OK:
                    async with asyncio.timeout(seconds):
                        raise WatchRefused(ApiResponse(response.status, await response.read()))
                async for line in _lines_of(response.content, seconds):
                    yield line
        except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError) as fault:
            raise NoServerResponse(_error_text(self.connection.server, fault)) from fault

    @property
    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the session was not entered")
        return self._session

    async def _with_token(self, headers: dict[str, str]) -> dict[str, str]:
        async with asyncio.timeout(self._seconds):  # a credential plugin may hang
            token = await self.connection.token()
        return headers if token is None else {**headers, "Authorization": f"Bearer {token}"}


class WatchRefused(Exception):
    """The response to a watch is an error."""

    def __init__(self, response: ApiResponse) -> None:
        """Keep the response."""
        super().__init__(response.error_message)
        self.response = response

    @property
    def is_permanent(self) -> bool:
        """Whether the same watch would be refused again; not so for 429 and 5xx."""
        return self.response.status != TOO_MANY and self.response.status < SERVER_FAULT


async def _lines_of(content: aiohttp.StreamReader, seconds: float) -> AsyncGenerator[bytes, None]:
    """Yield whole lines. Raises TimeoutError if none arrives for so many seconds."""
    rest, clock = b"", asyncio.get_running_loop()
    while True:
        until, whole = clock.time() + seconds, list[bytes]()
        while not whole:
            async with asyncio.timeout_at(until):
                chunk = await content.readany()
            if not chunk:
                return
            *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        for line in whole:
            yield line


def _error_text(server: str, fault: BaseException) -> str:
    what = "no answer in time" if isinstance(fault, TimeoutError) else str(fault) or type(fault).__name__
    return f"{server}: {what}"
