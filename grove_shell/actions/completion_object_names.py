"""Names of objects, for shell completion: from files or a cluster, within seconds, and without errors."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from grove_core.resources.object_metadata import metadata_in
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.client.paged_lists import KindNotListed, list_all_objects_of_kind
from grove_shell.exit_codes import CommandFailed
from grove_shell.reading.input_sources import STDIN, input_items_in_path, standard_input_bytes

LONGEST_S: Final = 3.0
"""As long as a user waits for a completion; what was read until then is offered."""


class ObjectName(NamedTuple):
    """The kind, namespace and name of an object; the namespace is empty for one without it."""

    kind: str
    namespace: str
    name: str


def object_names_in_files(
    filenames: Sequence[str], kinds: Collection[str], clock: Callable[[], float] = time.monotonic
) -> list[ObjectName]:
    """Return the objects of some kinds that files or folders hold, in their order; standard input is not read.

    Args:
        filenames: as given with ``-f``.
        kinds: of the objects.
        clock: a time in seconds; reading stops `LONGEST_S` after it began.
    """
    end, found = clock() + LONGEST_S, dict[ObjectName, None]()
    for one in _named_items(filenames):
        if clock() > end:
            break
        if one.kind in kinds:
            found[one] = None
    return list(found)


def _named_items(filenames: Sequence[str]) -> Iterator[ObjectName]:
    for path in filenames:
        if path == STDIN:
            continue
        for item in input_items_in_path(path, [], standard_input_bytes()):
            kind, meta = item.value.get("kind"), metadata_in(item.value)
            if isinstance(kind, str) and meta.name:
                yield ObjectName(kind, meta.namespace, meta.name)


def names_in_cluster(live: LiveClusterOptions, kinds: Collection[str]) -> list[ObjectName]:
    """Return the objects of some kinds that a cluster has; none if it does not respond within `LONGEST_S`."""
    try:
        return asyncio.run(_listed_names(live, kinds))
    except (CommandFailed, NoServerResponse, KindNotListed, OSError):
        return []


async def _listed_names(live: LiveClusterOptions, kinds: Collection[str]) -> list[ObjectName]:
    async with asyncio.timeout(LONGEST_S):
        connection = await read_connection_settings(live.kubeconfig, live.context)
        namespace = "" if live.everywhere else live.namespace or connection.namespace
        async with ApiSession(connection) as api:
            lists = [await list_all_objects_of_kind(api, KINDS[kind], namespace, from_cache=True) for kind in kinds]
    found = [(kind, metadata_in(item)) for kind, (items, _) in zip(kinds, lists, strict=True) for item in items]
    return [ObjectName(kind, meta.namespace, meta.name) for kind, meta in found]
