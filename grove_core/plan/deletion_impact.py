"""The impact of deletions: the pods that they remove, how many of these are ready, and the GPUs that they hold."""

from collections.abc import Collection, Iterable, Sequence

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, DeletionImpact, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan import RootWithLastAttempts
from grove_core.resources.api_names import GROUP_KIND, POD_KIND
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot


def with_deletion_impacts(steps: Iterable[Step], view: RootWithLastAttempts) -> Iterable[Step]:
    """Return the same steps, each deletion with its impact (PL-019)."""
    found = list(steps)
    deleted = {step.target for step in found if isinstance(step.action, Delete)}
    if not deleted or not isinstance(view, Snapshot):
        return found
    impacts = DeletionImpacts(view, deleted)
    return [
        replace(step, action=replace(step.action, takes=impacts.impact_of_deleting(step.target)))
        if isinstance(step.action, Delete)
        else step
        for step in found
    ]


class DeletionImpacts:
    """The impacts of the deletions of one plan; each pod counts for one deletion, the narrowest (PL-019)."""

    def __init__(self, snapshot: Snapshot, deleted: Collection[Ref]) -> None:
        """Index a snapshot. Linear in its cliques, and in its pods where the plan deletes single pods."""
        self._snapshot = snapshot
        self._cliques = {clique.ref: clique for clique in snapshot.cliques}
        self._pods = (
            {pod.ref: pod for _, pod in snapshot.pods() if pod.ref in deleted}
            if any(ref.kind == POD_KIND for ref in deleted)
            else {}
        )
        self._groups = {group.ref: group.uid for group in snapshot.groups if group.ref in deleted}
        self._members: dict[str, list[PodClique]] = {uid: [] for uid in self._groups.values()}
        for ref, clique in self._cliques.items():
            if clique.owner_uid in self._members and ref not in deleted:
                self._members[clique.owner_uid].append(clique)

    def impact_of_deleting(self, target: Ref) -> DeletionImpact | None:
        """Return the impact of deleting the target; None where it has no pods, or they were not collected."""
        if target.kind == POD_KIND:
            found = self._pods.get(target)
            return None if found is None else _impact_of(((found,),))
        if POD_KIND in self._snapshot.not_collected or target.kind not in {"PodClique", GROUP_KIND}:
            return None
        clique = self._cliques.get(target)
        cliques = self._members.get(self._groups.get(target, ""), ()) if clique is None else (clique,)
        return _impact_of(map(self._remaining_pods, cliques))

    def _remaining_pods(self, clique: PodClique) -> Sequence[Pod]:
        """The pods of a clique that the plan does not delete one by one."""
        pods = self._snapshot.pods_of.get(clique.uid, ())
        return [pod for pod in pods if pod.ref not in self._pods] if self._pods else pods


def _impact_of(pods_by_clique: Iterable[Sequence[Pod]]) -> DeletionImpact:
    """The impact of deleting these pods; pods that are being deleted already do not count."""
    impact = DeletionImpact()
    for pods in pods_by_clique:
        remaining = [pod for pod in pods if not pod.deleting]
        gpus = sum([pod.gpus for pod in remaining if pod.scheduled and pod.phase not in FINISHED_PHASES])
        impact += DeletionImpact(len(remaining), sum([pod.ready for pod in remaining]), gpus)
    return impact
