"""The first requests: whether the server can be used, and which optional kinds and versions it serves."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.structs import replace
from grove_core.resources.api_names import (
    CLAIM_VERSIONS,
    COMPOSITE_KIND,
    COMPOSITES,
    DOMAIN_KIND,
    NVIDIA,
    POD_GROUP_KIND,
    SET_KIND,
    WORKLOAD_KIND,
    WORKLOADS,
)
from grove_core.resources.compute_domain import served_compute_domain_format
from grove_core.resources.configuration import ComputeDomainFormatName, ServedApis, WorkloadApiLevel
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_response import NOT_FOUND, OK
from grove_shell.client.api_session import ApiSession, NoServerResponse
from grove_shell.client.connection_settings import ClusterAccessError
from grove_shell.client.paged_lists import KindNotListed
from grove_shell.client.proxy_response_check import is_list_of_kind

_GROUP: Final = NVIDIA.partition("/")[0]
_CLAIMS: Final = CLAIM_VERSIONS[0].partition("/")[0]
_UNAUTHORIZED: Final = 401
_MOST_TRIES: Final = 40
_PAUSE: Final = 0.25  # s


async def check_connection(api: ApiSession, namespace: str = "") -> None:
    """List one PodCliqueSet (OP-044).

    Args:
        namespace: of the list; empty for all.

    Raises:
        ClusterAccessError: with advice what to try.
    """
    kind = KINDS[SET_KIND]
    try:
        answer = await api.request("GET", kind.url_path(namespace), query={"limit": "1"})
    except NoServerResponse as fault:
        raise ClusterAccessError(connection_error_advice(fault)) from fault
    if not answer.is_success or not is_list_of_kind(answer.json_body(), kind):
        raise ClusterAccessError(f"{api.connection.server}: {connection_error_advice(KindNotListed(kind, answer))}")


def connection_error_advice(fault: NoServerResponse | KindNotListed) -> str:
    """Return what went wrong and what to try."""
    if not isinstance(fault, KindNotListed):
        return f"{fault}; is it up, and is --context the one you mean?"
    if fault.is_absent:
        return f"{fault}; is Grove installed there? (grove manifests | kubectl apply --server-side -f -)"
    if fault.status == _UNAUTHORIZED:
        return f"{fault}: the credentials are not accepted, or ran out; log in again"
    if fault.status == OK:
        return f"{fault}; is there a proxy on the way that wants you to log in?"
    return str(fault)


async def discover_optional_apis(api: ApiSession, *, tries: int = _MOST_TRIES) -> ServedApis:
    """Return the served versions of ResourceClaim, the schema of ComputeDomain, and the level of the Workload API.

    It needs no role (OP-034).

    Args:
        tries: how often to request a schema that is not published yet, 250 ms apart.

    Raises:
        NoServerResponse: there was no response.
    """
    claims = await api.request("GET", f"/apis/{_CLAIMS}")
    versions = (
        {one.get("groupVersion") for one in claims.json_body().get("versions") or ()} if claims.is_success else set()
    )
    newest = next((version for version in CLAIM_VERSIONS if version in versions), "")
    found = ServedApis(claims=newest, workload_api=await _workload_api_level(api))
    group = await api.request("GET", f"/apis/{_GROUP}")
    if group.status == NOT_FOUND:
        return replace(found, without_domains=True)
    if not group.is_success:
        return found
    version = (group.json_body().get("preferredVersion") or {}).get("groupVersion") or NVIDIA
    resources = await api.request("GET", f"/apis/{version}")
    kinds = resources.json_body().get("resources") if resources.is_success else None
    if not isinstance(kinds, list):  # an invalid response does not show that a kind is missing (OP-065)
        return found
    if not any(one.get("kind") == DOMAIN_KIND for one in kinds):
        return replace(found, without_domains=True)
    return replace(found, domains=await _shape(api, version, tries))


async def _workload_api_level(api: ApiSession) -> WorkloadApiLevel | None:
    """Return how much of the Workload API a server serves; None where its response does not show that (SC-001)."""
    kinds = set[str]()
    for version in (WORKLOADS, COMPOSITES):
        resources = await api.request("GET", f"/apis/{version}")
        if resources.status == NOT_FOUND:
            continue
        listed = resources.json_body().get("resources") if resources.is_success else None
        if not isinstance(listed, list):
            return None
        kinds |= {str(one.get("kind")) for one in listed}
    if not {WORKLOAD_KIND, POD_GROUP_KIND} <= kinds:
        return WorkloadApiLevel.NONE
    return WorkloadApiLevel.HIERARCHICAL if COMPOSITE_KIND in kinds else WorkloadApiLevel.FLAT


async def _shape(api: ApiSession, version: str, tries: int) -> ComputeDomainFormatName | None:
    """Return the schema of ComputeDomain; None without one. A server publishes a schema after its definition."""
    for left in reversed(range(tries)):
        schema = await api.request("GET", f"/openapi/v3/apis/{version}")
        found = _shape_in(schema.json_body()) if schema.is_success else None
        if found is not None or not (schema.is_success or schema.status == NOT_FOUND):
            return found
        if left:
            await asyncio.sleep(_PAUSE)
    return None


def _shape_in(document: Mapping[str, Any]) -> ComputeDomainFormatName | None:
    """Return the schema in an OpenAPI document; None if it has no ComputeDomain."""
    schemas: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
    for schema in schemas.values():
        kinds = schema.get("x-kubernetes-group-version-kind") or ()
        if any((one.get("group"), one.get("kind")) == (_GROUP, DOMAIN_KIND) for one in kinds):
            spec = schema.get("properties", {}).get("spec", {}).get("properties", {})
            return served_compute_domain_format(spec.get("channel", {}).get("properties", {}))
    return None
