"""Snapshots of a set that another operator may have seen between two rounds when it deleted a PodClique (OP-035)."""

from collections.abc import Callable, Iterable, Iterator

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot


def snapshots_between(
    then: Snapshot, now: Snapshot, clique: PodClique, lately: Iterable[Snapshot] = ()
) -> Iterator[Snapshot]:
    """Yield what the other operator may have seen when it deleted a PodClique.

    Args:
        then: the snapshot of the earlier round.
        now: the snapshot of the later round.
        clique: as it was in the earlier round.
        lately: snapshots before the earlier round: a group may have selected a replica before it is deleted.
    """
    yield _with_replicas_of_now(then, now)
    there = _with_cliques_of_then(then, now, lambda one: one.ref == clique.ref)
    yield there
    yield replace(there, root=then.root)  # before the set was edited
    if clique.group_replica_index >= 0:  # PodCliques of one replica of a group are deleted together
        replica = _replica_of(clique)
        for earlier in (then, *lately):
            whole = _with_cliques_of_then(earlier, now, lambda one: _replica_of(one) == replica)
            yield whole
            yield replace(whole, groups=earlier.groups)
            yield replace(whole, groups=earlier.groups, root=earlier.root)


def _replica_of(clique: PodClique) -> tuple[str, int]:
    return clique.owner_name, clique.group_replica_index


def _with_cliques_of_then(then: Snapshot, now: Snapshot, chosen: Callable[[PodClique], bool]) -> Snapshot:
    """Return the snapshot of now with these PodCliques as they were: an update may have reached them just before."""
    earlier = {clique.ref: clique for clique in then.cliques if chosen(clique)}
    others = (one for one in now.cliques if one.ref not in earlier)
    cliques = tuple(sorted((*others, *earlier.values()), key=lambda one: one.ref.sort_key))
    pods = {clique.uid: then.pods_of.get(clique.uid, ()) for clique in earlier.values()}
    return replace(now, cliques=cliques, pods_of=FrozenDict({**now.pods_of, **pods}))


def _with_replicas_of_now(then: Snapshot, now: Snapshot) -> Snapshot:
    """Return the snapshot of then with the replicas of now: scaling in is no termination."""
    groups = {group.uid: group.replicas for group in now.groups}
    cliques = {clique.uid: clique.replicas for clique in now.cliques}
    return replace(
        then,
        now=now.now,
        root=now.root,
        groups=tuple(replace(one, replicas=groups.get(one.uid, one.replicas)) for one in then.groups),
        cliques=tuple(replace(one, replicas=cliques.get(one.uid, one.replicas)) for one in then.cliques),
    )
