"""Keeps a cache in step with all objects of one kind: a list, then a watch, and a new list where the watch breaks."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final, NamedTuple, Protocol

from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.object_metadata import metadata_in, resource_version_number
from grove_shell.client.api_kinds import ApiKind
from grove_shell.client.api_response import FORBIDDEN, GONE, NOT_FOUND
from grove_shell.client.api_session import ApiSession, NoServerResponse, WatchRefused
from grove_shell.client.paged_lists import (
    KindNotListed,
    accept_header_for_kind,
    list_all_objects_encoded,
    list_all_objects_of_kind,
    list_selector_query,
)
from grove_shell.client.proxy_response_check import (
    CHANGES,
    error_in_watch_event,
    parse_watch_event,
    parse_watch_event_encoded,
)
from grove_shell.client.rate_limiter import RateLimiter

_FIRST_BACKOFF: Final = 0.2
_LONGEST_BACKOFF: Final = 30.0
_WATCH_SECONDS: Final = (290.0, 580.0)  # seconds; random, so that not all watches begin at once
_PAUSE_WHILE_UNLISTED: Final = 60.0  # where the kind is forbidden or not served: it takes a change by a user
_RELIST_AFTER: Final = 300.0  # a server keeps old versions as long, so an older watch would be refused
_YIELD_EVERY: Final = 200
_ROLLED_BACK: Final = "the server is at an older state than it showed before: the cache is replaced"
_EXPECTED: Final = frozenset(
    {GONE, NOT_FOUND}
)  # the version is too old, or the kind is not served any more, which the next list shows


class ReflectorCache(Protocol):
    """What a reflector updates; see :class:`StoresByKind`."""

    def newest_resource_version(self, kind: str) -> int:
        """Return the newest version of a kind, from responses to writes too; 0 without one."""

    def replace_all_of_kind(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list as of a version; without a version it overrules everything known."""

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed object."""

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion, given the last state of the object."""

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """Forget the kind: listing it is forbidden, or it is not served."""


class ObjectDecoding(NamedTuple):
    """How much of each object is decoded.

    Attributes:
        parse_event: returns type and object of one line of a watch; raises NoServerResponse.
        list_all: returns the objects of a kind and the version of the list, as :func:`list_all_objects_of_kind` does.
    """

    parse_event: Callable[[bytes], tuple[str, Mapping[str, Any]]]
    list_all: Callable[[ApiSession, ApiKind, str], Awaitable[tuple[Sequence[Mapping[str, Any]], str]]]


WHOLE: Final = ObjectDecoding(parse_watch_event, list_all_objects_of_kind)
ENCODED: Final = ObjectDecoding(parse_watch_event_encoded, list_all_objects_encoded)
"""Objects as JSON text, for a cache that reads few of their fields."""


