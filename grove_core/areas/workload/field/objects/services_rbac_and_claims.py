"""Services, RBAC objects, autoscalers and shared claims as the Go operator writes them (WF-140 to WF-143)."""

from collections.abc import Iterator

from grove_core.areas.workload.field.objects.labels_and_annotations import (
    labels_by_go_operator,
    object_labels_by_go_operator,
    replica_labels_by_go_operator,
)
from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.objects.lazy_manifests import LazyManifest, object_to_create
from grove_core.areas.workload.objects.podcliques_and_groups import autoscaler_manifest_for
from grove_core.areas.workload.objects.services_rbac_and_claims import (
    CLAIM_COMPONENT,
    Shared,
    claims_of_owner,
    rbac_manifests_of_set,
    replica_service_spec,
)
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import COMPONENT, CORE, POD_INDEX
from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET_REPLICA
from grove_core.resources.naming_rules import set_replica_name
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import AutoScalingConfiguration
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup


def service_manifest_by_go_operator(root: PodCliqueSet, replica: int) -> ObjectToCreate:
    """Return the headless Service of one replica of the set; a ``false`` is left out of its spec (WF-140)."""
    name, spec = set_replica_name(root.ref.name, replica), replica_service_spec(root, replica)
    labels = replica_labels_by_go_operator(root.ref.name, name, "pcs-headless-service", replica)
    blank = NewObjectMetadata(api_version=CORE, kind="Service", name=name, owner=root, labels=labels)
    because = WorkloadReason.SERVICE_OF_REPLICA.because(root.ref, replica=replica)
    body = {"spec": FrozenMap({key: value for key, value in spec.items() if value is not False})}
    return object_to_create(blank, body, (because,), is_foundation=True)


def go_operator_rbac_manifests_of_set(
    root: PodCliqueSet, release: WorkloadBehaviourOfRelease
) -> Iterator[LazyManifest]:
    """Return ServiceAccount, Role, RoleBinding and token Secret of a set (WF-141)."""
    return rbac_manifests_of_set(root, object_labels_by_go_operator, release.token_name(root.ref.name))


def autoscaler_manifest_by_go_operator(
    root: PodCliqueSet, kind: str, name: str, scaling: AutoScalingConfiguration, replicas: int
) -> ObjectToCreate:
    """Return the autoscaler of the clique or scaling group of this kind and name (WF-142).

    Args:
        kind, name: of the scaled object; the autoscaler has the same name.
        replicas: of the template; the lower bound where none is written.
    """
    return autoscaler_manifest_for(root, kind, name, scaling, replicas, object_labels_by_go_operator)


def claims_of_set_by_go_operator(context: WorkloadContext) -> Shared:
    """Return the claims that a set owns (WF-143)."""
    root = context.root
    sharing, labels = root.spec.template.resource_sharing, _claim_labels(root)
    return claims_of_owner(context, root, sharing, range(root.spec.replicas), labels, (SET_REPLICA.primary,))


def claims_of_scaling_group_by_go_operator(
    context: WorkloadContext, group: ScalingGroup, part: ExpectedScalingGroup
) -> Shared:
    """Return the claims that a scaling group owns (WF-143)."""
    sharing, labels = part.template.resource_sharing, {**_claim_labels(context.root), GROUP.primary: part.name}
    return claims_of_owner(context, group, sharing, range(group.replicas), labels, (GROUP_REPLICA.primary,))


def claims_of_podclique_by_go_operator(context: WorkloadContext, clique: PodClique, part: ExpectedClique) -> Shared:
    """Return the claims that a PodClique owns: an index for each of its replicas, whatever pods it has (WF-143)."""
    sharing, labels = part.template.resource_sharing, {**_claim_labels(context.root), CLIQUE.primary: part.name}
    return claims_of_owner(context, clique, sharing, range(clique.replicas), labels, (POD_INDEX,))


def _claim_labels(root: PodCliqueSet) -> dict[str, str]:
    return {**labels_by_go_operator(root.ref.name), COMPONENT: CLAIM_COMPONENT}
