"""Objects of our kinds that belong to no PodCliqueSet of the cluster: users of a plan cannot repair them."""

from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from grove_core.resources.meta import Resource
from grove_core.resources.owner_reference import ControllerReference
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.indexing import OWNERS_OF_CLIQUES
from grove_shell.reading.sources import Item, label_of

Address: TypeAlias = tuple[str, str, str]  # kind, namespace, name


def controller_of(resource: Resource) -> ControllerReference:
    """Return the controller reference of a parsed object."""
    return ControllerReference(resource.owner_uid, resource.owner_kind, resource.owner_name)


class ForeignObject(NamedTuple):
    """An object whose controller owner does not exist in the cluster.

    Attributes:
        holder: its owner, for reasons of verdicts.
        sentence: the warning above a plan.
    """

    holder: str
    sentence: str

    @classmethod
    def of(cls, label: str, controller: ControllerReference) -> "ForeignObject":
        """Return the object for its label and its controller reference."""
        if not controller.uid:
            return cls(
                "without a controller", f"{label} has no controller owner; it is of no PodCliqueSet, and left alone"
            )
        owner = f"{controller.kind} {controller.name}"
        return cls(f"of {owner}, which is not there", f"{label} is of {owner}, which is not there; it is left alone")


class ForeignObjects:
    """The foreign objects of one input.

    Attributes:
        sources: the live cluster and the snapshot files; objects of other files are faults instead.
    """

    def __init__(self, origin: str) -> None:
        """Begin empty; ``origin`` is the live cluster, empty for none."""
        self.sources = {origin} - {""}
        self._found: dict[Address, ForeignObject] = {}

    def add_if_foreign(
        self, item: Item, address: Address, controller: ControllerReference, complete: AbstractSet[Gap]
    ) -> bool:
        """Add an object if its cluster is complete and has no owner of it; return whether it was added (IN-033).

        Args:
            item: the object.
            address: its kind, namespace and name.
            controller: its owner, which is not in the input.
            complete: kinds that the cluster listed completely, with their namespace.
        """
        if item.file not in self.sources or not all(
            {(kind, address[1]), (kind, EVERYWHERE)} & complete for kind in OWNERS_OF_CLIQUES
        ):
            return False
        self._found[address] = ForeignObject.of(label_of(item), controller)
        return True

    def holders(self) -> dict[Address, str]:
        """Return the owner of each occupied name."""
        return {address: foreign.holder for address, foreign in self._found.items()}

    def warnings(self) -> tuple[str, ...]:
        """Return a warning for each object, sorted."""
        return tuple(sorted(foreign.sentence for foreign in self._found.values()))
