"""Names of the ComputeDomains and claims that the PodCliques of a set will share by annotation."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from grove_core.resources.domain_sharing import (
    DomainMembership,
    effective_annotations,
    membership_of,
    position_in_template,
)
from grove_core.resources.names import scaling_group_name
from grove_core.resources.podcliqueset import PodCliqueSet

_NONE_REQUESTED: Final[Mapping[tuple[str, str], int]] = MappingProxyType({})


def memberships_of(
    root: PodCliqueSet, replica: int, requested: Mapping[tuple[str, str], int] = _NONE_REQUESTED, spare: int = 0
) -> Iterator[DomainMembership]:
    """Yield the shared ComputeDomain of each PodClique in one replica of a set; PodCliques may share the same one.

    Args:
        root: the set.
        replica: index of the replica.
        requested: kind and name of a scaling group -> the most replicas that an event requests.
        spare: additional replicas that a scaling group may have during an update.
    """
    template = root.spec.template
    for clique in template.cliques:
        group, name = template.groups_by_clique.get(clique.name), root.ref.name
        annotations = effective_annotations(root.annotations, clique, group)
        positions = [position_in_template(name, replica, clique.name)]
        if group is not None:
            full = scaling_group_name(name, replica, group.name)
            count = max(group.replicas, requested.get(("PodCliqueScalingGroup", full), 0)) + spare
            positions = [position_in_template(name, replica, clique.name, group.name, index) for index in range(count)]
        yield from (member for position in positions if (member := membership_of(position, annotations)) is not None)
