"""Gangs that groups of the Workload API place, in the form in which the simulated scheduler places gangs."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from grove_core.kernel.frozen import FrozenMap, list_at, object_at
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import SCHEDULER
from grove_core.resources.owned_object import COMPOSITE_KIND, GROUP_KINDS, POD_GROUP_KIND, OwnedObject
from grove_core.resources.podgang import NO_PACK, GangPackConstraint, PackedGroupReplica, PodGang, PodGangConstraints
from grove_core.resources.podgang import PodGroup as PodsOfClique
from grove_shell.in_memory.garbage_collection import StoredObject


class GroupedGang(NamedTuple):
    """A gang, and the group at its root."""

    root: Ref
    gang: PodGang


class GroupTrees:
    """The groups of all gangs as trees. Built in time linear in the objects."""

    def __init__(self, items: Iterable[StoredObject]) -> None:
        self._groups: dict[tuple[str, str, str], OwnedObject] = {}  # by kind, namespace and name
        self._children: defaultdict[tuple[str, str], list[OwnedObject]] = defaultdict(list)  # by that of the parent
        for item in items:
            if isinstance(item, OwnedObject) and item.ref.kind in GROUP_KINDS:
                self._groups[item.ref.kind, item.ref.namespace, item.ref.name] = item
                if parent := _parent_in(item.spec):
                    self._children[item.ref.namespace, parent].append(item)

    def gang_of_pod_group(self, namespace: str, pod_group: str, gang: str) -> GroupedGang | None:
        """Return the gang that a PodGroup is in, named ``gang``; None where one of its groups is missing.

        Preemption is not simulated, so priorities and disruption modes do not count.
        """
        group = self._groups.get((POD_GROUP_KIND, namespace, pod_group))
        root = None if group is None else self._root_of(group)
        members = [] if root is None else self._pod_groups_below(root)
        if root is None or members is None:
            return None
        packed = (
            PackedGroupReplica(one.ref.name, tuple(child.ref.name for child in self._children_of(one)), _pack(one.spec))
            for one in self._children_of(root)
            if one.ref.kind == COMPOSITE_KIND and _pack(one.spec) != NO_PACK
        )
        confined = ((one.ref.name, _pack(one.spec)) for one in members)
        placement = PodGangConstraints(
            "",
            _pack(root.spec),
            tuple(sorted((name, pack) for name, pack in confined if pack != NO_PACK)),
            tuple(sorted(packed)),
        )
        return GroupedGang(
            root.ref,
            PodGang(
                ref=Ref(SCHEDULER, "PodGang", namespace, gang),
                uid=root.uid,
                resource_version=root.resource_version,
                owner_uid=root.owner_uid,
                owner_kind=root.owner_kind,
                owner_name=root.owner_name,
                finalizers=(),
                deleting=False,
                groups=tuple(PodsOfClique(one.ref.name, _least(one.spec, "minCount"), ()) for one in members),
                placement=placement,
            ),
        )

    def _root_of(self, group: OwnedObject) -> OwnedObject | None:
        """Return the group without a parent above a group; None where one between them is missing."""
        found: OwnedObject | None = group
        while found is not None and (parent := _parent_in(found.spec)):
            found = self._groups.get((COMPOSITE_KIND, group.ref.namespace, parent))
        return found

    def _children_of(self, group: OwnedObject) -> list[OwnedObject]:
        return self._children[group.ref.namespace, group.ref.name] if group.ref.kind == COMPOSITE_KIND else []

    def _pod_groups_below(self, group: OwnedObject) -> list[OwnedObject] | None:
        """Return all PodGroups below a group, sorted; None where a group has fewer children than it needs."""
        if group.ref.kind == POD_GROUP_KIND:
            return [group]
        children = sorted(self._children_of(group), key=lambda one: one.ref.sort_key)
        below = [self._pod_groups_below(child) for child in children]
        if len(children) < _least(group.spec, "minGroupCount") or None in below:
            return None
        return [one for found in below for one in found or ()]


def _parent_in(spec: FrozenMap) -> str:
    return str(spec.get("parentCompositePodGroupName", ""))


def _pack(spec: FrozenMap) -> GangPackConstraint:
    levels = list_at(object_at(spec, "schedulingConstraints"), "topology")
    return GangPackConstraint(next((str(one.get("key")) for one in levels if isinstance(one, FrozenMap)), ""))


def _least(spec: FrozenMap, key: str) -> int:
    count = object_at(object_at(spec, "schedulingPolicy"), "gang").get(key)
    return count if isinstance(count, int) else 0
