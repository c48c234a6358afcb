"""Objects of the whole cluster by namespace and name, as every snapshot of a set has them."""

from typing import Generic, TypeVar

from grove_core.kernel.frozen import FrozenDict

V = TypeVar("V")


class NamedObjects(Generic[V]):
    """An index of objects of one kind, of all owners. Mutable; its frozen copy is shared by the snapshots."""

    def __init__(self) -> None:
        """Start empty."""
        self._objects: dict[tuple[str, str], V] = {}
        self._frozen: FrozenDict[tuple[str, str], V] | None = None

    def put(self, namespace: str, name: str, item: V) -> None:
        """Add an object, or replace the one of that name."""
        self._objects[namespace, name] = item
        self._frozen = None

    def drop(self, namespace: str, name: str) -> None:
        """Remove the object of that name, if there is one."""
        if self._objects.pop((namespace, name), None) is not None:
            self._frozen = None

    @property
    def frozen(self) -> FrozenDict[tuple[str, str], V]:
        """The objects now. Linear in them after a change, else constant."""
        if self._frozen is None:
            self._frozen = FrozenDict(self._objects)
        return self._frozen
