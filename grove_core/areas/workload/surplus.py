"""Replicas beyond the wanted number go, of the set and of its scaling groups (WL-200, WL-201).

By index alone, never because a name is not among those expected: what is wrong there must not cost anybody a gang.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scene import Scene
from grove_core.kernel.wants import Absent


def wants_of_surplus(scene: Scene, surge: AbstractSet[str]) -> Iterator[Absent]:
    """The cliques and scaling groups that are too many. Linear.

    Args:
        scene: of a set that is not being deleted.
        surge: names of the scaling groups that have one replica more while an update runs.
    """
    root, wanted = scene.root, scene.root.spec.replicas
    for group in scene.groups.values():
        if group.replica_index >= wanted:
            because = Why.SURPLUS_REPLICA.because(root.ref, replica=group.replica_index, replicas=wanted)
            yield Absent(group.ref, group.guard, (because,))
    groups = {group.uid: group for group in scene.groups.values()}
    for clique in scene.cliques.values():
        owner = groups.get(clique.owner_uid)
        if clique.replica_index >= wanted:
            because = Why.SURPLUS_REPLICA.because(root.ref, replica=clique.replica_index, replicas=wanted)
            yield Absent(clique.ref, clique.guard, (because,))
        elif owner is not None and clique.group_replica_index >= owner.replicas + (owner.ref.name in surge):
            index = clique.group_replica_index
            because = Why.SURPLUS_GROUP_REPLICA.because(owner.ref, replica=index, replicas=owner.replicas)
            yield Absent(clique.ref, clique.guard, (because,))
