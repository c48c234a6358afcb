"""Lists all objects that concern Grove from a cluster, for one plan or one capture."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final, TypeVar

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, CLIQUE_KIND, CORE, GROUP_KIND, GROVE, POD_KIND, SET_KIND
from grove_core.resources.crd_name_clashes import NamesInCrd, crd_names_from_definition
from grove_core.resources.decoded_pod import NO_SPEC, NO_STATUS, UnreadableFields, decode_pod
from grove_core.resources.node_loss import node_loss_signs, node_readiness_from_json
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import GROUP_KINDS
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.client.api_discovery import connection_error_advice, discover_optional_apis
from grove_shell.client.api_kinds import CLAIM_KINDS, KINDS, ApiKind, kinds_at_served_claim_version
from grove_shell.client.api_response import NOT_FOUND
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError, read_connection_settings
from grove_shell.client.paged_lists import KindNotListed, list_all_objects_of_kind, list_kind_by_page
from grove_shell.operator.crd_name_clashes import served_resource_names
from grove_shell.reading.input_completeness import CollectedObjects
from grove_shell.reading.input_objects import DEFINITION_KIND
from grove_shell.views.progress_bars import progress_counter

_DEFINITIONS: Final = ApiKind(DEFINITION_KIND, "apiextensions.k8s.io/v1", "customresourcedefinitions", clustered=True)


def installed_crd_names(live: LiveClusterOptions) -> list[NamesInCrd]:
    """Return the names of all definitions of a server.

    Where the server does not list definitions to this user, only the resources that it serves are looked at.

    Raises:
        ClusterAccessError: there is no way to it, or it does not answer.
    """
    return run_live_cluster_requests(_installed_names(live))


async def _installed_names(live: LiveClusterOptions) -> list[NamesInCrd]:
    async with ApiSession(await read_connection_settings(live.kubeconfig, live.context)) as api:
        try:
            items, _version = await list_all_objects_of_kind(api, _DEFINITIONS)
        except KindNotListed:
            return await served_resource_names(api)
    return [names for item in items if (names := crd_names_from_definition(item)) is not None]


Json = dict[str, Any]
T = TypeVar("T")
NODES: Final = ApiKind("Node", CORE, "nodes", clustered=True)
"""Listed where a set has topology constraints, whose labels show which of them hold (TP-131), or a node seems lost."""
EVENTS: Final = ApiKind("Event", CORE, "events", fields=f"type=Warning,involvedObject.apiVersion={GROVE}")
"""Warnings about Grove's objects, which report failed writes (WL-255)."""
_RELISTED: Final = (SET_KIND, GROUP_KIND, CLIQUE_KIND, POD_KIND)


def list_objects_of_all_kinds(live: LiveClusterOptions, *, with_events: bool = False) -> CollectedObjects:
    """List every kind at the same time.

    Args:
        with_events: whether to list Events about Grove's objects too, where that is allowed.

    Raises:
        ClusterAccessError: it cannot be reached, does not answer, or does not serve PodCliqueSets.
    """
    with progress_counter("asking", "object") as count:
        return run_live_cluster_requests(_collect(live, count or (lambda _item: None), with_events=with_events))


