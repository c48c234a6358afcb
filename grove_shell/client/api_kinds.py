"""The kinds that Grove reads and writes, and their paths on an API server."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import (
    AUTOSCALING,
    BINDING_KIND,
    CLAIMS,
    COMPOSITE_KIND,
    COMPOSITES,
    CORE,
    DOMAIN_KIND,
    GROUP_KIND,
    GROVE,
    MANAGED_BY,
    NVIDIA,
    OPERATOR,
    POD_GROUP_KIND,
    RBAC,
    SCHEDULER,
    SET_KIND,
    TOPOLOGY_KIND,
    WORKLOAD_KIND,
    WORKLOADS,
)
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.domain_and_claim_formats import compute_domain_format_to_write
from grove_core.resources.owned_object import GROUP_KINDS

_MADE_BY_GROVE: Final = f"{MANAGED_BY}={OPERATOR}"


@dataclass(frozen=True, slots=True)
class ApiKind:
    """A kind of object.

    Attributes:
        api_version: group and version.
        plural: as in paths and in rules of a role.
        selector: the label selector of lists and watches; empty for all objects.
        metadata_only: whether only metadata is requested, as of Secrets.
        optional: whether a cluster need not serve it; then there are no objects of it.
        clustered: whether it is cluster-scoped.
        fields: the field selector of lists; empty for all objects.
        name: of the only object that is listed and watched; empty for all.
    """

    kind: str
    api_version: str
    plural: str
    selector: str = ""
    metadata_only: bool = False
    optional: bool = False
    clustered: bool = False
    name: str = ""
    fields: str = ""

    @property
    def group(self) -> str:
        """The API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    def url_path(self, namespace: str = "", name: str = "", part: str = "") -> str:
        """Return the path of all objects, those of a namespace, one of them, or a subresource such as ``status``.

        The namespace of a cluster-scoped kind is ignored.
        """
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        inside = f"/namespaces/{namespace}" if namespace and not self.clustered else ""
        return "/".join(filter(None, (f"{root}{inside}/{self.plural}", name, part)))


CLAIM_KINDS: Final = ("ResourceClaim", "ResourceClaimTemplate")
KINDS: Final[Mapping[str, ApiKind]] = MappingProxyType(
    {
        one.kind: one
        for one in (
            ApiKind(SET_KIND, GROVE, "podcliquesets"),
            ApiKind(GROUP_KIND, GROVE, "podcliquescalinggroups"),
            ApiKind("PodClique", GROVE, "podcliques"),
            ApiKind("PodGang", SCHEDULER, "podgangs"),
            ApiKind("Pod", CORE, "pods", _MADE_BY_GROVE),
            ApiKind("Service", CORE, "services", _MADE_BY_GROVE),
            ApiKind("ServiceAccount", CORE, "serviceaccounts", _MADE_BY_GROVE),
            ApiKind("Secret", CORE, "secrets", _MADE_BY_GROVE, metadata_only=True),
            ApiKind("Role", RBAC, "roles", _MADE_BY_GROVE),
            ApiKind("RoleBinding", RBAC, "rolebindings", _MADE_BY_GROVE),
            ApiKind("HorizontalPodAutoscaler", AUTOSCALING, "horizontalpodautoscalers", _MADE_BY_GROVE),
            ApiKind(WORKLOAD_KIND, WORKLOADS, "workloads", _MADE_BY_GROVE, optional=True),
            ApiKind(COMPOSITE_KIND, COMPOSITES, "compositepodgroups", _MADE_BY_GROVE, optional=True),
            ApiKind(POD_GROUP_KIND, WORKLOADS, "podgroups", _MADE_BY_GROVE, optional=True),
            ApiKind("ResourceClaim", CLAIMS, "resourceclaims", _MADE_BY_GROVE),
            ApiKind("ResourceClaimTemplate", CLAIMS, "resourceclaimtemplates"),
            ApiKind(DOMAIN_KIND, NVIDIA, "computedomains", optional=True),
            ApiKind(TOPOLOGY_KIND, GROVE, "clustertopologies", optional=True, clustered=True),
            ApiKind(BINDING_KIND, GROVE, "clustertopologybindings", optional=True, clustered=True),
        )
    }
)


def kinds_in_served_versions(configuration: Configuration, served: ServedApis) -> Mapping[str, ApiKind]:
    """Return the kinds, with ComputeDomain and ResourceClaim in the versions that are served (decisions D2, D14)."""
    domain_format = compute_domain_format_to_write(configuration, served)
    domains = replace(KINDS[DOMAIN_KIND], api_version=domain_format.api_version)
    return MappingProxyType({**kinds_at_served_claim_version(served), DOMAIN_KIND: domains})


def kinds_at_served_claim_version(served: ServedApis) -> Mapping[str, ApiKind]:
    """Return the kinds, with claims and their templates in the newest version that is served (CL-108)."""
    claims = {kind: replace(KINDS[kind], api_version=served.claims or KINDS[kind].api_version) for kind in CLAIM_KINDS}
    return MappingProxyType({**KINDS, **claims})


def kinds_watched_by_operator(
    kinds: Mapping[str, ApiKind], *, everywhere: bool, by_topology: bool, with_groups: bool = True
) -> Mapping[str, ApiKind]:
    """Return the kinds that an operator watches, optional ones only where they are used (MF-020).

    Args:
        everywhere: whether it watches all namespaces, and so reconciles topologies (TP-045).
        by_topology: whether pods are placed by topology.
        with_groups: whether gangs may be placed by the Workload API (SC-001).
    """
    return {
        name: kind
        for name, kind in kinds.items()
        if (everywhere or by_topology or not kind.clustered) and (with_groups or name not in GROUP_KINDS)
    }


def api_kind_of_ref(ref: Ref) -> ApiKind:
    """Return the kind of an object in the version of its address."""
    kind = KINDS[ref.kind]
    return kind if kind.api_version == ref.api_version else replace(kind, api_version=ref.api_version)


def url_path_of_ref(ref: Ref, part: str = "") -> str:
    """Return the path of one object."""
    return api_kind_of_ref(ref).url_path(ref.namespace, ref.name, part)
