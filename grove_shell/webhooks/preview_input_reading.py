"""Reads what the preview of an update depends on from the API server: the objects of one set, and its namespace."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grove_core.kernel.structs import replace
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.configuration import ServedApis, WorkloadApiLevel
from grove_core.resources.labels import SET
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import GROUP_KINDS
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.client.api_kinds import KINDS, ApiKind
from grove_shell.client.api_session import ApiSession
from grove_shell.client.paged_lists import FROM_CACHE, KindNotListed, list_all_objects_of_kind
from grove_shell.client.proxy_response_check import is_api_object
from grove_shell.client.rbac_rules import PREVIEWED_KINDS
from grove_shell.reading.input_completeness import CollectedObjects

_CONSTRAINT: Final = "topologyConstraint"


class NamespaceNotRead(Exception):
    """The API server does not return a namespace; the message says why."""


async def read_namespace_labels(api: ApiSession, namespace: str) -> Mapping[str, object]:
    """Return the labels of a namespace.

    Raises:
        NamespaceNotRead: the API server does not return it.
        NoServerResponse: the API server did not respond.
    """
    response = await api.request("GET", f"/api/v1/namespaces/{namespace}", query=FROM_CACHE)
    raw = response.json_body() if response.is_success else None
    if not is_api_object(raw):
        raise NamespaceNotRead(response.error_message)
    return metadata_in(raw).labels


async def list_objects_of_set(api: ApiSession, stored: Mapping[str, Any], served: ServedApis) -> CollectedObjects:
    """Return a set as it is stored and every object that the forecast of its update depends on, listed at once.

    Raises:
        KindNotListed: the API server does not list a kind, and serves it.
        NoServerResponse: the API server did not respond.
    """
    namespace, name = metadata_in(stored).namespace_and_name
    kinds = [*_kinds_of_set(name, served), *_topology_kinds(stored)]
    lists = await asyncio.gather(*(_listed(api, kind, namespace) for kind in kinds))
    complete: set[Gap] = {(kind.kind, EVERYWHERE if kind.clustered else namespace) for kind in kinds}
    return CollectedObjects(
        origin=api.connection.server,
        items=(dict(stored), *(item for found in lists for item in found)),
        complete=frozenset(complete),
        served=served,
    )


def _kinds_of_set(name: str, served: ServedApis) -> Iterator[ApiKind]:
    """Yield the kinds whose objects have the label of their set."""
    grouped = GROUP_KINDS if served.workload_api in {WorkloadApiLevel.FLAT, WorkloadApiLevel.HIERARCHICAL} else ()
    for kind in (*PREVIEWED_KINDS, *grouped):
        yield replace(KINDS[kind], selector=f"{SET.primary}={name}")


def _topology_kinds(stored: Mapping[str, Any]) -> Iterator[ApiKind]:
    if _CONSTRAINT in str(stored.get("spec")):
        yield from (KINDS[kind] for kind in TOPOLOGY_KINDS)


async def _listed(api: ApiSession, kind: ApiKind, namespace: str) -> list[dict[str, Any]]:
    try:
        found, _ = await list_all_objects_of_kind(api, kind, namespace, from_cache=True)
    except KindNotListed as fault:
        if kind.optional and fault.is_absent:
            return []
        raise
    return found
