"""Pods as the Go operator writes them: made of what the PodClique holds, not of the template (WF-150 to WF-154)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.field.objects.labels_and_annotations import labels_by_go_operator
from grove_core.areas.workload.field.objects.template_by_name_suffix import template_by_name_suffix
from grove_core.areas.workload.field.objects.variables import pod_spec_with_variables
from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.objects.lazy_manifests import object_to_create, pod_environment_variables
from grove_core.areas.workload.objects.services_rbac_and_claims import pod_spec_with_shared_claims
from grove_core.areas.workload.pods.pod_manifest import init_container_waiting_for, pod_spec_with_init_container
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, text_under_key
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import CORE, GATE, POD_GANG, POD_INDEX, SCHEDULER_FIELD
from grove_core.resources.labels import CLIQUE, SET_REPLICA
from grove_core.resources.naming_rules import pod_hostname, pod_name, set_replica_name
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.expected_replicas import ExpectedClique
from grove_core.version import IMAGE

_VOLCANO: Final = "volcano"
_VOLCANO_ANNOTATIONS: Final = ("scheduling.volcano.sh/group-name", "scheduling.k8s.io/group-name")
_KAI: Final = "kai-scheduler"
_KAI_GROUP: Final = "pod-group-name"
_KAI_ANNOTATION: Final = "kai.scheduler/skip-podgrouper"
_KAI_LABEL: Final = "kai.scheduler/subgroup-name"
_RELEASED_IMAGE: Final = "ghcr.io/ai-dynamo/grove/grove-initc:v0.1.0-alpha.12-rc1"


def pod_manifest_by_go_operator(
    context: WorkloadContext,
    clique: PodClique,
    part: ExpectedClique,
    index: int,
    name: str,
    release: WorkloadBehaviourOfRelease,
) -> ObjectToCreate:
    """Return one pod of a PodClique (WF-150 to WF-154).

    Args:
        context: the indexed snapshot.
        clique: its PodClique.
        part: the same clique as the template has it.
        index: in the clique.
        name: one that the API server could make up.
        release: of the operator.
    """
    root, configuration = context.root, context.snapshot.configuration
    scheduler = text_under_key(clique.pod_spec, SCHEDULER_FIELD) or configuration.default_scheduler
    more_labels, more_annotations = _texts_for(scheduler, release, _gang(clique, part), part)
    blank = NewObjectMetadata(
        api_version=CORE,
        kind="Pod",
        name=name,
        owner=clique,
        labels=_labels(root, clique, part, index) | more_labels,
        annotations=FrozenMap({**clique.annotations, **more_annotations}),
        generate_name=pod_name(part.name, ""),
    )
    spec = FrozenMap({**clique.pod_spec, "schedulingGates": (FrozenMap({"name": GATE}),), SCHEDULER_FIELD: scheduler})
    spec = pod_spec_with_variables(spec, pod_environment_variables(root.ref.name, root.ref.namespace, part), release)
    hostname, subdomain = pod_hostname(part.name, index), set_replica_name(root.ref.name, part.replica)
    spec = FrozenMap({**spec, "hostname": hostname, "subdomain": subdomain})
    spec = pod_spec_with_shared_claims(spec, root, part, index)
    if clique.starts_after:
        image = _RELEASED_IMAGE if configuration.init_image == IMAGE else configuration.init_image
        container = init_container_waiting_for(_parents(root, clique), image)
        spec = pod_spec_with_init_container(spec, container, release.token_name(root.ref.name))
    because = WorkloadReason.POD_OF_CLIQUE.because(clique.ref, index=index, replicas=clique.replicas)
    return object_to_create(blank, {"spec": spec}, (because,))


def _parents(root: PodCliqueSet, clique: PodClique) -> Iterator[tuple[str, int]]:
    """Yield name and ``minAvailable`` of each clique that a clique starts after, by what it holds (WF-153)."""
    for name in clique.starts_after:
        template = template_by_name_suffix(root, name)
        if template is not None:
            yield name, template.min_available


def _gang(clique: PodClique, part: ExpectedClique) -> str:
    return str(clique.labels.get(POD_GANG, part.gang))


def _labels(root: PodCliqueSet, clique: PodClique, part: ExpectedClique, index: int) -> dict[str, str]:
    """Return the clique's labels, and those that are the pod's own (WF-151)."""
    labels = labels_by_go_operator(root.ref.name) | {str(key): str(text) for key, text in clique.labels.items()}
    return labels | {
        CLIQUE.primary: part.name,
        SET_REPLICA.primary: str(part.replica),
        POD_GANG: _gang(clique, part),
        POD_INDEX: str(index),
    }


def _texts_for(
    scheduler: str, release: WorkloadBehaviourOfRelease, gang: str, part: ExpectedClique
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels and annotations by which a scheduler finds the gang of a pod (WF-152)."""
    if scheduler == _VOLCANO:
        return {}, dict.fromkeys(_VOLCANO_ANNOTATIONS, gang)
    if scheduler == _KAI and release.names_gang_to_kai:
        return {_KAI_LABEL: part.name}, {_KAI_ANNOTATION: "true", _KAI_GROUP: gang}
    return {}, {}
