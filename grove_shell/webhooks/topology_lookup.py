"""Reads one topology from the API server before a stale cache would refuse a set for it (TP-090)."""

import asyncio
from collections.abc import Mapping
from typing import Final

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, ClusterTopology, cluster_topology_of, topology_ref
from grove_core.resources.name_syntax import is_dns_subdomain
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.kinds import KINDS
from grove_shell.client.response import NOT_FOUND
from grove_shell.client.response_check import shows_object

_TIMEOUT: Final = 3.0  # s; an API server waits 10 s for a review

TopologiesByName = Mapping[str, ClusterTopology]


class TopologyLookup:
    """Reads topologies from the API server."""

    def __init__(self, api: Api, timeout: float = _TIMEOUT) -> None:
        """Send no request yet; ``timeout`` is in seconds, for one topology."""
        self._api = api
        self._timeout = timeout

    async def with_current(self, known: TopologiesByName, name: str) -> TopologiesByName | None:
        """Return the known topologies with one of them as the API server has it now; None if it cannot be read.

        A name that no object can have is not requested, since it would become part of a path.
        """
        if not is_dns_subdomain(name):
            return known
        try:
            async with asyncio.timeout(self._timeout):
                found = await self._find(name)
        except (Unreachable, TimeoutError, _Unreadable):
            return None
        others = {other: one for other, one in known.items() if other != name}
        return others if found is None else {**others, name: found}

    async def _find(self, name: str) -> ClusterTopology | None:
        """Return the effective topology of a name (TP-004), or None. Raises Unreachable, _Unreadable."""
        for kind in TOPOLOGY_KINDS:
            response = await self._api.request("GET", KINDS[kind].path(name=name))
            is_stored = shows_object(response, topology_ref(name, kind))
            if not is_stored and response.status != NOT_FOUND:
                raise _Unreadable
            if is_stored:
                try:
                    return cluster_topology_of({**response.json(), "kind": kind})
                except MalformedObject as fault:
                    raise _Unreadable from fault  # it is the effective one all the same
        return None


class _Unreadable(Exception):
    """The API server does not return the topology, or it cannot be parsed."""
