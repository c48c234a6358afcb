"""PodCliques and PodCliqueScalingGroups as the Go operator writes them (WF-110 to WF-115, WF-120).

Also what it changes in existing ones (WF-102).
"""

from collections.abc import Iterator
from typing import Any, Final

from grove_core.areas.workload.field.objects.labels_and_annotations import (
    metadata_changes,
    replica_labels_by_go_operator,
)
from grove_core.areas.workload.field.objects.template_by_name_suffix import with_template_by_name_suffix
from grove_core.areas.workload.field.objects.variables import (
    pod_spec_with_variables,
    pod_spec_with_variables_in_one_place,
)
from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.objects.lazy_manifests import group_environment_variables, object_to_create
from grove_core.areas.workload.objects.podcliques_and_groups import (
    autoscaling_bounds,
    reason_of_new_clique,
    scaling_group_spec,
)
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.template_revision import normalized_pod_spec
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, freeze
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import (
    BASE_GANG,
    CLIQUE_FINALIZER,
    GROUP_FINALIZER,
    GROUP_KIND,
    GROVE,
    MNNVL_GROUP,
    POD_GANG,
    TEMPLATE_HASH,
    TOPOLOGY_NAME,
)
from grove_core.resources.labels import GROUP, GROUP_REPLICA
from grove_core.resources.merge_patch import merge_patch_of_wanted_fields, replacement_patch
from grove_core.resources.mnnvl_groups import mnnvl_group_in, pod_spec_with_group_claim
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup

_GROUP_VARIABLES: Final = tuple(variable["name"] for variable in group_environment_variables(0))


def podclique_manifest_by_go_operator(
    context: WorkloadContext,
    owner: PodCliqueSet | ScalingGroup,
    part: ExpectedClique,
    template_hash: str,
    release: WorkloadBehaviourOfRelease,
) -> ObjectToCreate:
    """Return a PodClique of the set or of one of its scaling groups (WF-110 to WF-115).

    Args:
        owner: the set, or the scaling group that the PodClique is of.
        part: the PodClique as the set expects it.
        template_hash: of its present template.
        release: of the operator.
    """
    used = with_template_by_name_suffix(context.root, part)
    blank = NewObjectMetadata(
        api_version=GROVE,
        kind="PodClique",
        name=part.name,
        owner=owner,
        labels=_labels(context.root, used, template_hash),
        annotations=_annotations(used),
        finalizer=CLIQUE_FINALIZER,
    )
    body = {**_spec(context, owner, used, release), "replicas": used.template.spec.replicas}
    return object_to_create(blank, {"spec": body}, (reason_of_new_clique(owner, part), *_defects(part, used, owner)))


def podclique_changes_by_go_operator(
    context: WorkloadContext,
    clique: PodClique,
    owner: PodCliqueSet | ScalingGroup,
    part: ExpectedClique,
    template_hash: str,
    release: WorkloadBehaviourOfRelease,
) -> FrozenMap:
    """Return the fields to change of an existing PodClique; empty for none (WF-102).

    Labels and annotations are replaced as a whole; the name of a PodGang of a newer release stays (WL-207). Of the spec
    all but ``replicas`` is compared, in normal form; where Grove's variables stand does not count.

    Args:
        clique: the existing one.
        owner, part, template_hash, release: as of :func:`podclique_manifest_by_go_operator`.
    """
    used = with_template_by_name_suffix(context.root, part)
    labels = _labels(context.root, used, template_hash)
    labels[POD_GANG] = context.foreign_gang_of_clique(part) or used.gang
    metadata = metadata_changes(FrozenMap(labels), _annotations(used), clique.labels, clique.annotations)
    wanted = _spec(context, owner, used, release)
    spec: dict[str, Json] = {}
    pod_spec = wanted["podSpec"]
    if pod_spec != clique.pod_spec and _comparable(pod_spec) != _comparable(clique.pod_spec):
        spec["podSpec"] = replacement_patch(pod_spec, clique.pod_spec)
    if wanted["minAvailable"] != clique.min_available:
        spec["minAvailable"] = wanted["minAvailable"]
    parents = wanted.get("startsAfter", ())
    if parents != clique.starts_after:
        spec["startsAfter"] = parents or None
    bounds = wanted.get("autoScalingConfig", EMPTY)
    if merge_patch_of_wanted_fields(bounds, clique.auto_scaling) or bounds.keys() != clique.auto_scaling.keys():
        spec["autoScalingConfig"] = replacement_patch(bounds, clique.auto_scaling) if bounds else None
    return _changed_parts(metadata, spec)


def _comparable(pod_spec: FrozenMap) -> FrozenMap:
    return normalized_pod_spec(pod_spec_with_variables_in_one_place(pod_spec, _GROUP_VARIABLES))


