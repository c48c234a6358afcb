"""ResourceClaims that pods of a PodClique share: by name, by a shared ComputeDomain, and by ``resourceSharing``."""

from collections.abc import Iterator
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenMap, list_at
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import SHARED_CLAIM
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.domain_sharing import domain_membership_of_position, effective_mnnvl_annotations
from grove_core.resources.naming_rules import shared_claim_name
from grove_core.resources.podcliqueset_spec import ALL_REPLICAS, SCOPES, ResourceSharing, SetSpec
from grove_core.snapshot.expected_replicas import ExpectedClique


class SharedClaim(NamedTuple):
    """A ResourceClaim that pods share.

    Attributes:
        entry: name of its entry in ``resourceClaims`` of the pod spec.
        name: of the ResourceClaim.
    """

    entry: str
    name: str


class SharedClaimsOfSet(Struct, frozen=True, kw_only=True):
    """The claims that pods of a set share.

    Attributes:
        set_name, annotations, spec: of the set.
        is_by_annotation: whether annotations make cliques share ComputeDomains (MS-001).
    """

    set_name: str
    annotations: FrozenMap
    spec: SetSpec
    is_by_annotation: bool

    def of_every_pod(self, part: ExpectedClique) -> Iterator[SharedClaim]:
        """Yield the claims that every pod of a PodClique has. Linear in the claims of its template."""
        for entry in list_at(part.template.spec.pod_spec, "resourceClaims"):
            named = entry.get("resourceClaimName") if isinstance(entry, FrozenMap) else None
            if isinstance(entry, FrozenMap) and isinstance(named, str):
                yield SharedClaim(str(entry.get("name", "")), named)
        if self.is_by_annotation:
            group = None if part.group is None else part.group.template
            annotations = effective_mnnvl_annotations(self.annotations, part.template, group)
            membership = domain_membership_of_position(part.position_in(self.set_name), annotations)
            if membership is not None:
                yield SharedClaim(SHARED_CLAIM, membership.claim_name)
        for name in claims_by_resource_sharing(self.set_name, self.spec, part, None):
            yield SharedClaim(name, name)


def shared_claims_of_set(
    set_name: str, annotations: FrozenMap, spec: SetSpec, configuration: Configuration
) -> SharedClaimsOfSet:
    """Return the claims that pods of a set share, by the configuration of MNNVL.

    Args:
        set_name, annotations, spec: of the set.
        configuration: of the operator; in mode ``annotations`` of MNNVL, annotations make cliques share ComputeDomains.
    """
    is_by_annotation = configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS)
    return SharedClaimsOfSet(set_name=set_name, annotations=annotations, spec=spec, is_by_annotation=is_by_annotation)


def claims_by_resource_sharing(
    set_name: str, spec: SetSpec, part: ExpectedClique, pod_index: int | None
) -> Iterator[str]:
    """Yield the names of the claims that a pod has by ``resourceSharing`` (WL-086).

    Args:
        set_name, spec: of the set.
        part: the PodClique of the pod.
        pod_index: of the pod; None for the claims that all pods of the PodClique have.
    """
    levels: list[tuple[str, int | None, tuple[ResourceSharing, ...]]] = [
        (set_name, part.replica, spec.template.resource_sharing)
    ]
    group, group_name = part.group, ""
    if group is not None:
        group_name = group.template.name
        levels.append((group.name, group.replica, group.template.resource_sharing))
    levels.append((part.name, pod_index, part.template.resource_sharing))
    for owner, index, entries in levels:
        for scope in SCOPES:
            for entry in entries:
                is_shared = entry.is_shared_by_clique(part.template.name, group_name)
                if entry.scope == scope and is_shared and (scope == ALL_REPLICAS or index is not None):
                    yield shared_claim_name(owner, None if scope == ALL_REPLICAS else index, entry.name)
