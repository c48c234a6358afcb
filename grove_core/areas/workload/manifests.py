"""What all manifests have in common: identity, labels of every family, owner, finalizer (WL-030 to WL-033)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from grove_core.areas.workload.blueprint import CliquePart
from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Present
from grove_core.resources.keys import (
    BASE_GANG,
    COMPONENT,
    GROUP,
    GROUP_REPLICA,
    MANAGED_BY,
    NAME,
    OPERATOR,
    POD_GANG,
    SET,
    SET_REPLICA,
    TEMPLATE_HASH,
)
from grove_core.resources.meta import NO_TEXTS, Resource
from grove_core.resources.ownership import reference_to

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blank:
    """An object to be made, but for what is its kind's own.

    Attributes:
        owner: its controller.
        finalizer: Grove's own for the kind; empty where it needs none.
    """

    api_version: str
    kind: str
    name: str
    owner: Resource
    labels: Mapping[str, str]
    annotations: FrozenMap = NO_TEXTS
    finalizer: str = ""

    @property
    def ref(self) -> Ref:
        """The address it will have."""
        return Ref(self.api_version, self.kind, self.owner.ref.namespace, self.name)


def wanted(blank: Blank, body: Json, because: Iterable[Reason], *, is_foundation: bool = False) -> Present:
    """The wish for an object: the blank filled with what is its kind's own (``spec``, ``data``, ...)."""
    metadata: Json = {
        "name": blank.name,
        "namespace": blank.ref.namespace,
        "labels": dict(sorted(blank.labels.items())),
        "ownerReferences": [reference_to(blank.owner)],
    }
    if blank.annotations:
        metadata["annotations"] = dict(sorted(blank.annotations.items()))
    if blank.finalizer:
        metadata["finalizers"] = [blank.finalizer]
    manifest = freeze({"apiVersion": blank.api_version, "kind": blank.kind, "metadata": metadata, **body})
    assert isinstance(manifest, FrozenMap)  # noqa: S101 - mypy cannot see that an object freezes to one
    return Present(blank.ref, manifest, tuple(because), is_foundation=is_foundation)


def labels_of_set(set_name: str) -> dict[str, str]:
    """What every object of a set carries (WL-031)."""
    return {MANAGED_BY: OPERATOR, **dict.fromkeys(SET, set_name)}


def labels_of(set_name: str, name: str, component: str) -> dict[str, str]:
    """What an object of a set carries that has a name and a part to play."""
    return {**labels_of_set(set_name), NAME: name.replace(":", "-"), COMPONENT: component}


def labels_of_replica(replica: int) -> dict[str, str]:
    """Which replica of the set an object belongs to, in every family of keys (decision D3)."""
    return dict.fromkeys(SET_REPLICA, str(replica))


def labels_of_clique(set_name: str, part: CliquePart, template_hash: str) -> dict[str, str]:
    """The labels of a PodClique: the template's, overlaid by Grove's (WL-032)."""
    component = "pcsg-podclique" if part.group else "pcs-podclique"
    labels = {str(key): str(text) for key, text in part.template.labels.items()}
    labels |= labels_of(set_name, part.name, component)
    labels |= labels_of_replica(part.replica)
    labels |= {POD_GANG: part.gang, TEMPLATE_HASH: template_hash}
    if part.group:
        labels |= dict.fromkeys(GROUP, part.group)
        labels |= dict.fromkeys(GROUP_REPLICA, str(part.group_replica))
    if part.base_gang:
        labels[BASE_GANG] = part.base_gang
    return labels
