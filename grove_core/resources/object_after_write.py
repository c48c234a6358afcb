"""Returns what an object is after a write, for callers that wait to see their writes and for the simulated API server.

Not modelled here: resource versions, cascading deletion, and the creation and removal of whole objects.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar, assert_never

from grove_core.kernel.frozen import EMPTY, FrozenMap, list_at, object_under_key, thaw_json
from grove_core.kernel.steps import Apply, Delete, DropFinalizer, SetStatus
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import TOPOLOGY_NAME
from grove_core.resources.cluster_topology import ClusterTopology, topology_levels_in
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.merge_patch import apply_merge_patch
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import OwnedObject, is_managed_by_grove
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique, read_clique_labels
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang, pod_groups_in, podgang_constraints_in
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import object_after_status_write

Applicable: TypeAlias = PodClique | ScalingGroup | PodGang | OwnedObject | ComputeDomain | ClusterTopology
"""Objects to which Grove applies fields."""

Known: TypeAlias = Applicable | PodCliqueSet
"""Objects that Grove writes to, except pods."""

Write: TypeAlias = Apply | SetStatus | Delete | DropFinalizer
"""A write to an object that exists."""

K = TypeVar("K", bound=Known | Pod)
R = TypeVar("R", bound=Known)
A = TypeVar("A", bound=Applicable)
H = TypeVar("H", OwnedObject, ComputeDomain)


def object_after_write(item: K, write: Write) -> K:
    """Return the object after an accepted write; the same one where its kind does not show what was written."""
    return _pod_after_write(item, write) if isinstance(item, Pod) else _after_write(item, write)  # type: ignore[return-value]  # the kind stays


def _after_write(item: R, write: Write) -> R:
    match write:
        case Apply(fields):
            return item if isinstance(item, PodCliqueSet) else object_after_merge_patch(item, fields)
        case SetStatus(fields):
            if isinstance(item, OwnedObject | ComputeDomain | ClusterTopology):
                return item
            return object_after_status_write(item, fields)
        case Delete():
            return object_after_deletion_request(item)
        case DropFinalizer(finalizer):
            return without_finalizer(item, finalizer)
        case _:
            assert_never(write)


def _pod_after_write(pod: Pod, write: Write) -> Pod:
    """Return the pod after a write. Grove applies one change to a pod: the removal of its gate, or of all gates."""
    match write:
        case Apply(fields) if pod.has_grove_gate:
            left = pod.foreign_gates if object_under_key(fields, "spec").get("schedulingGates") else ()
            return replace(
                pod, has_grove_gate=False, foreign_gates=left, gated=bool(left), trouble=pod.trouble if left else ""
            )
        case Apply():
            return pod
        case Delete():
            return replace(pod, deleting=True)
        case SetStatus() | DropFinalizer():
            return pod
        case _:
            assert_never(write)


def object_after_deletion_request(item: R) -> R:
    """Return the object after its deletion was accepted; the first deletion increases its generation by one."""
    if not item.deleting and isinstance(item, PodCliqueSet | ScalingGroup | PodClique) and item.generation is not None:
        return replace(item, deleting=True, generation=item.generation + 1)
    return replace(item, deleting=True)


def without_finalizer(item: R, finalizer: str) -> R:
    """Return the object without a finalizer."""
    return replace(item, finalizers=tuple(name for name in item.finalizers if name != finalizer))


def object_after_merge_patch(item: A, fields: FrozenMap) -> A:
    """Return the object after a merge patch; its generation increases where its spec changed.

    Fields that Grove does not apply to this kind, such as a clique's ``replicas``, are ignored.
    """
    return _with_fields(item, fields)  # type: ignore[return-value]  # the kind stays


def _with_fields(item: Applicable, fields: FrozenMap) -> Applicable:
    match item:
        case PodClique():
            return _clique(item, fields)
        case ScalingGroup():
            return _group(item, fields)
        case PodGang():
            return _gang(item, fields)
        case OwnedObject():
            return _owned(item, fields)
        case ComputeDomain():
            return _domain(item, fields)
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
        min_available=_number(clique.min_available, fields, "minAvailable"),
        starts_after=_texts(clique.starts_after, fields, "startsAfter"),
    )
    if clique.generation is not None:
        before, after = (
            (one.pod_spec, one.auto_scaling, one.min_available, one.starts_after) for one in (clique, changed)
        )
        changed = replace(changed, generation=clique.generation + (before != after))
    fields_of_labels = read_clique_labels(
        JsonFieldReader(changed.labels, "", []), clique.owner_kind, clique.owner_name, clique.ref.name
    )
    if (
        fields_of_labels["replica_index"] < 0
    ):  # only its scaling group has the index, which the snapshot already took from it
        fields_of_labels["replica_index"] = clique.replica_index
    return replace(changed, **fields_of_labels)


def _group(group: ScalingGroup, fields: FrozenMap) -> ScalingGroup:
    changed = replace(
        group,
        labels=_merged(group.labels, fields, "metadata", "labels"),
        annotations=_merged(group.annotations, fields, "metadata", "annotations"),
        min_available=_number(group.min_available, fields, "minAvailable"),
        clique_names=_texts(group.clique_names, fields, "cliqueNames"),
    )
    if group.generation is None:
        return changed
    moved = (changed.min_available, changed.clique_names) != (group.min_available, group.clique_names)
    return replace(changed, generation=group.generation + moved)


def _number(stored: int, fields: FrozenMap, key: str) -> int:
    """Return a number of the spec after the fields were applied."""
    found = object_under_key(fields, "spec").get(key)
    return found if isinstance(found, int) else stored


def _texts(stored: tuple[str, ...], fields: FrozenMap, key: str) -> tuple[str, ...]:
    """Return a list of texts of the spec after the fields were applied."""
    spec = object_under_key(fields, "spec")
    return tuple(map(str, list_at(spec, key))) if key in spec else stored


def _gang(gang: PodGang, fields: FrozenMap) -> PodGang:
    spec = JsonFieldReader(thaw_json(fields), "", []).inner_object("spec")
    annotations = _merged(gang.annotations, fields, "metadata", "annotations")
    placed = JsonFieldReader(thaw_json(_merged(FrozenMap(gang.placement.spec_fields), fields, "spec")), "", [])
    placement = podgang_constraints_in(placed, str(annotations.get(TOPOLOGY_NAME) or ""))
    return replace(
        gang,
        labels=_merged(gang.labels, fields, "metadata", "labels"),
        annotations=annotations,
        placement=placement if "podgroups" in spec else placement._replace(cliques=gang.placement.cliques),
        priority=spec.text("priorityClassName") if "priorityClassName" in spec.raw else gang.priority,
        groups=pod_groups_in(spec) if "podgroups" in spec else gang.groups,
    )


def _topology(topology: ClusterTopology, fields: FrozenMap) -> ClusterTopology:
    top = JsonFieldReader(thaw_json(fields), "", [])
    meta, spec = top.inner_object("metadata"), top.inner_object("spec")
    return replace(
        topology,
        labels=_merged(topology.labels, fields, "metadata", "labels"),
        finalizers=meta.text_list("finalizers") if "finalizers" in meta else topology.finalizers,
        levels=topology_levels_in(spec) if "levels" in spec else topology.levels,
    )


def _owned(item: OwnedObject, fields: FrozenMap) -> OwnedObject:
    labels = _merged(item.labels, fields, "metadata", "labels")
    managed = is_managed_by_grove(JsonFieldReader(labels, "", []))
    return replace(_handed_over(item, fields), labels=labels, managed=managed, spec=_merged(item.spec, fields, "spec"))


def _domain(domain: ComputeDomain, fields: FrozenMap) -> ComputeDomain:
    spec = _merged(domain.spec, fields, "spec")
    return replace(
        _handed_over(domain, fields),
        labels=_merged(domain.labels, fields, "metadata", "labels"),
        spec=spec,
        num_nodes=JsonFieldReader(spec, "", []).integer("numNodes") or 0,
        stored=apply_merge_patch(domain.stored, fields),
    )


def _handed_over(item: H, fields: FrozenMap) -> H:
    """With the controller that the fields name, where they name any."""
    if "ownerReferences" not in JsonFieldReader(fields, "", []).inner_object("metadata"):
        return item
    owner = metadata_in(fields).controller
    return replace(item, owner_uid=owner.uid, owner_kind=owner.kind, owner_name=owner.name)


def _merged(stored: FrozenMap, fields: Mapping[str, Any], *path: str) -> FrozenMap:
    """The part of an object at a path after the fields of that path were applied."""
    part: Any = fields
    for step in path:
        part = part.get(step, EMPTY)
        if part is None:
            return EMPTY
    return apply_merge_patch(stored, part) if part else stored
