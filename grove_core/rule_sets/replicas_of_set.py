"""The replicas that a set and its scaling groups have, for those that a function of a user names (LB-032)."""

from typing import NamedTuple

from grove_core.kernel.refs import Ref
from grove_core.snapshot.snapshot import Snapshot


class ReplicasOfSet(NamedTuple):
    """The replicas of a set and of its scaling groups.

    Attributes:
        counts: the set or a scaling group of it -> the number of replicas that its spec has.
        existing: the replicas with a PodClique.
        left: those with a PodClique that is not being deleted.
    """

    counts: dict[Ref, int]
    existing: frozenset[Ref]
    left: frozenset[Ref]

    def check(self, replica: Ref) -> None:
        """Check that a replica of the set exists, or is to be created; those of other sets are not known.

        Raises:
            ValueError: its index is too large, or below 0.
        """
        count = self.counts.get(replica.without_replica)
        if count is None or replica.replica is None or replica in self.existing or 0 <= replica.replica < count:
            return
        raise ValueError(
            f"there is no replica {replica.replica} of {replica.without_replica.short} to spare: its spec says "
            f"replicas: {count}, and no PodClique is of that one; return only replicas that exist now, as those of "
            f"clique.enclosing_replicas(snapshot.root.ref)"
        )


def snapshot_replicas(snapshot: Snapshot) -> ReplicasOfSet:
    """Return the replicas of the set of a snapshot."""
    root = snapshot.root
    counts = {root.ref: root.spec.replicas, **{group.ref: group.replicas for group in snapshot.groups}}
    existing, left = set[Ref](), set[Ref]()
    for clique in snapshot.cliques:
        replicas = clique.enclosing_replicas(root.ref)
        existing.update(replicas)
        if not clique.deleting:
            left.update(replicas)
    return ReplicasOfSet(counts, frozenset(existing), frozenset(left))
