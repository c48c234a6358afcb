"""Topology constraints of a PodGang, in the terms of its topology (TP-020)."""

from collections.abc import Iterator, Mapping

from grove_core.areas.topology.verdicts import GangTopology
from grove_core.areas.workload.template.expected_replicas import ExpectedClique, ExpectedGang
from grove_core.resources.placement import NO_PACK, NO_PLACEMENT, Pack, PackedGroup, Placement
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.template import TopologyConstraint


def placement_of(root: PodCliqueSet, part: ExpectedGang, gang_topology: GangTopology) -> Placement:
    """Return the topology constraints of one gang; empty where no topology applies. Linear in its cliques.

    Args:
        root: the set.
        part: the gang.
        gang_topology: has a node label key for each domain that the set names.
    """
    if not gang_topology.topology:
        return NO_PLACEMENT
    template, keys = root.spec.template, gang_topology.keys
    own = (_of_home(part.cliques[0]) if part.group else None) or template.topology_constraint
    packs = ((clique.name, _pack(clique.template.topology_constraint, keys)) for clique in part.cliques)
    return Placement(
        gang_topology.topology,
        _pack(own, keys),
        tuple(sorted((name, pack) for name, pack in packs if pack != NO_PACK)),
        () if part.group else tuple(sorted(_together(part, keys))),
    )


def _together(part: ExpectedGang, keys: Mapping[str, str]) -> Iterator[PackedGroup]:
    """Return the constraints of scaling group replicas that are part of a base gang (TP-020)."""
    members: dict[tuple[str, int], list[ExpectedClique]] = {}
    for clique in part.cliques:
        if _of_home(clique) is not None:
            members.setdefault((clique.group, clique.group_replica), []).append(clique)
    for (group, replica), cliques in members.items():
        yield PackedGroup(f"{group}-{replica}", tuple(one.name for one in cliques), _pack(_of_home(cliques[0]), keys))


def _of_home(clique: ExpectedClique) -> TopologyConstraint | None:
    return clique.group_template.topology_constraint if clique.group_template is not None else None


def _pack(constraint: TopologyConstraint | None, keys: Mapping[str, str]) -> Pack:
    required, preferred = constraint.domains if constraint is not None else ("", "")
    return Pack(keys.get(required, ""), keys.get(preferred, ""))
