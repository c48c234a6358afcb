"""The kinds that Grove works on, and where an API server keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.resources.cluster_topology import BINDING_KIND, TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import Configuration, Served
from grove_core.resources.dialects import dialect_of
from grove_core.resources.keys import AUTOSCALING, CLAIMS, CORE, GROVE, MANAGED_BY, NVIDIA, OPERATOR, RBAC, SCHEDULER
from grove_core.resources.podclique import GROUP_KIND

_MADE_BY_GROVE: Final = f"{MANAGED_BY}={OPERATOR}"


@dataclass(frozen=True, slots=True)
class ApiKind:
    """A kind of object.

    Attributes:
        api_version: group and version.
        plural: as in paths, and in rules of a role.
        selector: of the labels of those that concern us; empty for all.
        metadata_only: nothing but its metadata is asked for: what a Secret holds is none of our business.
        optional: whether a cluster may do without it; then there simply is none.
        clustered: whether its objects are in no namespace.
    """

    kind: str
    api_version: str
    plural: str
    selector: str = ""
    metadata_only: bool = False
    optional: bool = False
    clustered: bool = False

    @property
    def group(self) -> str:
        """The API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "", part: str = "") -> str:
        """Of all objects, those of a namespace, one of them, or a part of it such as ``status``.

        Where objects are in no namespace, all of them count as those of any.
        """
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        inside = f"/namespaces/{namespace}" if namespace and not self.clustered else ""
        return "/".join(filter(None, (f"{root}{inside}/{self.plural}", name, part)))


POD_CLIQUE_SET: Final = "PodCliqueSet"
KINDS: Final[Mapping[str, ApiKind]] = MappingProxyType(
    {
        one.kind: one
        for one in (
            ApiKind(POD_CLIQUE_SET, GROVE, "podcliquesets"),
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
            ApiKind("ResourceClaim", CLAIMS, "resourceclaims", _MADE_BY_GROVE),
            ApiKind("ResourceClaimTemplate", CLAIMS, "resourceclaimtemplates"),
            ApiKind(DOMAIN_KIND, NVIDIA, "computedomains", optional=True),
            ApiKind(TOPOLOGY_KIND, GROVE, "clustertopologies", optional=True, clustered=True),
            ApiKind(BINDING_KIND, GROVE, "clustertopologybindings", optional=True, clustered=True),
        )
    }
)


def kinds_as_served(configuration: Configuration, served: Served) -> Mapping[str, ApiKind]:
    """The kinds, ComputeDomains and claims in the versions in which they are written (decisions D2, D14)."""
    found = dict(KINDS)
    found[DOMAIN_KIND] = replace(KINDS[DOMAIN_KIND], api_version=dialect_of(configuration, served).api_version)
    for kind in ("ResourceClaim", "ResourceClaimTemplate"):
        found[kind] = replace(KINDS[kind], api_version=served.claims or KINDS[kind].api_version)
    return MappingProxyType(found)


def followed(kinds: Mapping[str, ApiKind], *, everywhere: bool, by_topology: bool) -> Mapping[str, ApiKind]:
    """The kinds that an operator follows: what is in no namespace only where it is of use (MF-024).

    Args:
        kinds: of which.
        everywhere: whether it looks after all namespaces, and so after topologies (TP-045).
        by_topology: whether pods are placed by them.
    """
    return {name: kind for name, kind in kinds.items() if everywhere or by_topology or not kind.clustered}


def kind_of(ref: Ref) -> ApiKind:
    """The kind of an object, in the version in which it is spoken of."""
    kind = KINDS[ref.kind]
    return kind if kind.api_version == ref.api_version else replace(kind, api_version=ref.api_version)


def path_of(ref: Ref, part: str = "") -> str:
    """Where one object stands."""
    return kind_of(ref).path(ref.namespace, ref.name, part)
