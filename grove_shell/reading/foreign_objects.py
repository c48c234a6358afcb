"""Objects of our kinds that are of no set: a cluster may have some, and nobody who looks at it can repair them."""

from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from grove_core.resources.meta import Resource
from grove_core.resources.owner_reference import ControllerReference
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.indexing import OWNERS_OF_CLIQUES
from grove_shell.reading.sources import Item, label_of

Address: TypeAlias = tuple[str, str, str]  # kind, namespace, name


def controller_of(resource: Resource) -> ControllerReference:
    """Of an object that was read."""
    return ControllerReference(resource.owner_uid, resource.owner_kind, resource.owner_name)


class ForeignObject(NamedTuple):
    """What is said of an object whose controller owner is none that the cluster has.

    Attributes:
        holder: whose it is, as a reason has it.
        sentence: for whoever asked for a plan.
    """

    holder: str
    sentence: str

    @classmethod
    def of(cls, label: str, controller: ControllerReference) -> "ForeignObject":
        """Of an object, by kind, namespace and name."""
        if not controller.uid:
            return cls(
                "controlled by nobody", f"{label} has no controller owner; it is of no PodCliqueSet, and left alone"
            )
        owner = f"{controller.kind} {controller.name}"
        return cls(f"of {owner}, which is not there", f"{label} is of {owner}, which is not there; it is left alone")


class ForeignObjects:
    """Those of one input.

    Attributes:
        captures: where what a cluster showed stands; what stands elsewhere somebody can repair.
    """

    def __init__(self, origin: str) -> None:
        """None yet; ``origin`` is the cluster that is asked, empty for none."""
        self.captures = {origin} - {""}
        self._found: dict[Address, ForeignObject] = {}

    def takes(self, item: Item, address: Address, controller: ControllerReference, complete: AbstractSet[Gap]) -> bool:
        """Whether an object is a stranger: the cluster that shows it has no owner of it; then it is kept (IN-048).

        Args:
            item: it, as it was read.
            address: of it.
            controller: which is not in the input.
            complete: of which kinds the cluster shows everything, and in which namespace.
        """
        if item.file not in self.captures or not all(
            {(kind, address[1]), (kind, EVERYWHERE)} & complete for kind in OWNERS_OF_CLIQUES
        ):
            return False
        self._found[address] = ForeignObject.of(label_of(item), controller)
        return True

    def holders(self) -> dict[Address, str]:
        """Whose the names are that they have."""
        return {address: stranger.holder for address, stranger in self._found.items()}

    def sentences(self) -> tuple[str, ...]:
        """What is said of them, sorted."""
        return tuple(sorted(stranger.sentence for stranger in self._found.values()))
