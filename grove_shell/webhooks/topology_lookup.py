"""A topology asked for by its name: where a copy that lags would be the only reason to refuse a set (TP-091)."""

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

_PATIENCE: Final = 3.0  # s; an API server waits 10 s for a review

Known = Mapping[str, ClusterTopology]


class TopologyLookup:
    """Who asks an API server for topologies."""

    def __init__(self, api: Api, patience: float = _PATIENCE) -> None:
        """Ask nothing yet; ``patience``: how long to wait for an answer, in seconds."""
        self._api = api
        self._patience = patience

    async def corrected(self, known: Known, name: str) -> Known | None:
        """What is known, with one topology as it is now; None where that cannot be found out.

        Nothing is asked about a text that no object can be called by: it would be part of a path.
        """
        if not is_dns_subdomain(name):
            return known
        try:
            async with asyncio.timeout(self._patience):
                found = await self._find(name)
        except (Unreachable, TimeoutError, _NotShown):
            return None
        others = {other: one for other, one in known.items() if other != name}
        return others if found is None else {**others, name: found}

    async def _find(self, name: str) -> ClusterTopology | None:
        """The one that counts (TP-004); None for none. Raises Unreachable, _NotShown."""
        for kind in TOPOLOGY_KINDS:
            answer = await self._api.request("GET", KINDS[kind].path(name=name))
            is_shown = shows_object(answer, topology_ref(name, kind))
            if not is_shown and answer.status != NOT_FOUND:
                raise _NotShown
            if is_shown:
                try:
                    return cluster_topology_of({**answer.json(), "kind": kind})
                except MalformedObject as fault:
                    raise _NotShown from fault  # it counts, whatever it says
        return None


class _NotShown(Exception):
    """The server does not say, or nothing that can be read."""
