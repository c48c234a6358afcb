"""Objects of our kinds that are of no set: a cluster may have some, and nobody who looks at it can repair them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from grove_core.resources.meta import Resource


class Controller(NamedTuple):
    """The controller owner of an object; all empty where there is none, or none that reads."""

    uid: str = ""
    kind: str = ""
    name: str = ""


def controller_of(resource: Resource) -> Controller:
    """Of an object that was read."""
    return Controller(resource.owner_uid, resource.owner_kind, resource.owner_name)


def controller_in(raw: Mapping[str, Any]) -> Controller:
    """Of an object that does not read as what it claims to be."""
    meta = raw.get("metadata")
    references = meta.get("ownerReferences") if isinstance(meta, Mapping) else None
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            return Controller(*(str(reference.get(key) or "") for key in ("uid", "kind", "name")))
    return Controller()


class Stranger(NamedTuple):
    """What is said of an object whose controller owner is none that the cluster has.

    Attributes:
        holder: whose it is, as a reason has it.
        sentence: for whoever asked for a plan.
    """

    holder: str
    sentence: str

    @classmethod
    def of(cls, label: str, controller: Controller) -> "Stranger":
        """Of an object, by kind, namespace and name."""
        if not controller.uid:
            return cls(
                "controlled by nobody", f"{label} has no controller owner; it is of no PodCliqueSet, and left alone"
            )
        owner = f"{controller.kind} {controller.name}"
        return cls(f"of {owner}, which is not there", f"{label} is of {owner}, which is not there; it is left alone")
