"""What a deletion takes along: pods, how many of them serve, and the GPUs they hold."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.snapshot.snapshot import Snapshot

_POD: Final = "Pod"


class DeletionImpacts:
    """The tolls of the deletions of one plan; every pod counts for one of them, the narrowest (PL-019)."""

    def __init__(self, snapshot: Snapshot, deleted: Collection[Ref]) -> None:
        """Look at a snapshot. Linear in its cliques, and in its pods where some of them are deleted by themselves.

        Args:
            snapshot: that was judged.
            deleted: everything that the plan deletes.
        """
        self._snapshot = snapshot
        self._cliques = {clique.ref: clique for clique in snapshot.cliques}
        self._pods = (
            {pod.ref: pod for _, pod in snapshot.pods() if pod.ref in deleted}
            if any(ref.kind == _POD for ref in deleted)
            else {}
        )
        self._groups = {group.ref: group.uid for group in snapshot.groups if group.ref in deleted}
        self._members: dict[str, list[PodClique]] = {uid: [] for uid in self._groups.values()}
        for ref, clique in self._cliques.items():
            if clique.owner_uid in self._members and ref not in deleted:
                self._members[clique.owner_uid].append(clique)

    def of(self, target: Ref) -> DeletionImpact | None:
        """What goes with the target; None where it takes no pods along, or nobody knows which."""
        if target.kind == _POD:
            found = self._pods.get(target)
            return None if found is None else _toll(((found,),))
        if _POD in self._snapshot.not_collected or target.kind not in {"PodClique", GROUP_KIND}:
            return None
        clique = self._cliques.get(target)
        cliques = self._members.get(self._groups.get(target, ""), ()) if clique is None else (clique,)
        return _toll(map(self._going_with, cliques))

    def _going_with(self, clique: PodClique) -> Sequence[Pod]:
        """The pods of a clique that are not deleted by themselves."""
        pods = self._snapshot.pods_of.get(clique.uid, ())
        return [pod for pod in pods if pod.ref not in self._pods] if self._pods else pods


def _toll(parts: Iterable[Sequence[Pod]]) -> DeletionImpact:
    """Of the pods that are there."""
    impact = DeletionImpact()
    for pods in parts:
        there = [pod for pod in pods if not pod.deleting]
        gpus = sum([pod.gpus for pod in there if pod.scheduled and pod.phase not in FINISHED_PHASES])
        impact += DeletionImpact(len(there), sum([pod.ready for pod in there]), gpus)
    return impact
