"""Rolling the replicas of one scaling group, so that enough of them are available all the time (WL-218 to WL-221)."""

from collections.abc import Iterator
from dataclasses import dataclass

from grove_core.areas.workload.blueprint import CliquePart, GroupPart
from grove_core.areas.workload.roll import NOTHING, Roll
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scene import Scene
from grove_core.kernel.wants import Absent, HeldBack
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup


@dataclass(frozen=True, slots=True)
class GroupReplica:
    """One replica of a scaling group as it is.

    Attributes:
        cliques: those that are there and stay.
        outdated: whether one of them is not of the present template.
        available: whether all are there, each with enough ready pods.
    """

    index: int
    cliques: tuple[PodClique, ...]
    outdated: bool
    available: bool


def replicas_of(part: GroupPart, scene: Scene) -> Iterator[GroupReplica]:
    """The replicas that the group wants, in order; linear in their cliques."""
    parts: dict[int, list[CliquePart]] = {}
    for member in part.cliques:
        parts.setdefault(member.group_replica, []).append(member)
    for index, members in parts.items():
        found = [(clique, member) for member in members if (clique := scene.clique_of(member)) is not None]
        yield GroupReplica(
            index=index,
            cliques=tuple(clique for clique, _ in found),
            outdated=any(not scene.revision.is_current(clique, member) for clique, member in found),
            available=len(found) == len(members)
            and all(scene.ready[clique.uid] >= clique.min_available for clique, _ in found),
        )


def roll_group(group: ScalingGroup, replicas: list[GroupReplica], extra: GroupReplica | None, generation: str) -> Roll:
    """One round of the update of a group.

    Args:
        group: as it is.
        replicas: those that it wants.
        extra: the one beyond them, if there is one.
        generation: what its status names while the update runs (WL-224).
    """
    outdated = [replica for replica in replicas if replica.outdated]
    lacking = [replica for replica in replicas if not replica.available]
    needed = min(group.min_available, group.replicas)
    stands_in = group.status.updating and extra is not None and bool(outdated or lacking)
    is_open = group.status.updating and group.status.progress.get("podCliqueSetGenerationHash") == generation
    if not is_open:
        return Roll(runs=bool(outdated) or stands_in, surge=stands_in)
    if not outdated and extra is None:
        return NOTHING
    available = sum(replica.available for replica in replicas) + bool(extra and extra.available)
    ready_to_go = [replica for replica in outdated if replica.available]
    surge = needed == group.replicas and (stands_in or bool(ready_to_go and available >= needed))
    going_down = [replica for replica in outdated if not replica.available]
    absents = [absent for replica in going_down for absent in _absents(group, replica, Why.OUTDATED_NOT_AVAILABLE)]
    held: tuple[HeldBack, ...] = ()
    if (ready_to_go or lacking) and not absents:
        others = [replica for replica in lacking if not replica.outdated]
        is_extra_up = extra is None or extra.available
        if ready_to_go and available > needed and not others and is_extra_up:
            absents += _absents(group, ready_to_go[0], Why.OUTDATED_REPLICA)
        else:
            waits = Why.GROUP_UPDATE_WAITS.because(group.ref, left=len(outdated), available=available, needed=needed)
            waited = [replica.index for replica in others] or ([group.replicas] if not is_extra_up else [])
            whom = (Why.REPLICA_NOT_AVAILABLE.because(group.ref, replica=index) for index in waited[:1])
            held = (HeldBack(group.ref, (waits, *whom)),)
    return Roll(runs=True, surge=surge, absents=tuple(absents), held=held)


def _absents(group: ScalingGroup, replica: GroupReplica, why: Why) -> Iterator[Absent]:
    because = (why.because(group.ref, replica=replica.index),)
    for clique in replica.cliques:
        yield Absent(clique.ref, clique.guard, because)
