"""Pods as the Go operator writes them: made of what the PodClique holds, not of the template (WF-150 to WF-154)."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from grove_core.areas.workload.field.objects.metadata_texts import labels_by_go_operator
from grove_core.areas.workload.field.objects.used_templates import used_template
from grove_core.areas.workload.objects.lazy_manifests import object_to_create, pod_spec_with_pod_variables
from grove_core.areas.workload.objects.services_rbac_and_claims import pod_spec_with_shared_claims
from grove_core.areas.workload.pods.pod_manifest import init_container_waiting_for, pod_spec_with_init_container
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import CORE, GATE, POD_GANG, POD_INDEX
from grove_core.resources.labels import CLIQUE, SET_REPLICA
from grove_core.resources.naming_rules import pod_hostname, pod_name, service_account_token_name, set_replica_name
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.expected_replicas import ExpectedClique
from grove_core.version import IMAGE

_KAI: Final = "kai-scheduler"
_GANG_ANNOTATIONS: Final = MappingProxyType(
    {
        _KAI: ("pod-group-name",),
        "volcano": ("scheduling.volcano.sh/group-name", "scheduling.k8s.io/group-name"),
    }
)
"""Scheduler -> the annotations that name the pod's gang to it."""
_RELEASED_IMAGE: Final = "ghcr.io/ai-dynamo/grove/grove-initc:v0.1.0-alpha.12-rc1"
_KAI_ANNOTATION: Final = "kai.scheduler/skip-podgrouper"
_KAI_LABEL: Final = "kai.scheduler/subgroup-name"


def pod_manifest_by_go_operator(
    context: WorkloadContext, clique: PodClique, part: ExpectedClique, index: int, name: str
) -> ObjectToCreate:
    """Return one pod of a PodClique (WF-150 to WF-154).

    Args:
        context: the indexed snapshot.
        clique: its PodClique.
        part: the same clique as the template has it.
        index: in the clique.
        name: one that the API server could make up.
    """
    root, configuration = context.root, context.snapshot.configuration
    named = clique.pod_spec.get("schedulerName")
    scheduler = named if isinstance(named, str) and named else configuration.default_scheduler
    blank = NewObjectMetadata(
        api_version=CORE,
        kind="Pod",
        name=name,
        owner=clique,
        labels=_labels(root, clique, part, index, scheduler),
        annotations=_annotations(clique, part, scheduler),
        generate_name=pod_name(part.name, ""),
    )
    spec = FrozenMap({**clique.pod_spec, "schedulingGates": (FrozenMap({"name": GATE}),), "schedulerName": scheduler})
    spec = pod_spec_with_pod_variables(spec, root.ref.name, root.ref.namespace, part)
    hostname, subdomain = pod_hostname(part.name, index), set_replica_name(root.ref.name, part.replica)
    spec = FrozenMap({**spec, "hostname": hostname, "subdomain": subdomain})
    spec = pod_spec_with_shared_claims(spec, root, part, index)
    if clique.starts_after:
        image = _RELEASED_IMAGE if configuration.init_image == IMAGE else configuration.init_image
        container = init_container_waiting_for(_parents(root, clique), image)
        spec = pod_spec_with_init_container(spec, container, service_account_token_name(root.ref.name))
    because = WorkloadReason.POD_OF_CLIQUE.because(clique.ref, index=index, replicas=clique.replicas)
    return object_to_create(blank, {"spec": spec}, (because,))


def _parents(root: PodCliqueSet, clique: PodClique) -> Iterator[tuple[str, int]]:
    """Return name and ``minAvailable`` of the cliques that a clique starts after, by what it holds (WF-153)."""
    for name in clique.starts_after:
        template = used_template(root, name)
        if template is not None:
            yield name, template.min_available


def _gang(clique: PodClique, part: ExpectedClique) -> str:
    return str(clique.labels.get(POD_GANG, part.gang))


def _labels(root: PodCliqueSet, clique: PodClique, part: ExpectedClique, index: int, scheduler: str) -> dict[str, str]:
    """Return the clique's labels, and those that are the pod's own (WF-151)."""
    labels = labels_by_go_operator(root.ref.name) | {str(key): str(text) for key, text in clique.labels.items()}
    labels |= {
        CLIQUE.primary: part.name,
        SET_REPLICA.primary: str(part.replica),
        POD_GANG: _gang(clique, part),
        POD_INDEX: str(index),
    }
    return labels | ({_KAI_LABEL: part.name} if scheduler == _KAI else {})


def _annotations(clique: PodClique, part: ExpectedClique, scheduler: str) -> FrozenMap:
    """Return the clique's annotations, and those that its scheduler needs (WF-151, WF-152)."""
    own = dict.fromkeys(_GANG_ANNOTATIONS.get(scheduler, ()), _gang(clique, part))
    return FrozenMap({**clique.annotations, **own, **({_KAI_ANNOTATION: "true"} if scheduler == _KAI else {})})
