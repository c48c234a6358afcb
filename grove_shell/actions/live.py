"""Asking a cluster for everything that concerns Grove, for one plan or one capture."""

import asyncio
from collections.abc import Callable
from typing import Any

from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.actions.source import Live, NoCluster
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connection import Connection, NoAccess, connect
from grove_shell.client.greeting import advice_on
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET, ApiKind
from grove_shell.client.lists import NotListed, pages_of
from grove_shell.client.offers import offered
from grove_shell.reading.collected import Collected
from grove_shell.views.progress import counting


def collect(live: Live) -> Collected:
    """Ask for every kind side by side.

    Raises:
        NoCluster: there is no way to it, it does not answer, or it does not know what a PodCliqueSet is.
    """
    try:
        with counting("asking", "objects") as count:
            return asyncio.run(_collect(live, count or (lambda _item: None)))
    except NoAccess as fault:
        raise NoCluster(str(fault)) from fault
    except Unreachable as fault:
        raise NoCluster(advice_on(fault)) from fault


async def _collect(live: Live, count: Callable[[Any], None]) -> Collected:
    connection = await connect(live.kubeconfig, live.context)
    namespace = EVERYWHERE if live.everywhere else live.namespace or connection.namespace
    async with Api(connection) as api:
        kinds = [kind for kind in KINDS.values() if kind.kind != POD_CLIQUE_SET]
        try:
            sets = await _listed(api, KINDS[POD_CLIQUE_SET], namespace, count)
        except NotListed as fault:
            raise NoCluster(f"{connection.server}: {advice_on(fault)}") from fault
        served = await offered(api)
        lists = await asyncio.gather(*(_listed(api, kind, namespace, count) for kind in kinds), return_exceptions=True)
    items, unseen, complete = list(sets), dict[Gap, str](), {(POD_CLIQUE_SET, namespace)}
    for kind, found in zip(kinds, lists, strict=True):
        if isinstance(found, NotListed) and found.absent and kind.optional:
            complete.add((kind.kind, namespace))
        elif isinstance(found, NotListed):
            unseen[kind.kind, namespace] = str(found)
        elif isinstance(found, BaseException):
            raise found
        else:
            items += found
            complete.add((kind.kind, namespace))
    return Collected(
        origin=_origin(connection), items=tuple(items), complete=frozenset(complete), served=served, unseen=unseen
    )


async def _listed(api: Api, kind: ApiKind, namespace: str, count: Callable[[Any], None]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async for page in pages_of(api, kind, namespace):
        if page.first:
            found.clear()
        found.extend(page.items)
        for item in page.items:
            count(item)
    return found


def _origin(connection: Connection) -> str:
    return connection.server
