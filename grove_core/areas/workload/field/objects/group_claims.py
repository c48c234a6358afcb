"""The MNNVL group of new objects: the claim in a PodClique, the annotation of a scaling group (WF-115, WF-120)."""

from dataclasses import replace

from grove_core.areas.workload.template_revision import wanted_clique_pod_spec
from grove_core.kernel.frozen import EMPTY, FrozenMap, object_at
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import MNNVL_GROUP
from grove_core.resources.merge_patch import replacement_patch
from grove_core.resources.mnnvl_groups import mnnvl_group_in, pod_spec_with_group_claim
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.expected_replicas import ExpectedClique


def with_group_claim(new: ObjectToCreate, root: PodCliqueSet, part: ExpectedClique) -> ObjectToCreate:
    """Return a new PodClique with the claim of its MNNVL group in its pod spec."""
    spec = object_at(new.manifest, "spec")
    pod_spec = _claiming(object_at(spec, "podSpec"), root, part)
    return replace(new, manifest=FrozenMap({**new.manifest, "spec": FrozenMap({**spec, "podSpec": pod_spec})}))


def update_with_group_claim(
    fields: FrozenMap, root: PodCliqueSet, clique: PodClique, part: ExpectedClique
) -> FrozenMap:
    """Return the fields that update a PodClique to its template, with the claim of its MNNVL group."""
    wanted = _claiming(wanted_clique_pod_spec(part, root.spec.template.priority_class_name), root, part)
    pod_spec = replacement_patch(wanted, clique.pod_spec)
    without = {key: value for key, value in fields.items() if key != "spec"}
    return FrozenMap({**without, **({"spec": FrozenMap({"podSpec": pod_spec})} if pod_spec else {})})


def _claiming(pod_spec: FrozenMap, root: PodCliqueSet, part: ExpectedClique) -> FrozenMap:
    """Return the pod spec of a clique with the claim of its group, by its template, its scaling group or the set."""
    of_group = part.group_template.annotations if part.group_template is not None else EMPTY
    group = mnnvl_group_in(part.template.annotations, of_group, root.annotations)
    return pod_spec_with_group_claim(pod_spec, root.ref.name, part.replica, group)


def with_group_of_set(new: ObjectToCreate, root: PodCliqueSet) -> ObjectToCreate:
    """Return a new scaling group with the MNNVL group of the set where its template names none."""
    metadata = object_at(new.manifest, "metadata")
    annotations = object_at(metadata, "annotations")
    if MNNVL_GROUP not in root.annotations or MNNVL_GROUP in annotations:
        return new
    annotations = FrozenMap({**annotations, MNNVL_GROUP: root.annotations[MNNVL_GROUP]})
    return replace(
        new, manifest=FrozenMap({**new.manifest, "metadata": FrozenMap({**metadata, "annotations": annotations})})
    )
