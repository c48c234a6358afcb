"""What the PodCliques of a set share by annotation, before there are any: for names that people may write."""

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

_NOBODY: Final[Mapping[tuple[str, str], int]] = MappingProxyType({})


def memberships_of(
    root: PodCliqueSet, replica: int, asked: Mapping[tuple[str, str], int] = _NOBODY, spare: int = 0
) -> Iterator[DomainMembership]:
    """Each membership of one replica; several PodCliques may have the same.

    Args:
        root: the set.
        replica: index.
        asked: kind and name of a scaling group -> the most replicas that somebody asks for.
        spare: how many replicas more a scaling group may have for a while.
    """
    template = root.spec.template
    homes = template.groups_by_clique
    for clique in template.cliques:
        group, name = homes.get(clique.name), root.ref.name
        told = effective_annotations(root.annotations, clique, group)
        positions = [position_in_template(name, replica, clique.name)]
        if group is not None:
            full = scaling_group_name(name, replica, group.name)
            count = max(group.replicas, asked.get(("PodCliqueScalingGroup", full), 0)) + spare
            positions = [position_in_template(name, replica, clique.name, group.name, index) for index in range(count)]
        yield from (member for position in positions if (member := membership_of(position, told)) is not None)
