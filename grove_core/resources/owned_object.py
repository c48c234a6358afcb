"""Other objects of a set: Services, Roles, claims, autoscalers. Decisions only compare them with what is wanted."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.api_names import MANAGED_BY, OPERATOR
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.meta import Resource, inner_object, read_labels, read_metadata

CLAIM_KIND: Final = "ResourceClaim"
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
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedObject(Resource):
    """An object of a kind without a model of its own.

    Attributes:
        managed: whether its label says that Grove created it.
        labels: as stored.
        spec: as stored; empty where the kind has none.
    """

    managed: bool = False
    labels: FrozenMap = EMPTY
    spec: FrozenMap = EMPTY


def owned_object_from_json(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> OwnedObject:
    """Return the object that the API describes. Raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    api_version, kind = top.text("apiVersion"), top.text("kind")
    for name, text in (("apiVersion", api_version), ("kind", kind)):
        if not text and not top.raw.get(name):
            top.note(name, "a text", None)
    identity = read_metadata(top, api_version, kind, shared)
    labels = read_labels(top)
    managed = is_managed_by_grove(labels)
    spec = inner_object(top.part("spec"))
    return top.checked(OwnedObject(**identity, managed=managed, labels=inner_object(labels), spec=spec))


def is_managed_by_grove(labels: JsonFieldReader) -> bool:
    """Return whether labels say that Grove created the object."""
    return labels.text(MANAGED_BY) == OPERATOR
