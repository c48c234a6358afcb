"""One object by its name, followed: a list, a watch from the version of the list, and anew where that breaks."""

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
Project = Callable[[Mapping[str, Any]], T]
DELETED: Final = "DELETED"
_BOOKMARK: Final = "BOOKMARK"
_FAULT: Final = "ERROR"
_FIRST_PATIENCE: Final = 0.1
_LONGEST_PATIENCE: Final = 10.0
_LIFE: Final = (290.0, 580.0)  # seconds of a watch, so that not all begin anew at once


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """One line of a watch.

    Attributes:
        what: ``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``.
        version: of the store.
        found: the object, where there is one.
    """

    what: str
    version: str
    found: T | None = None


class MalformedEvent(Exception):
    """The object is not what it claims to be; its version is known all the same."""

    def __init__(self, version: str, fault: MalformedObject) -> None:
        """Keep both."""
        super().__init__(str(fault))
        self.version = version


def event_reader(project: Project[T]) -> Callable[[bytes], WatchEvent[T]]:
    """How a line is read: its JSON, and the object in it projected.

    Raises:
        Malformed: the object is not what it claims to be.
        Unreachable: it is no event (DC-133).
        WatchRefused: it is an ERROR (DC-134).
    """

    def read(line: bytes) -> WatchEvent[T]:
        what, raw = parse_watch_event(line)
        if what == _FAULT:
            raise watch_error(raw)
        version = str((raw.get("metadata") or {}).get("resourceVersion") or "")
        if what in {DELETED, _BOOKMARK}:
            return WatchEvent(what, version)
        try:
            return WatchEvent(what, version, project(raw))
        except MalformedObject as fault:
            raise MalformedEvent(version, fault) from fault

    return read


class ObjectWatch(Generic[T]):
    """Keeps somebody informed of one object."""

    def __init__(
        self,
        api: Api,
        kind: ApiKind,
        place: tuple[str, str],
        project: Project[T],
        heard: Callable[[int, T | None], None],
        *,
        told: Callable[[str], None] = lambda _words: None,
        bucket: RateLimiter | None = None,
        read: Callable[[bytes], WatchEvent[T]] | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            api: whom to ask.
            kind: of what.
            place: its namespace and name.
            project: of JSON, what is handed on. Raises MalformedObject.
            heard: is told the version and the object, None where it is not there.
            told: hears of every trouble, once.
            bucket: a list takes a token of it, a watch does not.
            read: reads a line of the watch in place of :func:`reading`.
        """
        self._api = api
        self._kind = kind
        self._path = kind.path(place[0])
        self._only = {"fieldSelector": f"metadata.name={place[1]}"}
        self._project = project
        self._heard = heard
        self._told = told
        self._bucket = bucket
        self._read = read or event_reader(project)
        self._patience = _FIRST_PATIENCE
        self._trouble = ""
        self._version = ""  # of the last event, or of the list; empty to list anew

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                self._version = self._version or await self._list()
                await self._watch()
            except (Unreachable, NoAccess) as fault:
                await self._wait(str(fault))
            except WatchRefused as fault:
                if fault.is_lasting:
                    self._version = ""
                await self._wait("" if fault.answer.status == GONE else str(fault))

    async def _list(self) -> str:
        """Everything there is of this name; the version to watch from."""
        if self._bucket is not None:
            await self._bucket.take()
        answer = await self._api.request("GET", self._path, query=self._only)
        if not answer.ok:
            raise WatchRefused(answer)
        raw = answer.json()
        if not is_list(raw, self._kind):
            raise Unreachable(f"what came is no list: {answer.message}")
        version: str = raw["metadata"]["resourceVersion"]
        items = raw["items"] or ()
        try:
            found = (
                self._project({"apiVersion": self._kind.api_version, "kind": self._kind.kind, **items[0]})
                if items
                else None
            )
        except MalformedObject as fault:
            self._say(f"it does not read: {fault}")
        else:
            self._tell(version, found)
        return version

    async def _watch(self) -> None:
        """Events from the last version on, until the server ends it."""
        seconds = str(int(random.uniform(*_LIFE)))  # noqa: S311 - no secret
        query = {
            **self._only,
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": seconds,
        }
        quiet = True
        async for line in self._api.lines(self._path, query):
            quiet = False
            try:
                event = self._read(line)
            except MalformedEvent as fault:
                self._version = fault.version or self._version
                self._say(f"it does not read: {fault}")
                continue
            self._version = event.version or self._version
            self._patience, self._trouble = _FIRST_PATIENCE, ""
            if event.what != _BOOKMARK:
                self._tell(self._version, event.found)
        if quiet:
            await self._wait("")

    def _tell(self, version: str, found: T | None) -> None:
        self._trouble = ""
        self._heard(int(version) if version.isdecimal() else 0, found)

    def _say(self, words: str) -> None:
        if words and words != self._trouble:
            self._trouble = words
            self._told(words)

    async def _wait(self, trouble: str) -> None:
        self._say(trouble)
        pause = self._patience * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        self._patience = min(self._patience * 2, _LONGEST_PATIENCE)
        await asyncio.sleep(pause)
