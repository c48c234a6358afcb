"""Follows what a command reads, from a thread of its own: files by their state, a cluster by watches (CL-098)."""

import asyncio
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from time import monotonic, sleep
from typing import Any, Final

from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.file_states import LOOK_EVERY, FileStates, file_states
from grove_shell.actions.live_cluster_lists import EVENTS
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.client.reflector import Reflector
from grove_shell.exit_codes import CommandFailed

_SETTLED_AFTER: Final = 0.5  # s without a change
_LONGEST_WAIT: Final = 5.0  # s, for changes that go on
_LONGEST_PAUSE: Final = 5.0  # s, between two attempts to reach the server


class InputChanges:
    """Whether the input has changed since it was read; changes are noted by another thread."""

    def __init__(self) -> None:
        self.troubles: dict[str, None] = {}
        """What the follower could not reach, each once; in order."""
        self.failure: Exception | None = None
        """Why nothing is followed any more; None while it is."""
        self._changed = threading.Event()
        self._at = 0.0

    def note(self) -> None:
        """Note a change."""
        self._at = monotonic()
        self._changed.set()

    def fail(self, failure: Exception) -> None:
        """Note that following has ended."""
        self.failure = failure
        self.note()

    def wait(self, seconds: float) -> bool:
        """Wait for a change, and then until no more follow for a moment; return whether there was one."""
        if not self._changed.wait(seconds):
            return False
        until = monotonic() + _LONGEST_WAIT
        while monotonic() < min(self._at + _SETTLED_AFTER, until):
            sleep(0.05)
        self._changed.clear()
        return True


def follow_files(names: tuple[str, ...], changes: InputChanges, known: FileStates) -> None:
    """Start to note changes of files and of files in folders, those that appear or vanish too.

    Args:
        known: their states when they were read.
    """

    def look() -> None:
        seen = known
        while True:
            found = file_states(names)
            if found != seen:
                seen = found
                changes.note()
            sleep(LOOK_EVERY)

    threading.Thread(target=look, name="follow files", daemon=True).start()


def follow_cluster(live: LiveClusterOptions, changes: InputChanges) -> None:
    """Start to note changes of the objects that a plan reads; return when every kind was listed once, or failed."""
    listed = threading.Event()

    def run() -> None:
        try:
            asyncio.run(_watch_all_kinds(live, changes, listed))
        except (CommandFailed, OSError) as fault:
            changes.fail(fault)
        finally:
            listed.set()

    threading.Thread(target=run, name="follow cluster", daemon=True).start()
    listed.wait(_LONGEST_WAIT)


async def _watch_all_kinds(live: LiveClusterOptions, changes: InputChanges, listed: threading.Event) -> None:
    connection = await read_connection_settings(live.kubeconfig, live.context)
    namespace = "" if live.everywhere else live.namespace or connection.namespace

    def report(kind: str, words: str) -> None:
        changes.troubles[f"{kind}: {words}"] = None

    async with ApiSession(connection) as api, asyncio.TaskGroup() as group:
        reflectors = [
            Reflector(
                api,
                replace(kind, metadata_only=True),  # a change of anything changes the version
                _ChangeSignal(changes),
                namespace="" if kind.clustered else namespace,
                report=report,
                longest_pause=_LONGEST_PAUSE,
            )
            for kind in (*KINDS.values(), EVENTS)
        ]
        for reflector in reflectors:
            group.create_task(reflector.run())
        for reflector in reflectors:
            with suppress(TimeoutError):
                await asyncio.wait_for(reflector.synced.wait(), _LONGEST_WAIT)
        listed.set()


class _ChangeSignal:
    """Notes that objects of a kind have changed, and keeps none."""

    def __init__(self, changes: InputChanges) -> None:
        self._changes = changes

    def newest_resource_version(self, kind: str) -> int:  # noqa: ARG002 - of the protocol
        return 0

    def replace_all_of_kind(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:  # noqa: ARG002 - of the protocol
        self._changes.note()

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:  # noqa: ARG002 - of the protocol
        self._changes.note()

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:  # noqa: ARG002 - of the protocol
        self._changes.note()

    def mark_kind_unlisted(self, kind: str, why: str) -> None:  # noqa: ARG002 - of the protocol
        self._changes.note()
