"""What a write of some fields makes of an object (the model of a patch: null removes, lists are replaced)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias, assert_never

from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.resources.cluster_topology import ClusterTopology, levels_in
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.fields import Fields
from grove_core.resources.keys import TEMPLATE_HASH, TOPOLOGY_NAME
from grove_core.resources.meta import NO_TEXTS, read_identity, read_label, read_labels
from grove_core.resources.overlay import overlaid
from grove_core.resources.owned import Owned
from grove_core.resources.placement import placement_in
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang, groups_in
from grove_core.resources.scaling_group import ScalingGroup

Applicable: TypeAlias = PodClique | ScalingGroup | PodGang | Owned | ComputeDomain | ClusterTopology


def with_fields(item: Applicable, fields: FrozenMap) -> Applicable:
    """The object after these fields were applied; its generation moves where it has one and its spec changed."""
    match item:
        case PodClique():
            return _clique(item, fields)
        case ScalingGroup():
            return replace(item, annotations=_merged(item.annotations, fields, "metadata", "annotations"))
        case PodGang():
            return _gang(item, fields)
        case Owned() | ComputeDomain():
            return replace(_handed_over(item, fields), spec=_merged(item.spec, fields, "spec"))
        case ClusterTopology():
            return _topology(item, fields)
        case _:
            assert_never(item)


def _clique(clique: PodClique, fields: FrozenMap) -> PodClique:
    changed = replace(
        clique,
        labels=_merged(clique.labels, fields, "metadata", "labels"),
        annotations=_merged(clique.annotations, fields, "metadata", "annotations"),
        pod_spec=_merged(clique.pod_spec, fields, "spec", "podSpec"),
        auto_scaling=_merged(clique.auto_scaling, fields, "spec", "autoScalingConfig"),
    )
    if clique.generation is not None:
        moved = (changed.pod_spec, changed.auto_scaling) != (clique.pod_spec, clique.auto_scaling)
        changed = replace(changed, generation=clique.generation + moved)
    labels = Fields({"metadata": {"labels": changed.labels}}, "", [])
    return replace(changed, template_hash=read_label(read_labels(labels), TEMPLATE_HASH))


def _gang(gang: PodGang, fields: FrozenMap) -> PodGang:
    spec = Fields(thaw(fields), "", []).part("spec")
    annotations = _merged(gang.annotations, fields, "metadata", "annotations")
    placed = Fields(thaw(_merged(FrozenMap(gang.placement.of_gang), fields, "spec")), "", [])
    placement = placement_in(placed, str(annotations.get(TOPOLOGY_NAME) or ""))
    return replace(
        gang,
        labels=_merged(gang.labels, fields, "metadata", "labels"),
        annotations=annotations,
        placement=placement if "podgroups" in spec else placement._replace(cliques=gang.placement.cliques),
        priority=spec.text("priorityClassName") if "priorityClassName" in spec else gang.priority,
        groups=groups_in(spec) if "podgroups" in spec else gang.groups,
    )


def _topology(topology: ClusterTopology, fields: FrozenMap) -> ClusterTopology:
    top = Fields(thaw(fields), "", [])
    meta, spec = top.part("metadata"), top.part("spec")
    return replace(
        topology,
        labels=_merged(topology.labels, fields, "metadata", "labels"),
        finalizers=meta.texts("finalizers") if "finalizers" in meta else topology.finalizers,
        levels=levels_in(spec) if "levels" in spec else topology.levels,
    )


def _handed_over(item: Owned | ComputeDomain, fields: FrozenMap) -> Owned | ComputeDomain:
    """With the controller that the fields name, where they name any."""
    top = Fields(thaw(fields), "", [])
    if "ownerReferences" not in top.part("metadata"):
        return item
    owner = read_identity(top, item.ref.api_version, item.ref.kind, None)
    return replace(item, owner_uid=owner["owner_uid"], owner_kind=owner["owner_kind"], owner_name=owner["owner_name"])


def _merged(stored: FrozenMap, fields: Mapping[str, Any], *path: str) -> FrozenMap:
    """The part of an object at a path after the fields of that path were applied."""
    part: Any = fields
    for step in path:
        part = part.get(step, NO_TEXTS)
        if part is None:
            return NO_TEXTS
    return overlaid(stored, part) if part else stored
