"""Owner references: the controller of an object, without which the garbage collector removes it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import Create, Step
from grove_core.resources.meta import Resource


def owner_reference_to(owner: Resource, *, blocks: bool = True) -> FrozenMap:
    """Return an entry of ``metadata.ownerReferences`` (WL-030).

    Args:
        owner: the controller.
        blocks: whether the owner's foreground deletion waits; writing that may need rights on its finalizers.
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


class ControllerReference(NamedTuple):
    """The controller owner of an object; all empty where there is none, or none that reads."""

    uid: str = ""
    kind: str = ""
    name: str = ""
    api_version: str = ""


def controller_in(raw: Mapping[str, Any]) -> ControllerReference:
    """Return the controller owner in an object, which may be malformed."""
    meta = raw.get("metadata")
    references = meta.get("ownerReferences") if isinstance(meta, Mapping) else None
    for reference in references if isinstance(references, list | tuple) else ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            return ControllerReference(
                *(str(reference.get(key) or "") for key in ("uid", "kind", "name", "apiVersion"))
            )
    return ControllerReference()


def clique_of_new_pod(step: Step) -> str:
    """Return the uid of the PodClique that a pod is created for; empty for every other step."""
    if step.target.kind == "Pod" and isinstance(step.action, Create):
        return controller_in(step.action.manifest).uid
    return ""
