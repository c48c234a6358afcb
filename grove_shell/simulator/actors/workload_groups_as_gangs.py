"""Gangs that groups of the Workload API place, in the form in which the simulated scheduler places gangs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.kernel.frozen import FrozenMap, list_at, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import COMPOSITE_KIND, POD_GROUP_KIND, SCHEDULER
from grove_core.resources.owned_object import GROUP_KINDS, OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podgang import NO_PACK, GangPackConstraint, PackedGroupReplica, PodGang, PodGangConstraints
from grove_core.resources.podgang import PodGroup as PodsOfClique
from grove_shell.simulator.actors.gang_packing import PodPackingBlock
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode


class PackedPodGroup(NamedTuple):
    """A group with its pack constraint.

    Attributes:
        parts: the groups below it, in the order of their names; empty for a PodGroup.
    """

    name: str
    pack: GangPackConstraint
    parts: tuple["PackedPodGroup", ...]

    def as_pod_block(
        self, waiting: Mapping[str, Sequence[Pod]], placed_nodes: Mapping[str, Sequence[SimulatedNode]]
    ) -> PodPackingBlock:
        """Return its pods as nested blocks, one for each group, in the order in which kube-scheduler places them.

        Args:
            waiting: name of a PodGroup -> its pods to place.
            placed_nodes: name of a PodGroup -> nodes of its placed pods.
        """
        blocks = tuple(part.as_pod_block(waiting, placed_nodes) for part in self.parts)
        placed = (*placed_nodes.get(self.name, ()), *(node for block in blocks for node in block.placed_nodes))
        pods = () if blocks else tuple(waiting.get(self.name, ()))
        return PodPackingBlock(self.pack, pods, tuple(block for block in blocks if block.pod_count), placed)


class GroupedGang(NamedTuple):
    """A gang, and the tree of its groups.

    Attributes:
        root: the group at the root.
    """

    root: Ref
    gang: PodGang
    groups: PackedPodGroup


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
        """Return the gang that a PodGroup is in, named ``gang``; None where one of its groups is missing."""
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
            self._tree_of(root),
        )

    def root_of_pod_group(self, namespace: str, pod_group: str) -> Ref | None:
        """Return the root group above a PodGroup; None where one between them is missing."""
        group = self._groups.get((POD_GROUP_KIND, namespace, pod_group))
        root = None if group is None else self._root_of(group)
        return None if root is None else root.ref

    def preempted_as_a_whole(self, namespace: str, pod_group: str) -> Ref | None:
        """Return the topmost group above a PodGroup, or itself, that preemption takes as a whole; None without."""
        found: Ref | None = None
        group = self._groups.get((POD_GROUP_KIND, namespace, pod_group))
        while group is not None:
            if "all" in object_under_key(group.spec, "disruptionMode"):
                found = group.ref
            group = self._groups.get((COMPOSITE_KIND, namespace, _parent_in(group.spec)))
        return found

    def _root_of(self, group: OwnedObject) -> OwnedObject | None:
        """Return the group without a parent above a group; None where one between them is missing."""
        found: OwnedObject | None = group
        while found is not None and (parent := _parent_in(found.spec)):
            found = self._groups.get((COMPOSITE_KIND, group.ref.namespace, parent))
        return found

    def _tree_of(self, group: OwnedObject) -> PackedPodGroup:
        children = sorted(self._children_of(group), key=lambda one: one.ref.name)
        return PackedPodGroup(group.ref.name, _pack(group.spec), tuple(map(self._tree_of, children)))

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
    levels = list_at(object_under_key(spec, "schedulingConstraints"), "topology")
    return GangPackConstraint(next((str(one.get("key")) for one in levels if isinstance(one, FrozenMap)), ""))


def _least(spec: FrozenMap, key: str) -> int:
    count = object_under_key(object_under_key(spec, "schedulingPolicy"), "gang").get(key)
    return count if isinstance(count, int) else 0
