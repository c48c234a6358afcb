"""The objects that requests are made for: few of each kind, with names that every sequence shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import (
    AUTOSCALING,
    CLIQUE_FINALIZER,
    CORE,
    GATE,
    GROUP_FINALIZER,
    GROUP_KIND,
    GROVE,
    MANAGED_BY,
    OPERATOR,
    POD_INDEX,
    RBAC,
    SCHEDULER,
    SET_FINALIZER,
    TEMPLATE_HASH,
)
from grove_core.resources.labels import GROUP_REPLICA, SET, SET_REPLICA

Json = dict[str, Any]

NO_OWNER: Final = "00000000-0000-4000-8000-000000000000"
FOREIGN_FINALIZER: Final = "example.com/held"
_SET_NAME: Final = "s"
_IMAGE: Final = "example.com/main:1"
_POD_SPEC: Final[Mapping[str, Any]] = {"containers": [{"name": "main", "image": _IMAGE}]}


@dataclass(frozen=True, slots=True)
class Slot:
    """One address, and the owner of what is made there.

    Attributes:
        owner: the slot of its controller; empty for the set.
        rival: another slot whose object may want the name too.
        finalizer: Grove's own for the kind; empty where it has none.
        body: what is the kind's own.
    """

    api_version: str
    kind: str
    name: str
    owner: str = ""
    rival: str = ""
    finalizer: str = ""
    body: Mapping[str, Any] | None = None

    def ref(self, namespace: str) -> Ref:
        """Its address in a namespace."""
        return Ref(self.api_version, self.kind, namespace, self.name)


def _role(kind: str, body: Mapping[str, Any]) -> Slot:
    return Slot(RBAC, kind, "grove.io:pcs:s", "set", "group", body=body)


SLOTS: Final[Mapping[str, Slot]] = {
    "set": Slot(GROVE, "PodCliqueSet", _SET_NAME, finalizer=SET_FINALIZER),
    "group": Slot(
        GROVE,
        GROUP_KIND,
        "s-0-g",
        "set",
        "gang",
        GROUP_FINALIZER,
        {"spec": {"replicas": 1, "minAvailable": 1, "cliqueNames": ["b"]}},
    ),
    "clique": Slot(
        GROVE,
        "PodClique",
        "s-0-a",
        "set",
        "gang",
        CLIQUE_FINALIZER,
        {"spec": {"roleName": "a", "replicas": 1, "minAvailable": 1, "podSpec": _POD_SPEC}},
    ),
    "member": Slot(
        GROVE,
        "PodClique",
        "s-0-g-0-b",
        "group",
        "set",
        CLIQUE_FINALIZER,
        {"spec": {"roleName": "b", "replicas": 1, "minAvailable": 1, "podSpec": _POD_SPEC}},
    ),
    "gang": Slot(
        SCHEDULER,
        "PodGang",
        "s-0",
        "set",
        "group",
        body={"spec": {"podgroups": [{"name": "s-0-a", "minReplicas": 1, "podReferences": []}]}},
    ),
    "gated": Slot(
        CORE, "Pod", "s-0-a-x", "clique", "member", body={"spec": {**_POD_SPEC, "schedulingGates": [{"name": GATE}]}}
    ),
    "pod": Slot(CORE, "Pod", "s-0-g-0-b-y", "member", "clique", body={"spec": dict(_POD_SPEC)}),
    "service": Slot(
        CORE,
        "Service",
        "s-0",
        "set",
        "group",
        body={"spec": {"clusterIP": "None", "selector": {"example.com/of": "s"}, "publishNotReadyAddresses": False}},
    ),
    "scaler": Slot(
        AUTOSCALING,
        "HorizontalPodAutoscaler",
        "s-0-a",
        "set",
        "group",
        body={
            "spec": {
                "scaleTargetRef": {"apiVersion": GROVE, "kind": "PodClique", "name": "s-0-a"},
                "minReplicas": 1,
                "maxReplicas": 5,
            }
        },
    ),
    "account": Slot(CORE, "ServiceAccount", "s", "set", "group"),
    "secret": Slot(CORE, "Secret", "s-token", "set", "group"),
    "role": _role("Role", {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
    "binding": _role(
        "RoleBinding",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "grove.io:pcs:s"}},
    ),
}

LABELS: Final[Mapping[str, str]] = {
    MANAGED_BY: OPERATOR,
    **SET.under_every_key(_SET_NAME),
    **SET_REPLICA.under_every_key("0"),
    **GROUP_REPLICA.under_every_key("0"),
    TEMPLATE_HASH: "first",
}


def set_manifest(namespace: str, replicas: int) -> Json:
    """The PodCliqueSet, as admission leaves it."""
    cliques = [
        {"name": name, "spec": {"roleName": name, "replicas": 1, "minAvailable": 1, "podSpec": dict(_POD_SPEC)}}
        for name in ("a", "b")
    ]
    groups = [{"name": "g", "cliqueNames": ["b"], "replicas": 1, "minAvailable": 1}]
    template = {"cliques": cliques, "podCliqueScalingGroups": groups, "terminationDelay": "1m"}
    return podcliqueset_with_defaults(
        {
            "apiVersion": GROVE,
            "kind": "PodCliqueSet",
            "metadata": {"name": _SET_NAME, "namespace": namespace},
            "spec": {"replicas": replicas, "template": template},
        }
    )


def manifest_of(slot: Slot, namespace: str, owner: Slot, owner_uid: str, *, held: bool, malformed: bool) -> Json:
    """What a creation asks for.

    Args:
        slot: what.
        namespace: where.
        owner, owner_uid: its controller, by that incarnation.
        held: with Grove's finalizer on it, where the kind has one.
        malformed: with a number that no server takes, where the kind has one.
    """
    reference = {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner_uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    index = {POD_INDEX: "0"} if slot.kind == "Pod" else {}
    metadata: Json = {
        "name": slot.name,
        "namespace": namespace,
        "labels": {**LABELS, **index},
        "ownerReferences": [reference],
    }
    if held and slot.finalizer:
        metadata["finalizers"] = [slot.finalizer]
    body: Json = dict(slot.body or {})
    if malformed and slot.kind in {"PodClique", GROUP_KIND}:
        body["spec"] = {**body["spec"], "replicas": -1}
    return {"apiVersion": slot.api_version, "kind": slot.kind, "metadata": metadata, **body}
