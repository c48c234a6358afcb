"""Sharing of ComputeDomains by annotation: from the annotations of a clique to its domain and claim.

A domain and its ResourceClaim belong to one **user**: a replica of a set, a replica of a scaling group, or a PodClique.
Their labels name the user.
"""

from collections.abc import Mapping
from enum import Enum, unique
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from grove_core.kernel.frozen import EMPTY, FrozenMap, list_at
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import (
    DOMAIN_KIND,
    MNNVL_DEVICE_CLASS,
    MNNVL_ENABLED,
    MNNVL_MANAGED,
    MNNVL_SCOPE,
    SHARED_CLAIM,
)
from grove_core.resources.labels import (
    CLIQUE,
    GROUP,
    GROUP_REPLICA,
    label_value_in,
    labels_of_set,
    labels_of_set_replica,
    podcliqueset_name_from_labels,
)
from grove_core.resources.naming_rules import (
    GroupReplicaKey,
    member_clique_name,
    parse_replica_index,
    scaling_group_name,
    set_replica_name,
    standalone_clique_name,
)
from grove_core.resources.podcliqueset_manifest import PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import CliqueTemplate, ScalingGroupTemplate

MNNVL_ANNOTATIONS: Final = (MNNVL_ENABLED, MNNVL_SCOPE, MNNVL_DEVICE_CLASS)
CHOICES: Final = ("true", "false")  # of the first of them
DEVICE_CLASS: Final = "compute-domain.nvidia.com"
CLAIM_SUFFIX: Final = "-mnnvl-claim"
DOMAIN_SUFFIX: Final = "-cd"


@unique
class DomainSharingScope(Enum):
    """What shares one ComputeDomain."""

    REPLICA = "replica"
    CLIQUE = "clique"
    GROUP_REPLICA = "scalingGroupReplica"


SCOPES: Final[Mapping[str, DomainSharingScope]] = MappingProxyType({scope.value: scope for scope in DomainSharingScope})


class ComputeDomainUser(NamedTuple):
    """What a domain and its claim belong to; names are those of the template.

    Attributes:
        set_name, replica: the set and its replica.
        group, group_replica, clique: empty where the user is larger than one of them.
    """

    set_name: str
    replica: str
    group: str = ""
    group_replica: str = ""
    clique: str = ""

    def __str__(self) -> str:
        clique = f"clique {self.clique} of " if self.clique else ""
        group = f"replica {self.group_replica} of group {self.group} of " if self.group else ""
        return f"{clique}{group}replica {self.replica} of {self.set_name}"


class CliqueSharingFacts(Protocol):
    """A PodClique, stored or to be created, as far as sharing depends on it."""

    @property
    def ref(self) -> Ref:
        """Its address."""

    @property
    def replica_index(self) -> int:
        """The index of the set's replica; -1 where it is not known."""

    @property
    def labels(self) -> FrozenMap:
        """The labels as stored."""

    @property
    def annotations(self) -> FrozenMap:
        """The annotations as stored."""

    @property
    def pod_spec(self) -> FrozenMap:
        """The pod spec as stored."""


class CliquePositionInSet(NamedTuple):
    """The position of a PodClique in its set.

    Attributes:
        name: of the PodClique.
        clique: its name in the template.
        group: the replica of its scaling group; None for a standalone clique.
    """

    set_name: str
    replica: int
    name: str
    clique: str
    group: GroupReplicaKey | None = None


class DomainMembership(NamedTuple):
    """The domain and claim that a PodClique shares.

    Attributes:
        scope: what shares them.
        user: that they belong to.
        base_name: that their names begin with.
        device_class: that the claim requests.
        position: of the PodClique.
    """

    scope: DomainSharingScope
    user: ComputeDomainUser
    base_name: str
    device_class: str
    position: CliquePositionInSet

    @property
    def domain_name(self) -> str:
        """Name of the ComputeDomain (MS-020)."""
        return self.base_name + DOMAIN_SUFFIX

    @property
    def claim_name(self) -> str:
        """Name of the ResourceClaim (MS-020)."""
        return self.base_name + CLAIM_SUFFIX

    @property
    def labels(self) -> dict[str, str]:
        """Labels of domain and claim; the design's keys have the template's names, others full names (MS-020)."""
        user, position = self.user, self.position
        found = {
            **labels_of_set(user.set_name),
            **labels_of_set_replica(position.replica),
            MNNVL_MANAGED: "true",
        }
        if user.group and position.group is not None:
            found |= GROUP.under_every_key(position.group.group, design=user.group)
            found |= GROUP_REPLICA.under_every_key(user.group_replica)
        if user.clique:
            found |= CLIQUE.under_every_key(position.name, design=user.clique)
        return dict(sorted(found.items()))


