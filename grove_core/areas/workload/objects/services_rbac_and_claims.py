"""The Service of a replica, the RBAC objects with which pods watch their set, and shared ResourceClaims (WL-019)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

from grove_core.areas.workload.objects.lazy_manifests import LazyManifest, ObjectLabels, object_to_create
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, Json, list_at, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import ObjectToCreate, Withheld
from grove_core.resources.api_names import CLAIM_KIND, CLAIMS, COMPONENT, CORE, MANAGED_BY, OPERATOR, POD_INDEX, RBAC
from grove_core.resources.labels import (
    CLIQUE,
    GROUP,
    GROUP_REPLICA,
    SET,
    SET_REPLICA,
    labels_of_set,
    labels_of_set_object,
    labels_of_set_replica,
)
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.naming_rules import (
    rbac_role_name,
    service_account_token_name,
    set_replica_name,
    shared_claim_name,
)
from grove_core.resources.owned_object import Body, NewObjectMetadata
from grove_core.resources.pod_spec_gpus import pod_spec_with_changed_containers
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import ALL_REPLICAS, ResourceSharing
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedScalingGroup
from grove_core.snapshot.shared_claims import claims_by_resource_sharing
from grove_core.snapshot.snapshot import Snapshot

_RBAC_GROUP: Final = RBAC.partition("/")[0]
_ACCOUNT: Final = "kubernetes.io/service-account.name"
CLAIM_COMPONENT: Final = "resource-claim"
Shared: TypeAlias = Iterator[LazyManifest | Withheld]


def rbac_manifests_of_set(
    root: PodCliqueSet, labels_of: ObjectLabels = labels_of_set_object, token_name: str = ""
) -> Iterator[LazyManifest]:
    """Yield ServiceAccount, Role, RoleBinding and token Secret, which start-up init containers use (WL-011).

    Args:
        root: the set.
        labels_of: returns the labels of one object.
        token_name: of the Secret; empty for the name by the design.
    """
    name, role = root.ref.name, rbac_role_name(root.ref.name)
    token = token_name or service_account_token_name(name)
    yield LazyManifest("ServiceAccount", name, partial(_account, root, labels_of))
    yield LazyManifest("Role", role, partial(_role, root, labels_of))
    yield LazyManifest("RoleBinding", role, partial(_binding, root, labels_of))
    yield LazyManifest("Secret", token, partial(_token, root, labels_of, token))


def _account(root: PodCliqueSet, labels_of: ObjectLabels) -> ObjectToCreate:
    blank = _blank(root, labels_of, CORE, "ServiceAccount", root.ref.name, "pod-service-account")
    return _wanted(root, blank, {"automountServiceAccountToken": True}, is_foundation=True)


def _role(root: PodCliqueSet, labels_of: ObjectLabels) -> ObjectToCreate:
    watched = {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "list", "watch"]}
    blank = _blank(root, labels_of, RBAC, "Role", rbac_role_name(root.ref.name), "pod-role")
    return _wanted(root, blank, {"rules": [watched]}, is_foundation=True)


def _binding(root: PodCliqueSet, labels_of: ObjectLabels) -> ObjectToCreate:
    role = rbac_role_name(root.ref.name)
    body = {
        "roleRef": {"apiGroup": _RBAC_GROUP, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": root.ref.name, "namespace": root.ref.namespace}],
    }
    return _wanted(root, _blank(root, labels_of, RBAC, "RoleBinding", role, "pod-role-binding"), body)


def _token(root: PodCliqueSet, labels_of: ObjectLabels, name: str) -> ObjectToCreate:
    blank = _blank(root, labels_of, CORE, "Secret", name, "pod-sa-token-secret")
    of_account = replace(blank, annotations=FrozenMap({_ACCOUNT: root.ref.name}))
    return _wanted(root, of_account, {"type": "kubernetes.io/service-account-token"})


def _blank(
    root: PodCliqueSet, labels_of: ObjectLabels, api_version: str, kind: str, name: str, component: str
) -> NewObjectMetadata:
    labels = labels_of(root.ref.name, name, component)
    return NewObjectMetadata(api_version=api_version, kind=kind, name=name, owner=root, labels=labels)


def _wanted(root: PodCliqueSet, blank: NewObjectMetadata, body: Body, *, is_foundation: bool = False) -> ObjectToCreate:
    """Return the want. Account and Role come first: binding and token need them (WL-010)."""
    return object_to_create(blank, body, (WorkloadReason.POD_ACCESS.because(root.ref),), is_foundation=is_foundation)


def service_manifest_for(root: PodCliqueSet, replica: int) -> ObjectToCreate:
    """Return the headless Service of one replica, through which the host names of its pods resolve (WL-012)."""
    set_name, name = root.ref.name, set_replica_name(root.ref.name, replica)
    labels = {**labels_of_set_object(set_name, name, "pcs-headless-service"), **labels_of_set_replica(replica)}
    blank = NewObjectMetadata(api_version=CORE, kind="Service", name=name, owner=root, labels=labels)
    because = (WorkloadReason.SERVICE_OF_REPLICA.because(root.ref, replica=replica),)
    return object_to_create(blank, {"spec": replica_service_spec(root, replica)}, because, is_foundation=True)


def replica_service_spec(root: PodCliqueSet, replica: int) -> FrozenMap:
    """Return the spec of a replica's Service, which follows changes of the template (WL-025)."""
    selector = FrozenMap({MANAGED_BY: OPERATOR, SET.primary: root.ref.name, SET_REPLICA.primary: str(replica)})
    published = root.spec.template.headless_service_config.publish_not_ready_addresses
    return FrozenMap({"clusterIP": "None", "publishNotReadyAddresses": published, "selector": selector})


