"""Manifests of PodCliques and PodCliqueScalingGroups with their autoscalers, and their changes."""

from typing import Final

from grove_core.areas.workload.objects.lazy_manifests import ObjectLabels, labels_of_clique, object_to_create
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.template_revision import wanted_clique_annotations, wanted_clique_pod_spec
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, freeze
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import (
    AUTOSCALING,
    CLIQUE_FINALIZER,
    DOMAIN_TEMPLATE,
    GROUP_FINALIZER,
    GROUP_KIND,
    GROVE,
    TEMPLATE_HASH,
)
from grove_core.resources.domain_sharing import MNNVL_ANNOTATIONS as MNNVL_KEYS
from grove_core.resources.domain_sharing import shared_claim_entry
from grove_core.resources.labels import is_grove_key, labels_of_set_object, labels_of_set_replica
from grove_core.resources.merge_patch import (
    labels_or_annotations_to_change,
    merge_patch_of_wanted_fields,
    replacement_patch,
)
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.pod_spec_gpus import pod_spec_with_gpu_claim
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import AutoScalingConfiguration, ScalingGroupTemplate
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup

_METRICS_OF_SERVER: Final = freeze(
    [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]
)


def autoscaler_manifest_for(
    root: PodCliqueSet,
    kind: str,
    name: str,
    scaling: AutoScalingConfiguration,
    replicas: int,
    labels_of: ObjectLabels = labels_of_set_object,
) -> ObjectToCreate:
    """Return the autoscaler of the clique or scaling group of this kind and name, which is its own name too (WL-018).

    Args:
        kind, name: of the scaled object.
        replicas: of the template; the lower bound where none is written.
        labels_of: returns the labels of one object.
    """
    bounds = autoscaling_bounds(scaling, replicas)
    spec = {"scaleTargetRef": {"apiVersion": GROVE, "kind": kind, "name": name}, **bounds}
    blank = NewObjectMetadata(
        api_version=AUTOSCALING,
        kind="HorizontalPodAutoscaler",
        name=name,
        owner=root,
        labels=labels_of(root.ref.name, name, "pcs-hpa"),
    )
    because = WorkloadReason.AUTOSCALED.because(
        root.ref,
        name=f"{kind}/{name}",
        least=replicas if scaling.min_replicas is None else scaling.min_replicas,
        most=scaling.max_replicas,
    )
    return object_to_create(blank, {"spec": spec}, (because,))


def removed_autoscaler_metrics(wanted: FrozenMap, stored: FrozenMap) -> FrozenMap:
    """Return the metrics that the template no longer has, as null; metrics that the API server filled in stay."""
    metrics = stored.get("metrics")
    is_left = bool(metrics) and "metrics" not in wanted and metrics != _METRICS_OF_SERVER
    return FrozenMap({"metrics": None} if is_left else {})


def autoscaling_bounds(scaling: AutoScalingConfiguration, replicas: int) -> dict[str, object]:
    """Return the bounds and metrics as PodCliques and autoscalers have them; ``replicas`` is the template's."""
    bounds: dict[str, object] = {
        "minReplicas": replicas if scaling.min_replicas is None else scaling.min_replicas,
        "maxReplicas": scaling.max_replicas,
    }
    if scaling.metrics:
        bounds["metrics"] = list(scaling.metrics)
    return bounds


def podclique_manifest_for(
    context: WorkloadContext,
    owner: PodCliqueSet | ScalingGroup,
    part: ExpectedClique,
    inputs: WorkloadInputs,
    template_hash: str,
) -> ObjectToCreate:
    """Return a PodClique with this template hash, of the set or of one of its scaling groups (WL-013, WL-015).

    It names the ResourceClaimTemplate of its ComputeDomain (MN-020), which is that of its scaling group (MN-021), and
    has the MNNVL annotations that it inherits from its set or scaling group (MS-010).

    Args:
        owner: the set, or the scaling group that the PodClique is of.
        part: the PodClique as the set expects it.
        inputs: the ComputeDomains and MNNVL annotations of new PodCliques.
        template_hash: of its present template.
    """
    root, template, spec = context.root, part.template, part.template.spec
    of_group = str(owner.annotations.get(DOMAIN_TEMPLATE, "")) if isinstance(owner, ScalingGroup) else ""
    claim_template = of_group or inputs.clique_domains.templates.get(part.replica, "")
    inherited = inputs.mnnvl_annotations.get(template.name, EMPTY)
    body: dict[str, object] = {
        "roleName": spec.role_name,
        "podSpec": wanted_clique_pod_spec(part, root.spec.template.priority_class_name),
        "replicas": spec.replicas,
        "minAvailable": template.min_available,
    }
    parents = context.startup_order.parents_of_clique(part)
    if parents:
        body["startsAfter"] = [name for name, _ in parents]
    if spec.auto_scaling_config is not None:
        body["autoScalingConfig"] = autoscaling_bounds(spec.auto_scaling_config, spec.replicas)
    blank = NewObjectMetadata(
        api_version=GROVE,
        kind="PodClique",
        name=part.name,
        owner=owner,
        labels=labels_of_clique(root.ref.name, part, template_hash),
        annotations=_with_claim_template(FrozenMap({**wanted_clique_annotations(part), **inherited}), claim_template),
        finalizer=CLIQUE_FINALIZER,
    )
    return object_to_create(blank, {"spec": body}, (reason_of_new_clique(owner, part),))


