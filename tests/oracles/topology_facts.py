"""Topology constraints of sets and the placements they require of gangs, derived from the design, not from the core."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.configuration import Configuration
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import TopologyConstraint
from grove_core.resources.podgang import (
    NO_PACK,
    NO_PLACEMENT,
    GangPackConstraint,
    PackedGroupReplica,
    PodGang,
    PodGangConstraints,
)

DEFAULT: Final = "grove-topology"
FINALIZER: Final = "grove.io/clustertopology"


def constraints_of(root: PodCliqueSet) -> list[TopologyConstraint]:
    """Return the topology constraints of a set at all three levels."""
    template = root.spec.template
    found = (
        template.topology_constraint,
        *(group.topology_constraint for group in template.pod_clique_scaling_groups),
        *(clique.topology_constraint for clique in template.cliques),
    )
    return [constraint for constraint in found if constraint is not None]


def topology_named_by(root: PodCliqueSet) -> str:
    """Return the topology that a set names, in either field; empty for none."""
    names = [root.spec.template.cluster_topology_name, *(one.topology_name for one in constraints_of(root))]
    return next(filter(None, names), "")


def topology_used_by(root: PodCliqueSet) -> str:
    """Return the topology that a set uses: the named one, or the default one; empty without a constraint."""
    return (topology_named_by(root) or DEFAULT) if constraints_of(root) else ""


def expected_placement(root: PodCliqueSet, gang: PodGang, topology: str, keys: Mapping[str, str]) -> PodGangConstraints:
    """Return the placement that a gang must have.

    Args:
        root: the set.
        gang: the gang; its name and its groups are read.
        topology: the topology that the set uses; empty for none.
        keys: domain of the topology -> node label.
    """
    if not topology:
        return NO_PLACEMENT
    template, name = root.spec.template, root.ref.name

    def pack(constraint: TopologyConstraint | None) -> GangPackConstraint:
        required, preferred = constraint.domains if constraint is not None else ("", "")
        return GangPackConstraint(keys.get(required, ""), keys.get(preferred, ""))

    members = {short: group for group in template.pod_clique_scaling_groups for short in group.clique_names}
    is_base = gang.ref.name.removeprefix(f"{name}-").isdigit()
    cliques: list[tuple[str, GangPackConstraint]] = []
    together: dict[str, tuple[list[str], GangPackConstraint]] = {}
    whole = pack(template.topology_constraint)
    for part in gang.groups:
        clique = max((one for one in template.cliques if part.name.endswith(f"-{one.name}")), key=lambda c: len(c.name))
        if pack(clique.topology_constraint) != NO_PACK:
            cliques.append((part.name, pack(clique.topology_constraint)))
        group = members.get(clique.name)
        if group is not None and group.topology_constraint is not None:
            if is_base:
                replica = part.name.removesuffix(f"-{clique.name}")
                together.setdefault(replica, ([], pack(group.topology_constraint)))[0].append(part.name)
            else:
                whole = pack(group.topology_constraint)
    return PodGangConstraints(
        topology,
        whole,
        tuple(sorted(cliques)),
        tuple(sorted(PackedGroupReplica(place, tuple(names), near) for place, (names, near) in together.items())),
    )


def required_only(placement: PodGangConstraints) -> PodGangConstraints:
    """Return a placement as groups of the Workload API can express it: required labels, and no name of a topology."""
    cliques = ((name, GangPackConstraint(pack.required)) for name, pack in placement.cliques if pack.required)
    packed = (one._replace(pack=GangPackConstraint(one.pack.required)) for one in placement.packed_groups)
    return PodGangConstraints(
        "",
        GangPackConstraint(placement.gang.required),
        tuple(cliques),
        tuple(one for one in packed if one.pack.required),
    )


def required_labels_of(gang: PodGang) -> Iterator[tuple[str, frozenset[str] | None]]:
    """Yield each node label that pods must share, with the PodCliques concerned; None for all of them."""
    placement = gang.placement
    if placement.gang.required:
        yield placement.gang.required, None
    yield from ((near.required, frozenset({name})) for name, near in placement.cliques if near.required)
    yield from ((one.pack.required, frozenset(one.cliques)) for one in placement.packed_groups if one.pack.required)


def foreign_finalizers(finalizers: Iterable[str]) -> tuple[str, ...]:
    """Return the finalizers that are not Grove's, in their order."""
    return tuple(name for name in finalizers if not name.startswith("grove.io/"))


def topology_keys(
    root: PodCliqueSet, topologies: Mapping[str, ClusterTopology], configuration: Configuration
) -> tuple[Mapping[str, str], str]:
    """Return domain -> node label of the topology that a set uses, and what is wrong with it, empty if nothing is."""
    name = topology_used_by(root)
    if not name or not configuration.topology.enabled:
        return {}, ""
    configured = (
        configuration.topology.levels if name == "grove-topology" else ()
    )  # until the operator creates it from these (TP-010)
    levels = topologies[name].levels if name in topologies else configured
    if not levels:
        return {}, f"topology {name} does not exist"
    keys = dict(levels)
    requested = {domain for one in constraints_of(root) for domain in one.domains if domain}
    lacking = sorted(requested - keys.keys())
    return keys, f"topology {name} has no domain {lacking[0]}" if lacking else ""
