"""Where a gang is to be placed: constraints of its set, in the words of its topology (TP-020 to TP-024)."""

from collections.abc import Iterator, Mapping

from grove_core.areas.topology.verdicts import Placing
from grove_core.areas.workload.blueprint import GangPart
from grove_core.resources.names import scaling_group_name
from grove_core.resources.placement import NO_PACK, NOWHERE, Pack, Placement, Together
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.template import TopologyConstraint


def placement_of(root: PodCliqueSet, part: GangPart, placing: Placing) -> Placement:
    """What the scheduler is told of one gang; nothing where no topology applies. Linear in its cliques.

    Args:
        root: its set.
        part: the gang.
        placing: with a key for each domain that the set asks for.
    """
    if not placing.topology:
        return NOWHERE
    template, keys = root.spec.template, placing.keys
    groups = {
        scaling_group_name(root.ref.name, part.replica, group.name): group.topology_constraint
        for group in template.pod_clique_scaling_groups
    }
    own = groups.get(part.group) or template.topology_constraint
    packs = ((clique.name, _pack(clique.template.topology_constraint, keys)) for clique in part.cliques)
    return Placement(
        placing.topology,
        _pack(own, keys),
        tuple(sorted((name, pack) for name, pack in packs if pack != NO_PACK)),
        () if part.group else tuple(sorted(_together(part, groups, keys))),
    )


def _together(
    part: GangPart, groups: Mapping[str, TopologyConstraint | None], keys: Mapping[str, str]
) -> Iterator[Together]:
    """The replicas of scaling groups that are part of a base gang, as far as their group has a constraint (TP-022)."""
    members: dict[tuple[str, int], list[str]] = {}
    for clique in part.cliques:
        if groups.get(clique.group) is not None:
            members.setdefault((clique.group, clique.group_replica), []).append(clique.name)
    for (group, replica), names in members.items():
        yield Together(f"{group}-{replica}", tuple(names), _pack(groups[group], keys))


def _pack(constraint: TopologyConstraint | None, keys: Mapping[str, str]) -> Pack:
    required, preferred = constraint.domains if constraint is not None else ("", "")
    return Pack(keys.get(required, ""), keys.get(preferred, ""))