def reason_of_new_clique(owner: PodCliqueSet | ScalingGroup, part: ExpectedClique) -> Reason:
    """Return why a PodClique is created (WL-013, WL-015, WL-220)."""
    group = part.group
    if group is None:
        return WorkloadReason.CLIQUE_OF_REPLICA.because(owner.ref, replica=part.replica, clique=part.template.name)
    if group.surplus:
        return WorkloadReason.SURGE_REPLICA.because(owner.ref, replica=group.replica, group=group.name)
    return WorkloadReason.CLIQUE_OF_GROUP_REPLICA.because(
        owner.ref, replica=group.replica, group=group.name, clique=part.template.name
    )


def podclique_changes_without_rollout(context: WorkloadContext, clique: PodClique, part: ExpectedClique) -> FrozenMap:
    """Return the fields to change of an up-to-date clique that its pods do not depend on; empty for none.

    These are the bounds of its autoscaler (WL-025), and a template hash that was removed (WL-211).
    """
    fields: dict[str, Json] = {}
    if not clique.template_hash:
        lost = context.revision.hash_of_removed_template(clique, part, context.pods_of_clique(clique))
        fields["metadata"] = FrozenMap({"labels": FrozenMap({TEMPLATE_HASH: lost})})
    scaling = part.template.spec.auto_scaling_config
    if part.group:
        return FrozenMap(fields)
    bounds = freeze(autoscaling_bounds(scaling, part.template.spec.replicas)) if scaling is not None else None
    differs = _changed_bounds(bounds, clique.auto_scaling) if isinstance(bounds, FrozenMap) else bounds
    if differs or (differs is None and clique.auto_scaling):
        fields["spec"] = FrozenMap({"autoScalingConfig": differs})
    return FrozenMap(fields)


def _changed_bounds(bounds: FrozenMap, stored: FrozenMap) -> FrozenMap:
    """Return the bounds that differ, and null for those that the template no longer has (WL-025)."""
    return FrozenMap(
        {**merge_patch_of_wanted_fields(bounds, stored), **{key: None for key in stored if key not in bounds}}
    )


def scaling_group_annotation_changes(group: ScalingGroup, part: ExpectedScalingGroup) -> FrozenMap:
    """Return the annotations of a scaling group that differ from the template; empty for none (WL-025)."""
    annotations = labels_or_annotations_to_change(_template_annotations(part), group.annotations)
    return FrozenMap({"metadata": FrozenMap({"annotations": annotations})}) if annotations else EMPTY


def podclique_template_update_fields(
    context: WorkloadContext, clique: PodClique, part: ExpectedClique, template_hash: str
) -> FrozenMap:
    """Return the fields that update a PodClique to the present template of this hash; null removes a field (WL-213).

    Args:
        clique: the existing one.
        part: the PodClique as the set expects it.
        template_hash: of its present template.
    """
    root, claim = context.root, shared_claim_entry(clique.pod_spec)
    labels = FrozenMap(labels_of_clique(root.ref.name, part, template_hash))
    wanted_spec = wanted_clique_pod_spec(part, root.spec.template.priority_class_name)
    wanted_spec = wanted_spec if claim is None else pod_spec_with_gpu_claim(wanted_spec, claim)  # MS-032
    pod_spec = replacement_patch(wanted_spec, clique.pod_spec)
    annotations = FrozenMap(
        {key: text for key, text in wanted_clique_annotations(part).items() if key not in MNNVL_KEYS}
    )
    metadata = {
        "labels": _text_changes(labels, clique.labels),
        "annotations": _text_changes(annotations, clique.annotations),
    }
    fields = {"metadata": FrozenMap({key: texts for key, texts in metadata.items() if texts})}
    return FrozenMap(fields | ({"spec": FrozenMap({"podSpec": pod_spec})} if pod_spec else {}))


def _text_changes(wanted: FrozenMap, stored: FrozenMap) -> FrozenMap:
    """Return the change to the template's texts; texts that other areas of Grove wrote stay."""
    kept = {key: text for key, text in stored.items() if is_grove_key(key) and key not in wanted}
    return replacement_patch(FrozenMap({**kept, **wanted}), stored)


def _template_annotations(part: ExpectedScalingGroup) -> FrozenMap:
    """Return the annotations of a scaling group that come from its template."""
    return FrozenMap({key: text for key, text in part.template.annotations.items() if key != DOMAIN_TEMPLATE})


def _with_claim_template(annotations: FrozenMap, joined: str) -> FrozenMap:
    """Return annotations with the ResourceClaimTemplate of a ComputeDomain, if there is one (MN-020)."""
    return FrozenMap({**annotations, DOMAIN_TEMPLATE: joined}) if joined else annotations


def scaling_group_manifest_for(
    root: PodCliqueSet, part: ExpectedScalingGroup, inputs: WorkloadInputs
) -> ObjectToCreate:
    """Return the PodCliqueScalingGroup of one replica of the set; it joins the domain of the replica (WL-014)."""
    template = part.template
    blank = NewObjectMetadata(
        api_version=GROVE,
        kind=GROUP_KIND,
        name=part.name,
        owner=root,
        labels={
            **labels_of_set_object(root.ref.name, part.name, "pcs-podcliquescalinggroup"),
            **labels_of_set_replica(part.replica),
        },
        annotations=_with_claim_template(
            _template_annotations(part), inputs.clique_domains.templates.get(part.replica, "")
        ),
        finalizer=GROUP_FINALIZER,
    )
    because = WorkloadReason.GROUP_OF_REPLICA.because(root.ref, replica=part.replica, group=template.name)
    return object_to_create(blank, {"spec": scaling_group_spec(template)}, (because,))


def scaling_group_spec(template: ScalingGroupTemplate) -> FrozenMap:
    """Return the spec of a new PodCliqueScalingGroup."""
    names, least = template.clique_names, template.min_available
    return FrozenMap({"replicas": template.replicas, "minAvailable": least, "cliqueNames": names})
