"""Objects of a set: metadata and owner reference of new ones (WL-030); stored Services, Roles, claims, autoscalers.

Of these kinds decisions only compare what is stored with what is wanted.
"""

from collections.abc import Mapping, MutableMapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, TypeAlias

from grove_core.kernel.conditions import Condition
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, freeze
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Step
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import COMPOSITE_KIND, MANAGED_BY, OPERATOR, POD_GROUP_KIND, WORKLOAD_KIND
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import (
    Resource,
    read_conditions,
    read_creation_time,
    read_labels,
    read_metadata,
    stored_inner_object,
)
from grove_core.resources.object_metadata import metadata_in

Body: TypeAlias = Mapping[str, object]
"""What is a kind's own: ``spec``, ``data``, ..."""


def owner_reference_to(owner: Resource, *, blocks: bool = True) -> FrozenMap:
    """Return an entry of ``metadata.ownerReferences`` that makes the owner the controller (WL-030).

    If it ``blocks``, the owner's foreground deletion waits; writing that may need rights on the owner's finalizers.
    """
    return FrozenMap(
        {
            "apiVersion": owner.ref.api_version,
            "kind": owner.ref.kind,
            "name": owner.ref.name,
            "uid": owner.uid,
            "controller": True,
            **({"blockOwnerDeletion": True} if blocks else {}),
        }
    )


def clique_of_new_pod(step: Step) -> str:
    """Return the uid of the PodClique that a pod is created for; empty for every other step."""
    if step.target.kind == "Pod" and isinstance(step.action, Create):
        return metadata_in(step.action.manifest).controller.uid
    return ""


class NewObjectMetadata(Struct, frozen=True, kw_only=True):
    """The metadata of an object to be created.

    Attributes:
        owner: its controller.
        finalizer: Grove's own for the kind; empty where it needs none.
        blocks: whether the owner's foreground deletion waits for it.
        generate_name: what a name that the API server makes up begins with; empty where it makes up none.
    """

    api_version: str
    kind: str
    name: str
    owner: Resource
    labels: Mapping[str, str]
    annotations: FrozenMap = EMPTY
    finalizer: str = ""
    blocks: bool = True
    generate_name: str = ""

    @property
    def ref(self) -> Ref:
        """The address it will have."""
        return Ref(self.api_version, self.kind, self.owner.ref.namespace, self.name)

    def manifest_with_fields(self, body: Body) -> FrozenMap:
        """Return the manifest with the fields of its kind, such as ``spec``."""
        metadata: dict[str, Json] = {
            "name": self.name,
            "namespace": self.owner.ref.namespace,
            "labels": FrozenMap(dict(sorted(self.labels.items()))),
            "ownerReferences": (owner_reference_to(self.owner, blocks=self.blocks),),
        }
        if self.generate_name:
            metadata["generateName"] = self.generate_name
        if self.annotations:
            metadata["annotations"] = FrozenMap(dict(sorted(self.annotations.items())))
        if self.finalizer:
            metadata["finalizers"] = (self.finalizer,)
        whole: dict[str, Json] = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": FrozenMap(metadata),
            **{key: freeze(part) for key, part in body.items()},
        }
        return FrozenMap(whole)


GROUP_KINDS: Final = frozenset({WORKLOAD_KIND, COMPOSITE_KIND, POD_GROUP_KIND})
"""The kinds of the Workload API."""
# Kinds that Grove creates besides its own -> their API group.
OWNED_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "HorizontalPodAutoscaler": "autoscaling",
        "ResourceClaim": "resource.k8s.io",
        "Role": "rbac.authorization.k8s.io",
        "RoleBinding": "rbac.authorization.k8s.io",
        "Secret": "",
        "Service": "",
        "ServiceAccount": "",
        **dict.fromkeys(sorted(GROUP_KINDS), "scheduling.k8s.io"),
    }
)


class OwnedObject(Resource, frozen=True, kw_only=True):
    """An object of a kind without a model of its own.

    Attributes:
        managed: whether its label says that Grove created it.
        labels: as stored.
        spec: as stored; empty where the kind has none.
        created_at: None where absent.
        conditions: of a group of the Workload API, sorted by type, as the scheduler writes them (CL-085).
    """

    managed: bool = False
    labels: FrozenMap = EMPTY
    spec: FrozenMap = EMPTY
    created_at: datetime | None = None
    conditions: tuple[Condition, ...] = ()


def owned_object_from_json(raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None) -> OwnedObject:
    """Return the object that the API describes. Raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    api_version, kind = top.text("apiVersion"), top.text("kind")
    for name, text in (("apiVersion", api_version), ("kind", kind)):
        if not text and not top.raw.get(name):
            top.add_problem(name, "a text", None)
    identity = read_metadata(top, api_version, kind, shared)
    labels = read_labels(top)
    managed = is_managed_by_grove(labels)
    spec, created_at = stored_inner_object(top.inner_object("spec")), read_creation_time(top.inner_object("metadata"))
    status = JsonFieldReader(top.raw.get("status"), "status", [])
    conditions = read_conditions(status) if kind in GROUP_KINDS else ()
    return top.result_or_problems(
        OwnedObject(
            **identity,
            managed=managed,
            labels=stored_inner_object(labels),
            spec=spec,
            created_at=created_at,
            conditions=conditions,
        )
    )


def is_managed_by_grove(labels: JsonFieldReader) -> bool:
    """Return whether labels say that Grove created the object."""
    return labels.text(MANAGED_BY) == OPERATOR
