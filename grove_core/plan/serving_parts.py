"""What serves of a set: ready pods of standalone PodCliques, and available replicas of scaling groups (ED-003)."""

from collections.abc import Iterable
from typing import NamedTuple

from grove_core.kernel.refs import Ref
from grove_core.resources.pod import ready_pod_count
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot


class ServingPart(NamedTuple):
    """What serves of one part of a set at one time.

    Attributes:
        part: a standalone PodClique, or a scaling group.
        template: name of its clique or scaling group in the template.
        serving: ready pods of a PodClique, available replicas of a scaling group.
        needed: how many have to serve: at most ``minAvailable``.
        wanted: its ``replicas``.
    """

    part: Ref
    template: str
    serving: int
    needed: int
    wanted: int


def serving_parts(snapshot: Snapshot) -> tuple[ServingPart, ...]:
    """Return what serves of every part of a set, sorted by kind and name. Linear in its pods (ED-003)."""
    serving = {clique.uid: ready_pod_count(snapshot.pods_of.get(clique.uid, ())) for clique in snapshot.cliques}
    standalone = (
        ServingPart(
            clique.ref,
            clique.template_name,
            serving[clique.uid],
            clique.needed_ready_pods,
            clique.replicas,
        )
        for clique in snapshot.cliques
        if not clique.is_in_scaling_group and not clique.deleting
    )
    members: dict[str, list[PodClique]] = {}
    for clique in snapshot.cliques:
        if clique.is_in_scaling_group and not clique.deleting:
            members.setdefault(clique.owner_uid, []).append(clique)
    groups = (
        ServingPart(
            group.ref,
            group.template_name,
            _available_replicas(group, members.get(group.uid, ()), serving),
            group.needed_replicas,
            group.replicas,
        )
        for group in snapshot.groups
        if not group.deleting
    )
    return tuple(sorted((*standalone, *groups), key=lambda one: one.part.sort_key))


def _available_replicas(group: ScalingGroup, members: Iterable[PodClique], serving: dict[str, int]) -> int:
    """Return how many replicas have all their PodCliques, each with the ready pods that it needs."""
    found: dict[int, int] = {}
    for clique in members:
        if serving[clique.uid] >= clique.needed_ready_pods:
            found[clique.group_replica_index] = found.get(clique.group_replica_index, 0) + 1
    return sum(count == len(group.clique_names) for count in found.values())


def available_set_replicas(snapshot: Snapshot, parts: Iterable[ServingPart]) -> int:
    """Return how many replicas of a set have all their parts, each with what it needs."""
    template = snapshot.root.spec.template
    expected = len(snapshot.root.spec.standalone_cliques) + len(template.pod_clique_scaling_groups)
    index_of = {one.ref: one.replica_index for one in snapshot.cliques}
    index_of |= {one.ref: one.replica_index for one in snapshot.groups}
    found: dict[int, int] = {}
    for one in parts:
        if one.serving >= one.needed:
            found[index_of[one.part]] = found.get(index_of[one.part], 0) + 1
    return sum(count == expected for index, count in found.items() if index < snapshot.root.spec.replicas)