def _spec(
    context: WorkloadContext,
    owner: PodCliqueSet | ScalingGroup,
    used: ExpectedClique,
    release: WorkloadBehaviourOfRelease,
) -> dict[str, Any]:
    """Return the spec without ``replicas``; fields that are empty are left out (WF-111)."""
    template = used.template.spec
    body: dict[str, Any] = {
        "roleName": template.role_name,
        "podSpec": _pod_spec(context.root, owner, used, release),
        "minAvailable": used.template.min_available,
    }
    parents = context.startup_order.parents_of_clique(used)
    if parents:
        body["startsAfter"] = tuple(name for name, _ in parents)
    if template.auto_scaling_config is not None:
        body["autoScalingConfig"] = freeze(autoscaling_bounds(template.auto_scaling_config, template.replicas))
    return body


def _pod_spec(
    root: PodCliqueSet, owner: PodCliqueSet | ScalingGroup, used: ExpectedClique, release: WorkloadBehaviourOfRelease
) -> FrozenMap:
    """Return the pod spec: the template's, with the variables of its group and the claim of its MNNVL group.

    The priority class of the set is not written into it (WF-112, WF-115).
    """
    pod_spec = used.template.spec.pod_spec
    if used.group is not None:
        pod_spec = pod_spec_with_variables(pod_spec, group_environment_variables(used.group.pods), release)
    group = mnnvl_group_in(used.template.annotations, owner.annotations)
    return pod_spec_with_group_claim(pod_spec, root.ref.name, used.replica, group)


def _labels(root: PodCliqueSet, used: ExpectedClique, template_hash: str) -> dict[str, str]:
    """Return the template's labels, overridden by the operator's (WF-101, WF-113)."""
    component = "pcsg-podclique" if used.group else "pcs-podclique"
    own = replica_labels_by_go_operator(root.ref.name, used.name, component, used.replica)
    own |= {POD_GANG: used.gang, TEMPLATE_HASH: template_hash}
    if used.group is not None:
        own |= {GROUP.primary: used.group.name, GROUP_REPLICA.primary: str(used.group.replica)}
    if used.base_gang:
        own[BASE_GANG] = used.base_gang
    return {str(key): str(text) for key, text in used.template.labels.items()} | own


def _annotations(used: ExpectedClique) -> FrozenMap:
    """Return the template's annotations without the name of a topology (WF-113)."""
    return FrozenMap({key: text for key, text in used.template.annotations.items() if key != TOPOLOGY_NAME})


def _defects(part: ExpectedClique, used: ExpectedClique, owner: PodCliqueSet | ScalingGroup) -> Iterator[Reason]:
    """Yield the reason that names another clique's template, which is a defect of the operator (WF-110)."""
    if used is not part:
        own, other = part.template.name, used.template.name
        yield GoOperatorWorkloadReason.TEMPLATE_OF_ANOTHER_CLIQUE.because(owner.ref, clique=own, other=other)


def scaling_group_manifest_by_go_operator(root: PodCliqueSet, part: ExpectedScalingGroup) -> ObjectToCreate:
    """Return the PodCliqueScalingGroup of one replica of the set (WF-120)."""
    blank = NewObjectMetadata(
        api_version=GROVE,
        kind=GROUP_KIND,
        name=part.name,
        owner=root,
        labels=_group_labels(root, part),
        annotations=_group_annotations(root, part),
        finalizer=GROUP_FINALIZER,
    )
    because = WorkloadReason.GROUP_OF_REPLICA.because(root.ref, replica=part.replica, group=part.template.name)
    return object_to_create(blank, {"spec": scaling_group_spec(part.template)}, (because,))


def scaling_group_changes_by_go_operator(
    root: PodCliqueSet, group: ScalingGroup, part: ExpectedScalingGroup
) -> FrozenMap:
    """Return the fields to change of an existing scaling group; empty for none. Its replicas stay (WF-102)."""
    labels, annotations = FrozenMap(_group_labels(root, part)), _group_annotations(root, part)
    metadata = metadata_changes(labels, annotations, group.labels, group.annotations)
    spec: dict[str, Json] = {}
    if part.template.min_available != group.min_available:
        spec["minAvailable"] = part.template.min_available
    if part.template.clique_names != group.clique_names:
        spec["cliqueNames"] = part.template.clique_names
    return _changed_parts(metadata, spec)


def _changed_parts(metadata: FrozenMap, spec: dict[str, Json]) -> FrozenMap:
    """Return the patch of an object, without a part in which nothing changes."""
    parts = {"metadata": metadata, "spec": FrozenMap(spec)}
    return FrozenMap({key: part for key, part in parts.items() if part})


def _group_labels(root: PodCliqueSet, part: ExpectedScalingGroup) -> dict[str, str]:
    return replica_labels_by_go_operator(root.ref.name, part.name, "pcs-podcliquescalinggroup", part.replica)


def _group_annotations(root: PodCliqueSet, part: ExpectedScalingGroup) -> FrozenMap:
    """Return the template's annotations, and the MNNVL group of the set where the template names none (WF-120)."""
    of_set = {MNNVL_GROUP: root.annotations[MNNVL_GROUP]} if MNNVL_GROUP in root.annotations else {}
    return FrozenMap({**of_set, **part.template.annotations})
