"""The headless Service of a replica, and the RBAC objects with which pods watch the pods of their set."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from grove_core.areas.workload.objects.lazy_manifests import LazyManifest, object_to_create
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import CORE, MANAGED_BY, OPERATOR, RBAC
from grove_core.resources.labels import SET, SET_REPLICA, labels_of_replica, labels_of_set_object
from grove_core.resources.naming_rules import replica_name, role_name, token_secret_name
from grove_core.resources.owned_object import Body, NewObject
from grove_core.resources.podcliqueset import PodCliqueSet

_RBAC_GROUP: Final = RBAC.partition("/")[0]
_ACCOUNT: Final = "kubernetes.io/service-account.name"


def rbac_manifests(root: PodCliqueSet) -> Iterator[LazyManifest]:
    """Return ServiceAccount, Role, RoleBinding and token Secret, which start-up init containers use (WL-011)."""
    name, role = root.ref.name, role_name(root.ref.name)
    yield LazyManifest("ServiceAccount", name, partial(_account, root))
    yield LazyManifest("Role", role, partial(_role, root))
    yield LazyManifest("RoleBinding", role, partial(_binding, root))
    yield LazyManifest("Secret", token_secret_name(name), partial(_token, root))


def _account(root: PodCliqueSet) -> ObjectToCreate:
    blank = _blank(root, CORE, "ServiceAccount", root.ref.name, "pod-service-account")
    return _wanted(root, blank, {"automountServiceAccountToken": True}, is_foundation=True)


def _role(root: PodCliqueSet) -> ObjectToCreate:
    watched = {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "list", "watch"]}
    blank = _blank(root, RBAC, "Role", role_name(root.ref.name), "pod-role")
    return _wanted(root, blank, {"rules": [watched]}, is_foundation=True)


def _binding(root: PodCliqueSet) -> ObjectToCreate:
    role = role_name(root.ref.name)
    body = {
        "roleRef": {"apiGroup": _RBAC_GROUP, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": root.ref.name, "namespace": root.ref.namespace}],
    }
    return _wanted(root, _blank(root, RBAC, "RoleBinding", role, "pod-role-binding"), body)


def _token(root: PodCliqueSet) -> ObjectToCreate:
    blank = _blank(root, CORE, "Secret", token_secret_name(root.ref.name), "pod-sa-token-secret")
    of_account = replace(blank, annotations=FrozenMap({_ACCOUNT: root.ref.name}))
    return _wanted(root, of_account, {"type": "kubernetes.io/service-account-token"})


def _blank(root: PodCliqueSet, api_version: str, kind: str, name: str, component: str) -> NewObject:
    labels = labels_of_set_object(root.ref.name, name, component)
    return NewObject(api_version=api_version, kind=kind, name=name, owner=root, labels=labels)


def _wanted(root: PodCliqueSet, blank: NewObject, body: Body, *, is_foundation: bool = False) -> ObjectToCreate:
    """Return the want. Account and Role come first: binding and token need them (WL-010)."""
    return object_to_create(blank, body, (WorkloadReason.POD_ACCESS.because(root.ref),), is_foundation=is_foundation)


def service_for(root: PodCliqueSet, replica: int) -> ObjectToCreate:
    """Return the headless Service of one replica, through which the host names of its pods resolve (WL-012)."""
    set_name, name = root.ref.name, replica_name(root.ref.name, replica)
    labels = {**labels_of_set_object(set_name, name, "pcs-headless-service"), **labels_of_replica(replica)}
    blank = NewObject(api_version=CORE, kind="Service", name=name, owner=root, labels=labels)
    because = (WorkloadReason.SERVICE_OF_REPLICA.because(root.ref, replica=replica),)
    return object_to_create(blank, {"spec": service_spec(root, replica)}, because, is_foundation=True)


def service_spec(root: PodCliqueSet, replica: int) -> FrozenMap:
    """Return the spec of a replica's Service, which follows changes of the template (WL-025)."""
    selector = FrozenMap({MANAGED_BY: OPERATOR, SET.primary: root.ref.name, SET_REPLICA.primary: str(replica)})
    published = root.spec.template.headless_service_config.publish_not_ready_addresses
    return FrozenMap({"clusterIP": "None", "publishNotReadyAddresses": published, "selector": selector})
