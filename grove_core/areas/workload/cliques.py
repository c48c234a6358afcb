"""Manifests of PodCliques and scaling groups."""

from typing import Final

from grove_core.areas.workload.blueprint import CliquePart, GroupPart
from grove_core.areas.workload.environment import with_group_variables
from grove_core.areas.workload.manifests import Blank, Json, labels_of, labels_of_clique, labels_of_replica, wanted
from grove_core.areas.workload.ordering import Ordering
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scalers import bounds_of
from grove_core.areas.workload.template_hash import template_hash
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.wants import Present
from grove_core.resources.keys import CLIQUE_FINALIZER, GROUP_FINALIZER, GROVE
from grove_core.resources.podclique import GROUP_KIND
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup

_TOPOLOGY: Final = "grove.io/topology-name"


def podclique_for(
    root: PodCliqueSet, owner: PodCliqueSet | ScalingGroup, part: CliquePart, ordering: Ordering
) -> Present:
    """A PodClique of the set, or of one of its scaling groups (WL-013, WL-015)."""
    template, spec = part.template, part.template.spec
    pod_spec = spec.pod_spec
    if part.group:
        pod_spec = with_group_variables(pod_spec, part.group_pods)
    body: Json = {
        "roleName": spec.role_name,
        "podSpec": pod_spec,
        "replicas": spec.replicas,
        "minAvailable": template.min_available,
    }
    parents = ordering.parents_of(part)
    if parents:
        body["startsAfter"] = [name for name, _ in parents]
    if spec.auto_scaling_config is not None:
        body["autoScalingConfig"] = bounds_of(spec.auto_scaling_config, spec.replicas)
    labels = labels_of_clique(root.ref.name, part, template_hash(template, root.spec.template.priority_class_name))
    blank = Blank(
        api_version=GROVE,
        kind="PodClique",
        name=part.name,
        owner=owner,
        labels=labels,
        annotations=FrozenMap({key: text for key, text in template.annotations.items() if key != _TOPOLOGY}),
        finalizer=CLIQUE_FINALIZER,
    )
    if part.group:
        because = Why.CLIQUE_OF_GROUP_REPLICA.because(
            owner.ref, replica=part.group_replica, group=part.group, clique=template.name
        )
    else:
        because = Why.CLIQUE_OF_REPLICA.because(owner.ref, replica=part.replica, clique=template.name)
    return wanted(blank, {"spec": body}, (because,))


def scaling_group_for(root: PodCliqueSet, part: GroupPart) -> Present:
    """A PodCliqueScalingGroup of one replica of the set (WL-014)."""
    template = part.template
    spec = {
        "replicas": template.replicas,
        "minAvailable": template.min_available,
        "cliqueNames": list(template.clique_names),
    }
    blank = Blank(
        api_version=GROVE,
        kind=GROUP_KIND,
        name=part.name,
        owner=root,
        labels={
            **labels_of(root.ref.name, part.name, "pcs-podcliquescalinggroup"),
            **labels_of_replica(part.replica),
        },
        annotations=template.annotations,
        finalizer=GROUP_FINALIZER,
    )
    because = Why.GROUP_OF_REPLICA.because(root.ref, replica=part.replica, group=template.name)
    return wanted(blank, {"spec": spec}, (because,))