def domain_membership_of_position(
    position: CliquePositionInSet, annotations: Mapping[str, object]
) -> DomainMembership | None:
    """Return what a PodClique with these annotations shares; None for nothing (MS-001, MS-010, MS-020).

    An unknown scope, and a scope that does not apply at this position, share nothing.
    """
    scope = sharing_scope_in_annotations(annotations)
    device_class = str(annotations.get(MNNVL_DEVICE_CLASS, DEVICE_CLASS))
    if scope is None or not device_class:
        return None
    base = (position.set_name, str(position.replica))
    home = scaling_group_name(position.set_name, position.replica, "")
    group = position.group
    grouped = base if group is None else (*base, group.group.removeprefix(home), str(group.replica))
    if scope is DomainSharingScope.REPLICA:
        return DomainMembership(
            scope,
            ComputeDomainUser(*base),
            set_replica_name(position.set_name, position.replica),
            device_class,
            position,
        )
    if scope is DomainSharingScope.CLIQUE:
        user = ComputeDomainUser(*grouped)._replace(clique=position.clique)
        return DomainMembership(scope, user, position.name, device_class, position)
    if group is None:
        return None
    return DomainMembership(scope, ComputeDomainUser(*grouped), group.name, device_class, position)


def sharing_scope_in_annotations(annotations: Mapping[str, object]) -> DomainSharingScope | None:
    """Return the scope in these annotations; None where they do not opt in, or where the scope is unknown."""
    if annotations.get(MNNVL_ENABLED) != "true":
        return None
    return SCOPES.get(str(annotations.get(MNNVL_SCOPE, DomainSharingScope.REPLICA.value)))


def clique_indices_from_labels(clique: CliqueSharingFacts) -> CliquePositionInSet | None:
    """Return the position of a PodClique by its labels; None where they are incomplete."""
    labels, name = clique.labels, clique.ref.name
    set_name = podcliqueset_name_from_labels(labels)
    if not set_name or clique.replica_index < 0:
        return None
    base = set_replica_name(set_name, clique.replica_index)
    named, index = label_value_in(labels, GROUP), parse_replica_index(label_value_in(labels, GROUP_REPLICA))
    if not named:
        return CliquePositionInSet(set_name, clique.replica_index, name, name.removeprefix(f"{base}-"))
    if index is None:
        return None
    full = named if name.startswith(f"{named}-{index}-") else scaling_group_name(set_name, clique.replica_index, named)
    group = GroupReplicaKey(full, index)
    return CliquePositionInSet(set_name, clique.replica_index, name, name.removeprefix(f"{group.name}-"), group)


def effective_mnnvl_annotations(
    of_set: FrozenMap, clique: CliqueTemplate, group: ScalingGroupTemplate | None
) -> FrozenMap:
    """Return the MNNVL annotations of a clique's PodCliques, key by key (MS-010).

    A clique's override those of its set, which apply to standalone cliques only, and its group's override the clique's.
    """
    layers = (clique.annotations, group.annotations) if group is not None else (of_set, clique.annotations)
    found = {key: layer[key] for layer in layers for key in MNNVL_ANNOTATIONS if key in layer}
    return FrozenMap(found) if found else EMPTY


def clique_location_in_set(
    set_name: str, replica: int, clique: str, group: str = "", group_replica: int = -1
) -> CliquePositionInSet:
    """Return the position of a clique of a template.

    Args:
        replica: index of the set's replica.
        clique: its name in the template.
        group: name of its scaling group in the template; empty for a standalone clique.
        group_replica: index of the scaling group's replica; -1 for a standalone clique.
    """
    if not group:
        return CliquePositionInSet(set_name, replica, standalone_clique_name(set_name, replica, clique), clique)
    full = scaling_group_name(set_name, replica, group)
    key = GroupReplicaKey(full, group_replica)
    return CliquePositionInSet(set_name, replica, member_clique_name(full, group_replica, clique), clique, key)


def domain_membership_in_manifest(
    manifest: PodCliqueSetManifest,
    clique: CliqueTemplate,
    group: ScalingGroupTemplate | None,
    replica: int,
    group_replica: int,
) -> DomainMembership | None:
    """Return what one of a set's PodCliques would share.

    Args:
        clique: its template.
        group: the scaling group that has the clique; None for a standalone one.
        replica: index of the set's replica.
        group_replica: index of the scaling group's replica; ignored without a group.
    """
    position = clique_location_in_set(
        manifest.name, replica, clique.name, group.name if group is not None else "", group_replica
    )
    return domain_membership_of_position(position, effective_mnnvl_annotations(manifest.annotations, clique, group))


def shared_domain_base_name(kind: str, name: str) -> str:
    """Return the base name of a shared domain or claim, from its name (MS-020)."""
    return name.removesuffix(DOMAIN_SUFFIX if kind == DOMAIN_KIND else CLAIM_SUFFIX)


def shared_claim_entry(pod_spec: FrozenMap) -> FrozenMap | None:
    """Return the entry of a pod spec for the claim to a shared domain; None where it has none."""
    for one in list_at(pod_spec, "resourceClaims"):
        if isinstance(one, FrozenMap) and one.get("name") == SHARED_CLAIM:
            named = one.get("resourceClaimName")
            return one if isinstance(named, str) and named.endswith(CLAIM_SUFFIX) else None
    return None
