"""What pods need to find each other: the headless service of a replica, and leave to watch pods of their set."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.manifests import Blank, labels_of, labels_of_replica, wanted
from grove_core.areas.workload.rules import Why
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.wants import Present
from grove_core.resources.keys import CORE, MANAGED_BY, OPERATOR, RBAC, SET, SET_REPLICA
from grove_core.resources.names import replica_name, role_name, token_secret_name
from grove_core.resources.podcliqueset import PodCliqueSet

_RBAC_GROUP: Final = RBAC.partition("/")[0]
_ACCOUNT: Final = "kubernetes.io/service-account.name"


def access_for(root: PodCliqueSet) -> Iterator[Present]:
    """ServiceAccount, Role, RoleBinding and token Secret, with which start-up init containers watch pods (WL-011)."""
    name, role = root.ref.name, role_name(root.ref.name)
    secret = token_secret_name(name)
    because = (Why.POD_ACCESS.because(root.ref),)

    def blank(api_version: str, kind: str, own: str, component: str) -> Blank:
        return Blank(api_version=api_version, kind=kind, name=own, owner=root, labels=labels_of(name, own, component))

    yield wanted(
        blank(CORE, "ServiceAccount", name, "pod-service-account"),
        {"automountServiceAccountToken": True},
        because,
        is_foundation=True,
    )
    watched = {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "list", "watch"]}
    yield wanted(blank(RBAC, "Role", role, "pod-role"), {"rules": [watched]}, because, is_foundation=True)
    binding = {
        "roleRef": {"apiGroup": _RBAC_GROUP, "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": root.ref.namespace}],
    }
    yield wanted(blank(RBAC, "RoleBinding", role, "pod-role-binding"), binding, because, is_foundation=True)
    yield wanted(
        Blank(
            api_version=CORE,
            kind="Secret",
            name=secret,
            owner=root,
            labels=labels_of(name, secret, "pod-sa-token-secret"),
            annotations=FrozenMap({_ACCOUNT: name}),
        ),
        {"type": "kubernetes.io/service-account-token"},
        because,
        is_foundation=True,
    )


def service_for(root: PodCliqueSet, replica: int) -> Present:
    """The headless service of one replica of the set: hostnames of its pods resolve through it (WL-012)."""
    set_name, name = root.ref.name, replica_name(root.ref.name, replica)
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": root.spec.template.headless_service_config.publish_not_ready_addresses,
        "selector": {MANAGED_BY: OPERATOR, SET[0]: set_name, SET_REPLICA[0]: str(replica)},
    }
    labels = {**labels_of(set_name, name, "pcs-headless-service"), **labels_of_replica(replica)}
    blank = Blank(api_version=CORE, kind="Service", name=name, owner=root, labels=labels)
    return wanted(
        blank, {"spec": spec}, (Why.SERVICE_OF_REPLICA.because(root.ref, replica=replica),), is_foundation=True
    )
