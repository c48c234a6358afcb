"""Objects that Grove creates: their metadata and owner reference (WL-030)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, freeze
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Step
from grove_core.resources.meta import Resource
from grove_core.resources.object_metadata import metadata_in

Body: TypeAlias = Mapping[str, Any]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObject:
    """The metadata of an object to be created.

    Attributes:
        owner: its controller.
        finalizer: Grove's own for the kind; empty where it needs none.
        blocks: whether the owner's foreground deletion waits for it.
    """

    api_version: str
    kind: str
    name: str
    owner: Resource
    labels: Mapping[str, str]
    annotations: FrozenMap = EMPTY
    finalizer: str = ""
    blocks: bool = True

    @property
    def ref(self) -> Ref:
        """The address it will have."""
        return Ref(self.api_version, self.kind, self.owner.ref.namespace, self.name)

    def filled(self, body: Body) -> FrozenMap:
        """Return the manifest with the fields of its kind, such as ``spec``."""
        metadata: dict[str, Json] = {
            "name": self.name,
            "namespace": self.owner.ref.namespace,
            "labels": FrozenMap(dict(sorted(self.labels.items()))),
            "ownerReferences": (owner_reference_to(self.owner, blocks=self.blocks),),
        }
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