def run_live_cluster_requests(requests: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that sends requests to a cluster, and return its result.

    Raises:
        ClusterAccessError: it cannot be reached, or does not answer.
    """
    try:
        return asyncio.run(requests)
    except NoServerResponse as fault:
        raise ClusterAccessError(connection_error_advice(fault)) from fault


async def _collect(live: LiveClusterOptions, count: Callable[[Any], None], *, with_events: bool) -> CollectedObjects:
    connection = await read_connection_settings(live.kubeconfig, live.context)
    namespace = EVERYWHERE if live.everywhere else live.namespace or connection.namespace
    async with ApiSession(connection) as api:
        try:
            sets = await _listed(api, KINDS[SET_KIND], namespace, count)
        except KindNotListed as fault:
            raise ClusterAccessError(f"{connection.server}: {connection_error_advice(fault)}") from fault
        served = await discover_optional_apis(api)
        kinds = [kind for kind in kinds_at_served_claim_version(served).values() if kind.kind != SET_KIND]
        without_claims = not served.claims and await _lacks_group_of_claims(api)
        listing = (_listed(api, kind, namespace, count, whole=kind.kind in GROUP_KINDS) for kind in kinds)
        lists = await asyncio.gather(*listing, return_exceptions=True)
        items, not_listed, complete = list(sets), dict[Gap, str](), {(SET_KIND, namespace)}
        for kind, found in zip(kinds, lists, strict=True):
            where = EVERYWHERE if kind.clustered else namespace
            is_absent = isinstance(found, KindNotListed) and found.is_absent
            if is_absent and (kind.optional or (without_claims and kind.kind in CLAIM_KINDS)):
                complete.add((kind.kind, where))
            elif (
                isinstance(found, KindNotListed) and not kind.clustered
            ):  # a set that needs topologies reports it (TP-013)
                not_listed[kind.kind, where] = str(found)
            elif isinstance(found, list):
                items += found
                complete.add((kind.kind, where))
            elif not isinstance(found, KindNotListed):
                raise found
        items = await _with_relisted(api, items, complete, count)
        if plan_needs_nodes(sets, items):
            try:
                items += map(reduce_node_for_capture, await _listed(api, NODES, EVERYWHERE, count))
            except KindNotListed as fault:
                not_listed[NODES.kind, EVERYWHERE] = str(fault)
        if with_events:
            with suppress(KindNotListed):  # they say why a write failed, and decide nothing
                items += await _listed(api, EVENTS, namespace, count)
    return CollectedObjects(
        origin=connection.server, items=tuple(items), complete=frozenset(complete), served=served, not_listed=not_listed
    )


async def _lacks_group_of_claims(api: ApiSession) -> bool:
    """Return whether a server does not serve claims in any version, so that it has none (CL-108)."""
    return (await api.request("GET", f"/apis/{KINDS[CLAIM_KIND].group}")).status == NOT_FOUND


async def _with_relisted(
    api: ApiSession, items: list[Json], complete: set[Gap], count: Callable[[Any], None]
) -> list[Json]:
    """Return the items, with namespaces listed again in which a PodClique has too few ready pods (OP-053).

    The second list has no label selector: a pod whose label was removed still runs.

    Raises:
        ClusterAccessError: the second list failed.
    """
    seen = {kind for kind, _ in complete}
    if POD_KIND not in seen:
        return items
    judged = [kind for kind in _RELISTED if kind in seen]
    short, again = namespaces_with_unready_pods(items), list[Json]()
    for namespace in sorted(short):
        try:
            for kind in judged:
                again += await _listed(api, KINDS[kind], namespace, count, whole=True)
        except KindNotListed as fault:
            raise ClusterAccessError(
                f"{namespace}: listed once, and not a second time: {connection_error_advice(fault)}"
            ) from fault
    kept = [
        item for item in items if item["kind"] not in judged or metadata_in(item).namespace_and_name[0] not in short
    ]
    return kept + again


def namespaces_with_unready_pods(items: Iterable[Json]) -> set[str]:
    """Return the namespaces in which a PodClique has fewer ready pods than replicas. Linear."""
    ready = Counter(metadata_in(item).controller.uid for item in items if item["kind"] == POD_KIND and _is_ready(item))
    cliques = [item for item in items if item["kind"] == CLIQUE_KIND]
    wanted = [(metadata_in(one), (one.get("spec") or {}).get("replicas", 1)) for one in cliques]
    return {
        meta.namespace_and_name[0]
        for meta, replicas in wanted
        if not isinstance(replicas, int) or ready[meta.uid] < replicas
    }


def plan_needs_nodes(sets: Iterable[Json], items: Iterable[Json]) -> bool:
    """Return whether a set has topology constraints (TP-131), or a node of a pod seems lost (GF-015)."""
    has_constraint = any("topologyConstraint" in json.dumps(item.get("spec")) for item in sets)
    return has_constraint or any(map(shows_node_loss, items))


def reduce_node_for_capture(node: Json) -> Json:
    """Return a node with its name and labels, and with its taints and whether it is ready (GF-015)."""
    stored = mapping_or_empty(node, "metadata")
    metadata = {key: stored[key] for key in ("name", "labels") if key in stored}
    known: Json = {"apiVersion": CORE, "kind": NODES.kind, "metadata": metadata}
    readiness = node_readiness_from_json(node)
    if readiness is None:
        return known
    conditions = (node.get("status") or {}).get("conditions") or ()
    shown = {"conditions": [one for one in conditions if one.get("type") == "Ready"]}
    return known | {"spec": {"taints": (node.get("spec") or {}).get("taints") or []}, "status": shown}


def shows_node_loss(item: Json) -> bool:
    """Return whether an object is a pod whose node seems not to answer (GF-015)."""
    if item["kind"] != POD_KIND or _is_ready(item):
        return False
    try:
        pod = decode_pod(item)
    except UnreadableFields:
        return False
    signs = node_loss_signs(pod.spec or NO_SPEC, pod.status or NO_STATUS)
    return signs is not None and signs.written_for_node


def _is_ready(pod: Json) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any((one.get("type"), one.get("status")) == ("Ready", "True") for one in conditions)


def is_controlled_by_podclique(pod: Json) -> bool:
    """Return whether a PodClique controls a pod, whatever its labels are."""
    owner = metadata_in(pod).controller
    return (owner.kind, owner.api_version.rpartition("/")[0]) == (CLIQUE_KIND, KINDS[CLIQUE_KIND].group)


async def _listed(
    api: ApiSession, kind: ApiKind, namespace: str, count: Callable[[Any], None], *, whole: bool = False
) -> list[Json]:
    """List the objects of a kind that concern Grove.

    Args:
        whole: whether to list without a label selector, and keep pods by their owner. Groups of the Workload API are
            listed so, since those of other controllers may have the names of ours (SC-026).
    """
    found: list[Json] = []
    async for page in list_kind_by_page(api, replace(kind, selector="") if whole else kind, namespace):
        if page.first:
            found.clear()
        items = [item for item in page.items if kind.kind != POD_KIND or not whole or is_controlled_by_podclique(item)]
        found.extend(items)
        for item in items:
            count(item)
    return found
