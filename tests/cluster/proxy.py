"""A faulty way to the API server: answers are lost, watches are cut or fall silent, and it says "too many"."""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, unique
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from tests.cluster.plane import ControlPlane
from tests.cluster.programs import HOST

_BUSY: Final = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too many requests","code":429}'
_FAILED: Final = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcd is away","code":500}'
_PASSED_ON: Final = ("Accept", "Authorization", "Content-Type", "User-Agent")


@unique
class Fault(Enum):
    """What becomes of a request."""

    NONE = "it is answered"
    LOST = "it is carried out, and the answer is lost"
    BUSY = "429, after a second"
    FAILED = "500"
    CUT = "a watch is cut in the midst of an event"
    MUTE = "an event of a watch gets lost, and the watch stays open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, and when it came, in seconds of the monotonic clock."""

    method: str
    path: str
    query: str
    accept: str
    body: str
    at: float = field(default_factory=time.monotonic)

    @property
    def resource(self) -> str:
        """The plural of its kind, e.g. ``pods``; a part such as ``status`` after a slash."""
        inside = self.path.partition("/namespaces/")[2].split("/")[1:]
        return "/".join([*inside[:1], *inside[2:]])

    @property
    def is_watch(self) -> bool:
        return "watch=1" in self.query


Policy = Callable[[Asked], Fault]


def faultless(_asked: Asked) -> Fault:
    return Fault.NONE


class Proxy:
    """Listens for plain HTTP at ``url`` as long as a ``with`` block lasts.

    Attributes:
        policy: asked about every request, for a watch about every event; it may be changed at any time.
        port: where it listens; another one may listen there afterwards.
        asked: all requests with what became of them, and for a watch every event that met a fault.
    """

    def __init__(self, plane: ControlPlane, policy: Policy = faultless, *, port: int = 0) -> None:
        self.policy = policy
        self.asked: list[tuple[Asked, Fault]] = []
        self._address = urlsplit(plane.url).netloc
        self._context = ssl.create_default_context(cafile=str(plane.authority))
        self._open: set[socket.socket] = set()
        self._server = _Server((HOST, port), type("Handler", (_Handler,), {"proxy": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self.port = int(self._server.server_address[1])
        self.url = f"http://{HOST}:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        for each in list(self._open):
            hang_up(each)
        self._server.server_close()
        self._thread.join()

    def of(self, fault: Fault) -> list[Asked]:
        """The requests that met a fault."""
        return [asked for asked, met in self.asked if met is fault]

    def judge(self, asked: Asked) -> Fault:
        """What becomes of a request; it is written down."""
        fault = self.policy(asked)
        if fault is not Fault.NONE or not asked.is_watch:
            self.asked.append((asked, fault))
        return fault

    def upstream(self) -> http.client.HTTPSConnection:
        """A new connection to the server."""
        connection = http.client.HTTPSConnection(self._address, context=self._context)
        connection.connect()
        self._open.add(connection.sock)
        return connection

    def opened(self, connection: socket.socket) -> None:
        """Count a connection that opened."""
        self._open.add(connection)

    def closed(self, connection: socket.socket | None) -> None:
        """Count a connection that closed."""
        if connection is not None:
            self._open.discard(connection)


def hang_up(connection: socket.socket) -> None:
    """Wake the tasks that wait for it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections that break are what this is for."""


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client, and one to the server."""

    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.proxy.opened(self.connection)
        self._upstream = self.proxy.upstream()

    def finish(self) -> None:
        self.proxy.closed(self._upstream.sock)
        self.proxy.closed(self.connection)
        self._upstream.close()
        with suppress(OSError):
            super().finish()

    def do_GET(self) -> None:
        self._pass_on()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names of the base class

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        accept = self.headers.get("Accept", "")
        asked = Asked(method=self.command, path=path, query=query, accept=accept, body=body.decode())
        fault = Fault.NONE if asked.is_watch else self.proxy.judge(asked)
        if fault in {Fault.BUSY, Fault.FAILED}:
            busy = fault is Fault.BUSY
            self._answer(429 if busy else 500, _BUSY if busy else _FAILED, {"Retry-After": "1"} if busy else {})
            return
        headers = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
        self._upstream.request(self.command, self.path, body or None, headers)
        answer = self._upstream.getresponse()
        if fault is Fault.LOST:
            answer.read()
            self.close_connection = True
        elif asked.is_watch and answer.status == http.client.OK:
            self._stream(answer, asked)
        else:
            more = {name: answer.headers[name] for name in ("Content-Type", "Retry-After") if name in answer.headers}
            self._answer(answer.status, answer.read(), more)

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answer: http.client.HTTPResponse, asked: Asked) -> None:
        self.close_connection = True
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while line := answer.readline():
            match self.proxy.judge(asked):
                case Fault.CUT:
                    self._chunk(line[: len(line) // 2])
                    return
                case Fault.MUTE:
                    pass
                case _:
                    self._chunk(line)
        self._chunk(b"")

    def _chunk(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """The requests are written down elsewhere."""
