"""What a deletion takes along: pods, how many of them serve, and the GPUs they hold."""

from collections.abc import Collection, Iterable
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Toll
from grove_core.resources.gpus import gpus_of
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.snapshot.snapshot import Snapshot

_POD: Final = "Pod"


class Tolls:
    """The tolls of the deletions of one plan; every pod counts for one of them (PL-019)."""

    def __init__(self, snapshot: Snapshot, deleted: Collection[Ref]) -> None:
        """Look at a snapshot.

        Args:
            snapshot: that was judged.
            deleted: everything that the plan deletes.
        """
        self._snapshot = snapshot
        self._cliques = {clique.ref: clique for clique in snapshot.cliques}
        self._groups = {group.ref: group.uid for group in snapshot.groups}
        self._pods = (
            {pod.ref: (clique, pod) for clique, pod in snapshot.pods() if pod.ref in deleted}
            if any(ref.kind == _POD for ref in deleted)
            else {}
        )
        self._deleted = deleted

    def of(self, target: Ref) -> Toll | None:
        """What goes with the target; None where it takes no pods along, or nobody knows which."""
        if target.kind == _POD:
            return _toll((self._pods[target],)) if target in self._pods else None
        if _POD in self._snapshot.not_collected or target.kind not in {"PodClique", GROUP_KIND}:
            return None
        uid = self._groups.get(target, "")
        cliques = [self._cliques[target]] if target in self._cliques else self._members(uid)
        pods_of = self._snapshot.pods_of
        return _toll((clique, pod) for clique in cliques for pod in pods_of.get(clique.uid, ()))

    def _members(self, uid: str) -> Iterable[PodClique]:
        """The cliques of a group that go with it, and are not deleted by themselves."""
        return (clique for ref, clique in self._cliques.items() if clique.owner_uid == uid and ref not in self._deleted)


def _toll(pods: Iterable[tuple[PodClique, Pod]]) -> Toll:
    there = [(clique, pod) for clique, pod in pods if not pod.deleting]
    return Toll(
        pods=len(there),
        ready=sum(pod.ready for _, pod in there),
        gpus=sum(gpus_of(clique.pod_spec) for clique, pod in there if pod.scheduled),
    )
