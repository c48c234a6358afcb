"""Keeps a store in step with all objects of one kind: a list, then a watch, and a new list where the watch breaks."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from grove_shell.client.api import Api, Unreachable, WatchRefused
from grove_shell.client.kinds import ApiKind
from grove_shell.client.lists import NotListed, accept_header, list_all, selector_query
from grove_shell.client.response import FORBIDDEN, GONE, NOT_FOUND
from grove_shell.client.response_check import CHANGES, parse_watch_event, watch_error
from grove_shell.client.version_numbers import version_number

_FIRST_PATIENCE: Final = 0.2
_LONGEST_PATIENCE: Final = 30.0
_ROUND_ABOUT: Final = (290.0, 580.0)  # seconds a watch lives, so that not all begin anew at once
_LONG_PATIENCE: Final = 60.0  # for what is forbidden or not served: somebody has to change something first
_LONGEST_SILENCE: Final = 300.0  # as long as a server keeps old versions: what is older is listed anew anyway
_YIELD_EVERY: Final = 200
_WENT_BACK: Final = "the server is at an older state than it told of before: what was known is forgotten"
_NO_TROUBLE: Final = frozenset({GONE, NOT_FOUND})  # too old, or the kind is not served any more, as the list will tell


class Store(Protocol):
    """What a reflector updates."""

    def replace(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Apply a complete list as of a version."""
        ...

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed object."""
        ...

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a deletion, given the last state of the object."""
        ...

    def mark_unlisted(self, kind: str, why: str) -> None:
        """Forget the kind: listing it is forbidden, or it is not served."""
        ...


class Reflector:
    """Lists and watches one kind into a store."""

    def __init__(
        self,
        api: Api,
        kind: ApiKind,
        store: Store,
        *,
        namespace: str = "",
        report: Callable[[str, str], None] = lambda _kind, _words: None,
        newest: Callable[[str], int] = lambda _kind: 0,
    ) -> None:
        """Start without a list.

        Args:
            api: the API server.
            kind: of the objects.
            store: updated by lists and events.
            namespace: of the objects; empty for all.
            report: called once for each error, with the kind and what is wrong.
            newest: returns the newest version of a kind in the store, from responses to writes too.
        """
        self.kind = kind
        self.synced = asyncio.Event()
        self._api = api
        self._store = store
        self._namespace = namespace
        self._report = report
        self._told_otherwise = newest
        self._patience = _FIRST_PATIENCE
        self._trouble = ""  # why it does not get on; empty while it does
        self._unseen = ""  # why nothing is seen, as the shelf was told
        self._version = ""  # of the last event, or of the list; empty to list anew
        self._newest = 0  # of any list or event
        self._heard = 0.0  # when that was

    async def run(self) -> None:
        """List and watch until cancelled."""
        while True:
            try:
                if time.monotonic() - self._heard > _LONGEST_SILENCE:  # OP-081
                    self._version = ""
                self._version = self._version or await self._list()
                if not await self._watch():
                    await self._wait("")
            except NotListed as fault:
                self._version = ""
                if not fault.is_transient:
                    self._cannot_see(fault)
                trouble = "" if fault.is_absent and self.kind.optional else str(fault)
                await self._wait(trouble, at_least=_LONG_PATIENCE if fault.is_forbidden or fault.is_absent else 0)
            except Unreachable as fault:
                await self._wait(str(fault))
            except WatchRefused as fault:
                if fault.is_lasting:  # OP-080
                    self._version = ""
                status = fault.answer.status
                at_least = _LONG_PATIENCE if status == FORBIDDEN else 0
                await self._wait("" if status in _NO_TROUBLE else str(fault), at_least=at_least)

    async def _list(self) -> str:
        newest = max(self._newest, self._told_otherwise(self.kind.kind))
        found, version = await list_all(self._api, self.kind, self._namespace)
        went_back = 0 < version_number(version) < newest  # a list shows all that was told before it was asked for
        if went_back:
            self._report(self.kind.kind, _WENT_BACK)
        self._newest = version_number(version)
        self._store.replace(self.kind.kind, found, "" if went_back else version)
        if self._trouble == self._unseen:  # that of a watch is over when something comes on one
            self._trouble = ""
        self._unseen = ""
        self._heard = time.monotonic()
        self.synced.set()
        return version

    def _cannot_see(self, fault: NotListed) -> None:
        """Report a failed list once: every report requeues all sets (OP-021)."""
        if str(fault) != self._unseen:
            self._unseen = str(fault)
            if fault.is_absent and self.kind.optional:  # OP-060
                self._store.replace(self.kind.kind, (), "")
            else:
                self._store.mark_unlisted(self.kind.kind, str(fault))
        self.synced.set()

    async def _watch(self) -> bool:
        """Apply events since the last seen version, until the server or the connection ends the watch (OP-070).

        Returns:
            Whether an event arrived, or the watch stood open for a while (OP-009).

        Raises:
            Unreachable: the connection failed.
            WatchRefused: the server refused the watch, or ended it with an error.
        """
        path = self.kind.path(self._namespace)
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(int(random.uniform(*_ROUND_ABOUT))),  # noqa: S311 - no secret
            **selector_query(self.kind),
        }
        seen, since, begun, is_of_use = 0, self._version, time.monotonic(), False
        async for line in self._api.lines(path, query, accept_header(self.kind, a_list=False)):
            what, raw = parse_watch_event(line)
            if what == "ERROR":
                if not seen:  # it would come again
                    self._version = ""
                raise watch_error(raw)
            version = str(raw["metadata"].get("resourceVersion") or self._version)
            if 0 < version_number(version) < version_number(self._version):  # OP-084: what comes on a watch is in order
                self._version = ""
                return False
            self._trouble = ""
            self._heard = time.monotonic()
            if version != since or self._heard - begun > _LONGEST_PATIENCE:
                is_of_use, self._patience = True, _FIRST_PATIENCE
            if what == "DELETED":
                self._store.drop(self.kind.kind, self._whole(raw))
            elif what in CHANGES:
                self._store.put(self.kind.kind, self._whole(raw))
            self._version = version
            self._newest = max(self._newest, version_number(version))
            seen += 1
            if seen % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        return is_of_use

    def _whole(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return an item with its own kind: metadata alone is of kind PartialObjectMetadata."""
        return {**raw, "kind": self.kind.kind, "apiVersion": self.kind.api_version} if self.kind.metadata_only else raw

    async def _wait(self, trouble: str, *, at_least: float = 0) -> None:
        """Wait with exponential backoff and jitter."""
        if trouble and trouble != self._trouble:
            self._trouble = trouble
            self._report(self.kind.kind, trouble)
        pause = max(self._patience, at_least) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        self._patience = min(self._patience * 2, _LONGEST_PATIENCE)
        await asyncio.sleep(pause)
