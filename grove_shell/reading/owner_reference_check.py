"""Checks that the owners of objects are in the input; objects of a cluster without one are foreign (IN-033)."""

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from grove_core.kernel.errors import MalformedObject
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.object_metadata import ControllerReference, metadata_in
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.cluster_index import OWNERS_OF_CLIQUES
from grove_shell.reading.input_items import item_display_name
from grove_shell.reading.input_objects import Address, InputObjects, Key
from grove_shell.reading.input_sources import InputItem

_RANKS: Final = {GROUP_KIND: 1, "PodClique": 2, "PodGang": 3}


class UnreadableObject(NamedTuple):
    """An object of our kinds that cannot be parsed; it may be a foreign one."""

    item: InputItem
    kind: str
    fault: MalformedObject


class ObjectsWithOwners(NamedTuple):
    """The objects that have an owner in the input, or may have one."""

    groups: Mapping[Key, ScalingGroup]
    cliques: Mapping[Key, PodClique]
    gangs: Mapping[Key, PodGang]


class OwnerReferenceCheck:
    """Checks the owners of all objects of an input, after the whole input was read.

    Attributes:
        holders: address of each foreign object -> its owner, for reasons of verdicts.
        warnings: address of each foreign object -> the warning above a plan.
    """

    def __init__(self, found: InputObjects, complete: AbstractSet[Gap], clusters: Collection[str]) -> None:
        """Begin.

        Args:
            complete: kinds that a cluster listed completely, with their namespace.
            clusters: the live cluster and the snapshot files; objects of other files are faults instead.
        """
        self._found = found
        self._complete = complete
        self._clusters = clusters
        self.holders: dict[Address, str] = {}
        self.warnings: dict[Address, str] = {}

    def report_unreadable_objects(self, unread: Iterable[UnreadableObject]) -> None:
        """Report objects that cannot be parsed, unless they are foreign; owners first, since others refer to them."""
        for item, kind, fault in sorted(unread, key=lambda one: (_RANKS.get(one.kind, 0), item_display_name(one.item))):
            meta = metadata_in(item.value)
            if (
                kind in _RANKS
                and meta.name
                and self._is_foreign(item, (kind, *meta.namespace_and_name), meta.controller)
            ):
                continue
            self._found.add_faults(item, fault.problems)
            self._found.mark_kind_incomplete(kind, item.value)

    def owned_objects(self) -> ObjectsWithOwners:
        """Return the objects whose owner is in the input or may not have been collected."""
        found = self._found
        missed = frozenset(found.gaps)  # before the check of each kind, which adds to them
        groups = {key: group for key, group in found.groups.items() if self._has_owner(group, missed)}
        missed = frozenset(found.gaps)
        cliques = {key: clique for key, clique in found.cliques.items() if self._has_owner(clique, missed)}
        return ObjectsWithOwners(
            groups, cliques, {key: gang for key, gang in found.gangs.items() if self._belongs(gang)}
        )

    def _has_owner(self, resource: Resource, missed: frozenset[Gap]) -> bool:
        """Return whether the owner of an object is known; a missing owner is a fault (IN-033).

        Args:
            missed: kinds that were not collected before this check.
        """
        found, namespace = self._found, resource.ref.namespace
        owner = found.owners.get(resource.owner_uid)
        if (owner is not None and owner.namespace == namespace) or (resource.owner_kind, namespace) in missed:
            return True
        if resource.deleting:
            return isinstance(resource, PodClique)
        item = found.places[resource.uid].item_with_uid(resource.uid)
        address = (resource.ref.kind, namespace, resource.ref.name)
        if self._is_foreign(item, address, _controller_of(resource)):
            return isinstance(resource, PodClique) and resource.owner_kind in OWNERS_OF_CLIQUES  # its set counts it
        if not resource.owner_uid:
            found.add_fault(item, "metadata.ownerReferences", "a controller owner", "none")
        else:
            expected = f"{resource.owner_kind} {namespace}/{resource.owner_name} in the input"
            found.add_fault(item, "metadata.ownerReferences", expected, "no object with that uid there")
        found.gaps.add((resource.ref.kind, namespace))
        if resource.owner_kind == GROUP_KIND:
            found.gaps.add((GROUP_KIND, namespace))
        return False

    def _belongs(self, gang: PodGang) -> bool:
        item = self._found.item_of(gang.uid)
        address = (gang.ref.kind, gang.ref.namespace, gang.ref.name)
        return gang.deleting or item is None or not self._is_foreign(item, address, _controller_of(gang))

    def _is_foreign(self, item: InputItem, address: Address, controller: ControllerReference) -> bool:
        """Return whether the cluster of an object was listed completely and has no owner of it; record it (IN-033)."""
        owner = self._found.owners.get(controller.uid)
        if owner is not None and owner.namespace == address[1]:
            return False
        if item.file not in self._clusters or not all(
            {(kind, address[1]), (kind, EVERYWHERE)} & self._complete for kind in OWNERS_OF_CLIQUES
        ):
            return False
        holder = f"of {controller.kind} {controller.name}, which is not there" if controller.uid else ""
        self.holders[address] = holder or "without a controller"
        self.warnings[address] = (
            f"{item_display_name(item)} is {holder}; it is left alone"
            if holder
            else f"{item_display_name(item)} has no controller owner; it is of no PodCliqueSet, and left alone"
        )
        return True


def _controller_of(resource: Resource) -> ControllerReference:
    return ControllerReference(resource.owner_uid, resource.owner_kind, resource.owner_name)
