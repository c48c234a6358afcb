"""PodCliqueScalingGroups as the Go operator writes them (WF-120), and what it changes in an existing one (WF-102)."""

from grove_core.areas.workload.field.objects.metadata_texts import metadata_changes, replica_labels_by_go_operator
from grove_core.areas.workload.objects.lazy_manifests import object_to_create
from grove_core.areas.workload.objects.podcliques_and_groups import scaling_group_spec
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import GROUP_FINALIZER, GROVE, MNNVL_GROUP
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podclique import GROUP_KIND
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedGroup


def scaling_group_manifest_by_go_operator(root: PodCliqueSet, part: ExpectedGroup) -> ObjectToCreate:
    """Return the PodCliqueScalingGroup of one replica of the set (WF-120)."""
    blank = NewObjectMetadata(
        api_version=GROVE,
        kind=GROUP_KIND,
        name=part.name,
        owner=root,
        labels=_labels(root, part),
        annotations=_annotations(root, part),
        finalizer=GROUP_FINALIZER,
    )
    because = WorkloadReason.GROUP_OF_REPLICA.because(root.ref, replica=part.replica, group=part.template.name)
    return object_to_create(blank, {"spec": scaling_group_spec(part.template)}, (because,))


def scaling_group_changes_by_go_operator(root: PodCliqueSet, group: ScalingGroup, part: ExpectedGroup) -> FrozenMap:
    """Return the fields to change of an existing scaling group; empty for none. Its replicas stay (WF-102)."""
    labels, annotations = FrozenMap(_labels(root, part)), _annotations(root, part)
    metadata = metadata_changes(labels, annotations, group.labels, group.annotations)
    spec: dict[str, Json] = {}
    if part.template.min_available != group.min_available:
        spec["minAvailable"] = part.template.min_available
    if part.template.clique_names != group.clique_names:
        spec["cliqueNames"] = part.template.clique_names
    return FrozenMap(
        {
            **({"metadata": metadata} if metadata else {}),
            **({"spec": FrozenMap(spec)} if spec else {}),
        }
    )


def _labels(root: PodCliqueSet, part: ExpectedGroup) -> dict[str, str]:
    return replica_labels_by_go_operator(root.ref.name, part.name, "pcs-podcliquescalinggroup", part.replica)


def _annotations(root: PodCliqueSet, part: ExpectedGroup) -> FrozenMap:
    """Return the template's annotations, and the MNNVL group of the set where the template names none (WF-120)."""
    of_set = {MNNVL_GROUP: root.annotations[MNNVL_GROUP]} if MNNVL_GROUP in root.annotations else {}
    return FrozenMap({**of_set, **part.template.annotations})
