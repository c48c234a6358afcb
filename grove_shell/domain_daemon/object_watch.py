"""Watches one object by its name: a list, then a watch, and a new list when the watch breaks."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from grove_core.kernel.errors import MalformedObject
from grove_shell.client.api import Api, Unreachable, WatchRefused
from grove_shell.client.connection import NoAccess
from grove_shell.client.kinds import ApiKind
from grove_shell.client.rate_limiter import RateLimiter
from grove_shell.client.response import GONE
from grove_shell.client.response_check import is_list, parse_watch_event, watch_error

T = TypeVar("T")
Parse = Callable[[Mapping[str, Any]], T]
DELETED: Final = "DELETED"
_BOOKMARK: Final = "BOOKMARK"
_ERROR: Final = "ERROR"
_FIRST_BACKOFF_S: Final = 0.1
_MAX_BACKOFF_S: Final = 10.0
_WATCH_TIMEOUT_S: Final = (290.0, 580.0)  # random, so that not all watches restart at once


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """One event of a watch.

    Attributes:
        type: ``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``.
        version: the resourceVersion of the event.
        found: the parsed object; None for ``DELETED`` and ``BOOKMARK``.
    """

    type: str
    version: str
    found: T | None = None


class MalformedEvent(Exception):
    """The object of a watch event cannot be parsed; its version is known."""

    def __init__(self, version: str, fault: MalformedObject) -> None:
        """Keep the version of the event and the message of the fault."""
        super().__init__(str(fault))
        self.version = version


def event_reader(parse: Parse[T]) -> Callable[[bytes], WatchEvent[T]]:
    """Return a function that parses one line of a watch.

    The function raises:
        MalformedEvent: the object cannot be parsed.
        Unreachable: the line is no watch event (DC-132).
        WatchRefused: the event is an ERROR (DC-132).
    """

    def read(line: bytes) -> WatchEvent[T]:
        event_type, raw = parse_watch_event(line)
        if event_type == _ERROR:
            raise watch_error(raw)
        version = str((raw.get("metadata") or {}).get("resourceVersion") or "")
        if event_type in {DELETED, _BOOKMARK}:
            return WatchEvent(event_type, version)
        try:
            return WatchEvent(event_type, version, parse(raw))
        except MalformedObject as fault:
            raise MalformedEvent(version, fault) from fault

    return read


class ObjectWatch(Generic[T]):
    """Calls a function with every state of one object."""

    def __init__(
        self,
        api: Api,
        kind: ApiKind,
        key: tuple[str, str],
        parse: Parse[T],
        on_change: Callable[[int, T | None], None],
        *,
        report: Callable[[str], None] = lambda _message: None,
        limiter: RateLimiter | None = None,
        read: Callable[[bytes], WatchEvent[T]] | None = None,
    ) -> None:
        """Start without a list.

        Args:
            api: the API server.
            kind: of the object.
            key: namespace and name of the object.
            parse: of JSON; raises MalformedObject.
            on_change: called with the version and the parsed object; None if it does not exist.
            report: called once for each error.
            limiter: for lists; watches are not limited.
            read: parses a line of the watch, instead of :func:`event_reader`.
        """
        self._api = api
        self._kind = kind
        self._path = kind.path(key[0])
        self._selector = {"fieldSelector": f"metadata.name={key[1]}"}
        self._parse = parse
        self._on_change = on_change
        self._report = report
        self._limiter = limiter
        self._read = read or event_reader(parse)
        self._backoff = _FIRST_BACKOFF_S
        self._last_error = ""
        self._version = ""  # of the last event, or of the list; empty to list again

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                self._version = self._version or await self._list()
                await self._watch()
            except (Unreachable, NoAccess) as fault:
                await self._back_off(str(fault))
            except WatchRefused as fault:
                if fault.is_lasting:
                    self._version = ""
                await self._back_off("" if fault.response.status == GONE else str(fault))

    async def _list(self) -> str:
        """List the objects of this name; return the version to watch from."""
        if self._limiter is not None:
            await self._limiter.take()
        response = await self._api.request("GET", self._path, query=self._selector)
        if not response.ok:
            raise WatchRefused(response)
        raw = response.json()
        if not is_list(raw, self._kind):
            raise Unreachable(f"the response is no list: {response.message}")
        version: str = raw["metadata"]["resourceVersion"]
        items = raw["items"] or ()
        head = {"apiVersion": self._kind.api_version, "kind": self._kind.kind}
        try:
            found = self._parse({**head, **items[0]}) if items else None
        except MalformedObject as fault:
            self._report_once(f"malformed object: {fault}")
        else:
            self._notify(version, found)
        return version

    async def _watch(self) -> None:
        """Apply events since the last version, until the server ends the watch."""
        seconds = str(int(random.uniform(*_WATCH_TIMEOUT_S)))  # noqa: S311 - no secret
        query = {
            **self._selector,
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": seconds,
        }
        is_empty = True
        async for line in self._api.lines(self._path, query):
            is_empty = False
            try:
                event = self._read(line)
            except MalformedEvent as fault:
                self._version = fault.version or self._version
                self._report_once(f"malformed object: {fault}")
                continue
            self._version = event.version or self._version
            self._backoff, self._last_error = _FIRST_BACKOFF_S, ""
            if event.type != _BOOKMARK:
                self._notify(self._version, event.found)
        if is_empty:
            await self._back_off("")

    def _notify(self, version: str, found: T | None) -> None:
        self._last_error = ""
        self._on_change(int(version) if version.isdecimal() else 0, found)

    def _report_once(self, message: str) -> None:
        if message and message != self._last_error:
            self._last_error = message
            self._report(message)

    async def _back_off(self, error: str) -> None:
        """Report the error and wait with exponential backoff and jitter."""
        self._report_once(error)
        pause = self._backoff * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        self._backoff = min(self._backoff * 2, _MAX_BACKOFF_S)
        await asyncio.sleep(pause)
