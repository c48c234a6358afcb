"""The parts that a set must have at rest, derived from the documents and not from the core (O1)."""

from collections.abc import Collection, Iterator

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import COMPOSITE_KIND, GROVE, POD_GROUP_KIND, WORKLOAD_KIND
from grove_core.resources.naming_rules import (
    member_clique_name,
    scaled_gang_name,
    scaling_group_name,
    set_replica_name,
    standalone_clique_name,
)
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import ScalingGroupTemplate
from grove_core.resources.scaling_group import ScalingGroup


def parts_besides_gangs(
    root: PodCliqueSet, groups: dict[str, ScalingGroup], *, spare: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield kind and name of every part of a set but its gangs, with the replicas that the scaling group objects have.

    With ``spare``, one replica more of each group: an update that can spare no replica creates one.
    """
    template = root.spec.template
    members = {name for group in template.pod_clique_scaling_groups for name in group.clique_names}
    for replica in range(root.spec.replicas):
        yield "Service", set_replica_name(root.ref.name, replica)
        for group in template.pod_clique_scaling_groups:
            yield "PodCliqueScalingGroup", scaling_group_name(root.ref.name, replica, group.name)
        for clique in template.cliques:
            if clique.name not in members:
                yield "PodClique", standalone_clique_name(root.ref.name, replica, clique.name)
    for name, index, group in _group_replicas_of(root, groups, spare=spare):
        for short in group.clique_names:
            yield "PodClique", member_clique_name(name, index, short)


def _group_replicas_of(
    root: PodCliqueSet, groups: dict[str, ScalingGroup], *, spare: bool = False
) -> Iterator[tuple[str, int, ScalingGroupTemplate]]:
    """Yield the name of a scaling group, the index of a replica of it, and its template, for each replica."""
    scaled = {group.ref: group.replicas for group in groups.values()}
    for replica in range(root.spec.replicas):
        for group in root.spec.template.pod_clique_scaling_groups:
            name = scaling_group_name(root.ref.name, replica, group.name)
            ref = Ref(GROVE, "PodCliqueScalingGroup", root.ref.namespace, name)
            for index in range(scaled.get(ref, group.replicas) + spare):
                yield name, index, group


def expected_gang_objects(
    root: PodCliqueSet,
    groups: dict[str, ScalingGroup],
    there: Collection[tuple[str, str]],
    *,
    spare: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the gangs of a set: groups where there is a root group of the gang, else a PodGang.

    Args:
        there: kind and name of the objects of the set.
    """
    in_base: dict[str, list[tuple[str, str]]] = {}
    of_set = root.spec.template.pod_clique_scaling_groups
    members = {name for group in of_set for name in group.clique_names}
    cliques = [clique.name for clique in root.spec.template.cliques if clique.name not in members]
    has_groups = False
    for name, index, group in _group_replicas_of(root, groups, spare=spare):
        pod_groups = [(POD_GROUP_KIND, member_clique_name(name, index, short)) for short in group.clique_names]
        parts = [(COMPOSITE_KIND, f"{name}-{index}"), *pod_groups]
        if index >= group.min_available:
            is_grouped = parts[0] in there
            has_groups |= is_grouped
            yield from parts if is_grouped else [("PodGang", scaled_gang_name(name, index - group.min_available))]
        else:
            in_base.setdefault(name, []).extend(parts)
    for replica in range(root.spec.replicas):
        base = set_replica_name(root.ref.name, replica)
        if (COMPOSITE_KIND, base) not in there:
            yield "PodGang", base
            continue
        has_groups = True
        yield COMPOSITE_KIND, base
        yield from ((POD_GROUP_KIND, standalone_clique_name(root.ref.name, replica, name)) for name in cliques)
        for group in of_set:
            yield from in_base.get(scaling_group_name(root.ref.name, replica, group.name), ())
    if has_groups:
        yield WORKLOAD_KIND, root.ref.name
