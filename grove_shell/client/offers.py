"""What an API server offers beyond what Grove cannot do without; everybody who is let in may ask."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import DomainShape, Served
from grove_core.resources.keys import CLAIM_VERSIONS, NVIDIA
from grove_shell.client.api import NOT_FOUND, Api
from grove_shell.reading.fabric import shape_of

_GROUP: Final = NVIDIA.partition("/")[0]
_CLAIMS: Final = CLAIM_VERSIONS[0].partition("/")[0]


async def offered(api: Api) -> Served:
    """Ask for the versions of claims and for the schema of ComputeDomains. Raises Unreachable."""
    claims = await api.request("GET", f"/apis/{_CLAIMS}")
    versions = {one.get("groupVersion") for one in claims.json().get("versions") or ()} if claims.good else set()
    newest = next((version for version in CLAIM_VERSIONS if version in versions), "")
    group = await api.request("GET", f"/apis/{_GROUP}")
    if group.status == NOT_FOUND:
        return Served(without_domains=True, claims=newest)
    if not group.good:
        return Served(claims=newest)
    version = (group.json().get("preferredVersion") or {}).get("groupVersion") or NVIDIA
    resources = await api.request("GET", f"/apis/{version}")
    if not resources.good:
        return Served(claims=newest)
    if not any(one.get("kind") == DOMAIN_KIND for one in resources.json().get("resources") or ()):
        return Served(without_domains=True, claims=newest)
    # Schemas are published a while longer than what they describe, so they only say of which shape it is.
    schema = await api.request("GET", f"/openapi/v3/apis/{version}")
    return Served(domains=_shape_in(schema.json()) if schema.good else None, claims=newest)


def _shape_in(document: Mapping[str, Any]) -> DomainShape | None:
    """By an OpenAPI document; None where it has no ComputeDomain."""
    schemas: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
    for schema in schemas.values():
        kinds = schema.get("x-kubernetes-group-version-kind") or ()
        if any((one.get("group"), one.get("kind")) == (_GROUP, DOMAIN_KIND) for one in kinds):
            spec = schema.get("properties", {}).get("spec", {}).get("properties", {})
            return shape_of(spec.get("channel", {}).get("properties", {}))
    return None
