"""The smallest numbers of ready pods that end breaches, found by judging one replica of a set several times."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from grove_core.areas.gang_termination.verdicts import GroupReplicaFates, SetReplicaFates
from grove_core.kernel.refs import Ref
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hint_search.changed_snapshots import (
    is_starting,
    pods_that_may_become_ready,
    with_ready_pods,
    with_starting_pods_ready,
)

Judge: TypeAlias = Callable[[Snapshot], SetReplicaFates]


def breached_refs(fates: SetReplicaFates) -> set[Ref]:
    """Return the PodCliques and scaling groups that are breached."""
    found = {breach.ref for replica in fates.replicas for breach in replica.breaches}
    return found | {clique.ref for group in fates.groups for clique in group.breached}


def ready_pods_to_end_breaches(snapshot: Snapshot, cliques: Sequence[PodClique], judge: Judge) -> dict[str, int]:
    """Return by uid the smallest number of pods that have to become ready to end the breach of each PodClique.

    A PodClique whose breach no number of ready pods ends is left out. All numbers are searched for at once, since the
    breach of a PodClique depends on its own pods alone: the judgements are few whatever the number of PodCliques.
    """
    if not cliques:
        return {}
    remaining = _breached_with(snapshot, {clique.uid: 1 for clique in cliques}, judge)
    found = {clique.uid: 1 for clique in cliques if clique.ref not in remaining}
    searched = [clique for clique in cliques if clique.ref in remaining]  # one pod is enough for most
    high = {clique.uid: _most_needed(clique, snapshot) for clique in searched}
    remaining = _breached_with(snapshot, high, judge) if searched else set()
    searched = [clique for clique in searched if clique.ref not in remaining]
    low = {clique.uid: 2 for clique in searched}
    while any(low[clique.uid] < high[clique.uid] for clique in searched):
        middle = {clique.uid: (low[clique.uid] + high[clique.uid]) // 2 for clique in searched}
        remaining = _breached_with(snapshot, middle, judge)
        for clique in searched:
            if clique.ref in remaining:
                low[clique.uid] = middle[clique.uid] + 1
            else:
                high[clique.uid] = middle[clique.uid]
    return found | low


def _breached_with(snapshot: Snapshot, counts: Mapping[str, int], judge: Judge) -> set[Ref]:
    return breached_refs(judge(with_ready_pods(snapshot, counts)))


def _most_needed(clique: PodClique, snapshot: Snapshot) -> int:
    """Return a number of ready pods that is enough: failed pods may count against the ready ones (GF-026)."""
    pods = snapshot.pods_of.get(clique.uid, ())
    return clique.min_available + sum(not pod.ready for pod in pods)


def cliques_whose_starting_pods_count(
    snapshot: Snapshot, cliques: Iterable[PodClique], needed: Mapping[str, int], judge: Judge
) -> set[Ref]:
    """Return the PodCliques whose pods that are starting count as healthy already, as in GF-012.

    Their breach stays if all of these become ready, and one pod fewer than needed.

    Args:
        cliques: the breached ones.
        needed: uid of a PodClique -> how many pods have to become ready to end its breach; without it where none do.
        judge: returns the fates of replicas in a changed snapshot.
    """
    starting = {
        clique.uid: sum(map(is_starting, snapshot.pods_of.get(clique.uid, ())))
        for clique in cliques
        if clique.uid in needed
    }
    if not any(starting.values()):
        return set()
    changed = with_starting_pods_ready(snapshot, {uid for uid, count in starting.items() if count})
    remaining = breached_refs(judge(with_ready_pods(changed, {uid: count - 1 for uid, count in needed.items()})))
    return {clique.ref for clique in cliques if starting.get(clique.uid) and clique.ref in remaining}


def fewest_cliques_to_recover_group(
    snapshot: Snapshot, group: GroupReplicaFates, needed: Mapping[str, int], judge: Judge
) -> tuple[PodClique, ...]:
    """Return the breached PodCliques of a scaling group whose recovery ends its breach, with the fewest ready pods.

    They are those of as few replicas of the group as possible, of replicas without gated pods first (PL-057); empty
    if no recovery ends its breach. A replica that lacks a PodClique, or that the group does not want, does not count
    with any number of ready pods.

    Args:
        group: the fates of its replicas, with its breached PodCliques.
        needed, judge: as of :func:`cliques_whose_starting_pods_count`.
    """
    by_replica: dict[int, list[PodClique]] = {}
    for clique in group.breached:
        by_replica.setdefault(clique.group_replica_index, []).append(clique)
    present = Counter(
        clique.group_replica_index
        for clique in snapshot.cliques
        if clique.owner_uid == group.group.uid and not clique.deleting
    )
    curable = {
        index: found
        for index, found in by_replica.items()
        if index < group.group.replicas
        and present[index] >= len(group.group.clique_names)
        and all(one.uid in needed for one in found)
    }
    gated = {
        index: any(readiness_requires_gated_pods(snapshot, one, needed[one.uid]) for one in curable[index])
        for index in curable
    }
    order = sorted(curable, key=lambda index: (gated[index], sum(needed[one.uid] for one in curable[index]), index))
    chosen = [tuple(one for index in order[:count] for one in curable[index]) for count in range(len(order) + 1)]
    low, high = 1, len(order)
    while low < high:  # one replica is enough for most: it is tried first
        middle = 1 if high == len(order) and low == 1 else (low + high) // 2
        if _is_breached_with(snapshot, group, chosen[middle], needed, judge):
            low = middle + 1
        else:
            high = middle
    is_cured = bool(order) and not _is_breached_with(snapshot, group, chosen[high], needed, judge)
    return chosen[high] if is_cured else ()


def _is_breached_with(
    snapshot: Snapshot,
    group: GroupReplicaFates,
    cliques: Iterable[PodClique],
    needed: Mapping[str, int],
    judge: Judge,
) -> bool:
    recovered = with_ready_pods(snapshot, {clique.uid: needed[clique.uid] for clique in cliques})
    return group.group.ref in breached_refs(judge(recovered))


def readiness_requires_gated_pods(snapshot: Snapshot, clique: PodClique, count: int) -> bool:
    """Return whether so many pods of a PodClique become ready only if some with Grove's scheduling gate do (PL-057)."""
    pods = pods_that_may_become_ready(snapshot.pods_of.get(clique.uid, ()))
    return any(pod.has_grove_gate for pod in pods) and sum(not pod.has_grove_gate for pod in pods) < count


def replicas_for_more_ready_pods(snapshot: Snapshot, clique: PodClique, count: int) -> int | None:
    """Return the ``replicas`` that a PodClique needs for so many more ready pods; None where it has enough."""
    pods = snapshot.pods_of.get(clique.uid, ())
    new = count - len(pods_that_may_become_ready(pods))
    present = sum(pod.ready for pod in pods) + len(pods_that_may_become_ready(pods))
    return present + new if new > 0 and present + new > clique.replicas else None