def claims_owned_by_set(context: WorkloadContext) -> Shared:
    """Return the claims that a set owns: one for all its replicas, or one for each."""
    root = context.root
    labels, sharing = labels_of_claims(root), root.spec.template.resource_sharing
    return claims_of_owner(context, root, sharing, range(root.spec.replicas), labels, SET_REPLICA.keys)


def shared_claims_of_scaling_group(context: WorkloadContext, group: ScalingGroup, part: ExpectedScalingGroup) -> Shared:
    """Return the claims that a scaling group owns: one for all its replicas, or one for each."""
    labels = labels_of_claims(context.root) | labels_of_set_replica(part.replica) | GROUP.under_every_key(part.name)
    sharing = part.template.resource_sharing
    return claims_of_owner(context, group, sharing, range(part.replicas), labels, GROUP_REPLICA.keys)


def claims_owned_by_podclique(
    context: WorkloadContext, clique: PodClique, part: ExpectedClique, indices: Iterable[int]
) -> Shared:
    """Return the claims that a PodClique owns: one for all its pods, or one for each.

    Args:
        clique: the existing one.
        part: the PodClique as the set expects it.
        indices: of its pods, including those that are to be created; they may have gaps.
    """
    labels = labels_of_claims(context.root) | labels_of_set_replica(part.replica) | CLIQUE.under_every_key(part.name)
    return claims_of_owner(context, clique, part.template.resource_sharing, indices, labels, (POD_INDEX,))


def labels_of_claims(root: PodCliqueSet) -> dict[str, str]:
    """Return the labels that all shared claims of a set have."""
    return {**labels_of_set(root.ref.name), COMPONENT: CLAIM_COMPONENT}


def pod_spec_with_shared_claims(
    pod_spec: FrozenMap, root: PodCliqueSet, part: ExpectedClique, pod_index: int
) -> FrozenMap:
    """Return the pod spec with every claim that its pod shares, in the pod and in each container (WL-086).

    Args:
        root: the set.
        part: the PodClique of the pod.
        pod_index: of the pod in its PodClique.
    """
    names = tuple(dict.fromkeys(claims_by_resource_sharing(root.ref.name, root.spec, part, pod_index)))
    if not names:
        return pod_spec
    in_pod = tuple(FrozenMap({"name": name, "resourceClaimName": name}) for name in names)
    claimed = FrozenMap({**pod_spec, "resourceClaims": (*list_at(pod_spec, "resourceClaims"), *in_pod)})

    def using(container: FrozenMap) -> Json:
        resources = object_under_key(container, "resources")
        claims = (*list_at(resources, "claims"), *(FrozenMap({"name": name}) for name in names))
        return FrozenMap({**container, "resources": FrozenMap({**resources, "claims": claims})})

    return pod_spec_with_changed_containers(claimed, using)


def claims_of_owner(
    context: WorkloadContext,
    owner: Resource,
    entries: Iterable[ResourceSharing],
    indices: Iterable[int],
    labels: Mapping[str, str],
    index_keys: Iterable[str],
) -> Shared:
    """Yield the claims of one owner: one for all its replicas, or one for each.

    Args:
        entries: of ``resourceSharing``.
        indices: of the replicas, or of the pods of a PodClique.
        labels: of every claim.
        index_keys: labels with the index, of a claim of one replica.
    """
    every = tuple(indices)
    for entry in entries:
        if entry.scope == ALL_REPLICAS:
            yield _claim(context, owner, entry, None, labels)
        else:
            for index in every:
                yield _claim(context, owner, entry, index, {**labels, **dict.fromkeys(index_keys, str(index))})


def _claim(
    context: WorkloadContext, owner: Resource, entry: ResourceSharing, index: int | None, labels: Mapping[str, str]
) -> LazyManifest | Withheld:
    root, name = context.root, shared_claim_name(owner.ref.name, index, entry.name)
    template = shared_claim_template_spec(context.snapshot, entry)
    if template is None:
        ref = Ref(CLAIMS, CLAIM_KIND, root.ref.namespace, name)
        full = f"{entry.namespace or root.ref.namespace}/{entry.name}"
        return Withheld(ref, (WorkloadReason.CLAIM_TEMPLATE_ELSEWHERE.because(ref, template=full),))
    return LazyManifest(CLAIM_KIND, name, partial(_claim_for, owner, entry, name, template, labels))


def shared_claim_template_spec(snapshot: Snapshot, entry: ResourceSharing) -> FrozenMap | None:
    """Return the spec of an entry's claims: its inline template, else the named object's; None where unknown.

    Source: grove-api, "Resource sharing". An entry with a namespace means an object.
    """
    root = snapshot.root
    if not entry.namespace:
        for template in root.spec.template.resource_claim_templates:
            if template.name == entry.name:
                return template.template_spec
    return snapshot.claim_templates.get((entry.namespace or root.ref.namespace, entry.name))


def _claim_for(
    owner: Resource,
    entry: ResourceSharing,
    name: str,
    template: FrozenMap,
    labels: Mapping[str, str],
) -> ObjectToCreate:
    blank = NewObjectMetadata(
        api_version=CLAIMS,
        kind=CLAIM_KIND,
        name=name,
        owner=owner,
        labels=labels,
    )
    because = WorkloadReason.SHARED_CLAIM.because(owner.ref, template=entry.name, scope=entry.scope)
    return object_to_create(blank, {"spec": template.get("spec")}, (because,), is_foundation=True)
