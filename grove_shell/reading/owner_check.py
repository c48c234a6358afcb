"""Whose the objects of an input are, once all of it was read (IN-033, IN-048)."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.meta import Resource
from grove_core.resources.owner_reference import ControllerReference, controller_in
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import Gap
from grove_core.snapshot.indexing import OWNERS_OF_CLIQUES
from grove_shell.reading.foreign_objects import Address, ForeignObjects, controller_of
from grove_shell.reading.input_objects import InputObjects, Key
from grove_shell.reading.items import Item, meta_text
from grove_shell.reading.sources import label_of

_RANKS: Final = {GROUP_KIND: 1, "PodClique": 2, "PodGang": 3}


class UnreadableObject(NamedTuple):
    """An object of our kinds that does not read, and may be a stranger."""

    item: Item
    kind: str
    fault: MalformedObject


class OwnedObjects(NamedTuple):
    """What is left of the kinds whose objects must have an owner in the input."""

    groups: Mapping[Key, ScalingGroup]
    cliques: Mapping[Key, PodClique]
    gangs: Mapping[Key, PodGang]


class OwnerCheck:
    """Judges by everything that was found."""

    def __init__(self, found: InputObjects, strangers: ForeignObjects, complete: AbstractSet[Gap]) -> None:
        """Of an input that was read to its end.

        Args:
            found: its objects; what turns out to be wrong with them is noted there.
            strangers: takes the objects that are of no set.
            complete: of which kinds a cluster showed everything, and in which namespace.
        """
        self._found = found
        self._strangers = strangers
        self._complete = complete

    def tell_unread(self, unread: Iterable[UnreadableObject]) -> None:
        """What does not read is a fault, unless it is a stranger's; owners first, for those are known from then on."""
        for item, kind, fault in sorted(unread, key=lambda one: (_RANKS.get(one.kind, 0), label_of(one.item))):
            namespace, name = meta_text(item.value, "namespace") or "default", meta_text(item.value, "name")
            ranked = kind in _RANKS and name
            if ranked and self._is_strange(item, (kind, namespace, name), controller_in(item.value)):
                continue
            self._found.note_all(item, fault.problems)
            self._found.miss(kind, item.value)

    def keep(self) -> OwnedObjects:
        """The objects that have their owner, or whose owner may be among what was not collected."""
        found = self._found
        missed = frozenset(found.gaps)  # before the pass over each kind, which adds to them
        groups = {key: group for key, group in found.groups.items() if self._has_owner(group, missed)}
        missed = frozenset(found.gaps)
        cliques = {key: clique for key, clique in found.cliques.items() if self._has_owner(clique, missed)}
        return OwnedObjects(groups, cliques, {key: gang for key, gang in found.gangs.items() if self._belongs(gang)})

    def _has_owner(self, resource: Resource, missed: frozenset[Gap]) -> bool:
        """Whether the owner is there to judge the object; one that should be and is not is a fault (IN-033).

        Args:
            resource: a group or a clique.
            missed: what was not collected, whatever is found out about others like it.
        """
        found, namespace = self._found, resource.ref.namespace
        owner = found.owners.get(resource.owner_uid)
        if (owner is not None and owner.namespace == namespace) or (resource.owner_kind, namespace) in missed:
            return True
        if resource.deleting:
            return isinstance(resource, PodClique)
        item = found.places[resource.uid]
        address = (resource.ref.kind, namespace, resource.ref.name)
        if self._is_strange(item, address, controller_of(resource)):
            return isinstance(resource, PodClique) and resource.owner_kind in OWNERS_OF_CLIQUES  # its set counts it
        if not resource.owner_uid:
            found.note(item, "metadata.ownerReferences", "a controller owner", "none")
        else:
            expected = f"{resource.owner_kind} {namespace}/{resource.owner_name} in the input"
            found.note(item, "metadata.ownerReferences", expected, "no object with that uid there")
        found.gaps.add((resource.ref.kind, namespace))
        if resource.owner_kind == GROUP_KIND:
            found.gaps.add((GROUP_KIND, namespace))
        return False

    def _belongs(self, gang: PodGang) -> bool:
        item = self._found.places.get(gang.uid)
        address = (gang.ref.kind, gang.ref.namespace, gang.ref.name)
        return gang.deleting or item is None or not self._is_strange(item, address, controller_of(gang))

    def _is_strange(self, item: Item, address: Address, controller: ControllerReference) -> bool:
        owner = self._found.owners.get(controller.uid)
        if owner is not None and owner.namespace == address[1]:
            return False
        return self._strangers.takes(item, address, controller, self._complete)