class Reflector:
    """Lists and watches one kind into a cache.

    Attributes:
        synced: set from the first list on, or when the kind cannot be listed.
        unwatched: why the kind is listed again and again: watching it is forbidden; empty where it is not.
    """

    def __init__(
        self,
        api: ApiSession,
        kind: ApiKind,
        cache: ReflectorCache,
        *,
        namespace: str = "",
        report: Callable[[str, str], None] = lambda _kind, _words: None,
        longest_pause: float = inf,
        limiter: RateLimiter | None = None,
        decoding: ObjectDecoding = WHOLE,
    ) -> None:
        """Start without a list.

        Args:
            namespace: of the objects; empty for all.
            report: called once for each error, with the kind and what is wrong.
            longest_pause: seconds between two attempts, at the most.
            limiter: of lists; watches are not limited.
            decoding: how objects of lists and watches are decoded.
        """
        self.kind = kind
        self.synced = asyncio.Event()
        self.unwatched = ""
        self._api = api
        self._cache = cache
        self._namespace = namespace
        self._report = report
        self._longest_pause = longest_pause
        self._limiter = limiter
        self._decoding = decoding
        self._backoff = _FIRST_BACKOFF
        self._error = ""  # the last reported one; empty while lists and watches work
        self._unlisted = ""  # why the kind is not listed, as the cache has it
        self._version = ""  # of the last event, or of the list; empty to list anew
        self._newest = 0  # of any list or event
        self._updated_at = 0.0  # when that arrived

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                if time.monotonic() - self._updated_at > _RELIST_AFTER:  # OP-080
                    self._version = ""
                self._version = self._version or await self._list()
                if not await self._watch():
                    await self._wait("")
            except KindNotListed as fault:
                self._version = ""
                if not fault.is_transient:
                    self._report_unlisted(fault)
                error = "" if fault.is_absent and self.kind.optional else str(fault)
                await self._wait(error, at_least=_PAUSE_WHILE_UNLISTED if fault.is_forbidden or fault.is_absent else 0)
            except NoServerResponse as fault:
                await self._wait(str(fault))
            except WatchRefused as fault:
                if fault.is_permanent:  # OP-080
                    self._version = ""
                status = fault.response.status
                self.unwatched = str(fault) if status == FORBIDDEN else ""
                at_least = _PAUSE_WHILE_UNLISTED if self.unwatched else 0
                await self._wait("" if status in _EXPECTED else str(fault), at_least=at_least)

    async def _list(self) -> str:
        newest = max(self._newest, self._cache.newest_resource_version(self.kind.kind))
        if self._limiter is not None:
            await self._limiter.take_token()
        found, version = await self._decoding.list_all(self._api, self.kind, self._namespace)
        was_rolled_back = (
            0 < resource_version_number(version) < newest
        )  # a list shows everything that was shown before it was requested
        if was_rolled_back:
            self._report(self.kind.kind, _ROLLED_BACK)
        self._newest = resource_version_number(version)
        self._cache.replace_all_of_kind(self.kind.kind, found, "" if was_rolled_back else version)
        if self._error == self._unlisted:  # that of a watch stays until a watch works
            self._error = ""
        self._unlisted = ""
        self._updated_at = time.monotonic()
        self.synced.set()
        return version

    def _report_unlisted(self, fault: KindNotListed) -> None:
        """Report a failed list once: every report requeues all sets (OP-020)."""
        if str(fault) != self._unlisted:
            self._unlisted = str(fault)
            if fault.is_absent and self.kind.optional:  # OP-034
                self._cache.replace_all_of_kind(self.kind.kind, (), "")
            else:
                self._cache.mark_kind_unlisted(self.kind.kind, str(fault))
        self.synced.set()

    async def _watch(self) -> bool:
        """Apply events since the last seen version, until the server or the connection ends the watch (OP-080).

        Returns:
            Whether an event arrived, or the watch stood open for a while (OP-080).

        Raises:
            NoServerResponse: the connection failed.
            WatchRefused: the server refused the watch, or ended it with an error.
        """
        path = self.kind.url_path(self._namespace)
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(int(random.uniform(*_WATCH_SECONDS))),  # noqa: S311 - no secret
            **list_selector_query(self.kind),
        }
        seen, since, begun, has_news = 0, self._version, time.monotonic(), False
        async for line in self._api.stream_lines(path, query, accept_header_for_kind(self.kind, a_list=False)):
            event_type, raw = self._decoding.parse_event(line)
            if event_type == "ERROR":
                if not seen:  # the same watch would end with it again
                    self._version = ""
                raise error_in_watch_event(raw)
            version = _version_of(raw) or self._version
            if (
                0 < resource_version_number(version) < resource_version_number(self._version)
            ):  # OP-080: events of a watch are in order
                self._version = ""
                return False
            self._error = self.unwatched = ""
            self._updated_at = time.monotonic()
            if version != since or self._updated_at - begun > _LONGEST_BACKOFF:
                has_news, self._backoff = True, _FIRST_BACKOFF
            if event_type == "DELETED":
                self._cache.drop(self.kind.kind, self._with_own_kind(raw))
            elif event_type in CHANGES:
                self._cache.put(self.kind.kind, self._with_own_kind(raw))
            self._version = version
            self._newest = max(self._newest, resource_version_number(version))
            seen += 1
            if seen % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        return has_news

    def _with_own_kind(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an item with its own kind: metadata alone is of kind PartialObjectMetadata."""
        return {**raw, "kind": self.kind.kind, "apiVersion": self.kind.api_version} if self.kind.metadata_only else raw

    async def _wait(self, error: str, *, at_least: float = 0) -> None:
        """Wait with exponential backoff and jitter."""
        if error and error != self._error:
            self._error = error
            self._report(self.kind.kind, error)
        pause = min(max(self._backoff, at_least), self._longest_pause) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        self._backoff = min(self._backoff * 2, _LONGEST_BACKOFF)
        await asyncio.sleep(pause)


def _version_of(raw: Mapping[str, Any]) -> str:
    if isinstance(raw, EncodedObject):
        return raw.metadata.resource_version
    return metadata_in(raw).resource_version
