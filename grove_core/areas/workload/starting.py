"""Why placed pods do not start: their init container waits for parents, which may wait for theirs (WL-098, WL-099)."""

from collections.abc import Iterator, Mapping
from typing import Final

from grove_core.areas.workload.rules import Why
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

START_QUESTION: Final = "start"


def findings_of_start(snapshot: Snapshot) -> Iterator[Finding]:
    """Each clique with a start-up order whose placed pods wait for it, with the chain to who keeps all of them.

    Linear in the cliques and what they start after, for each clique that waits.
    """
    if not any(clique.starts_after for clique in snapshot.cliques):
        return
    cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
    ready: dict[str, int] = {}
    starting: set[str] = set()
    for name, clique in cliques.items():
        pods = [pod for pod in snapshot.pods_of.get(clique.uid, ()) if not pod.deleting]
        ready[name] = sum(pod.ready for pod in pods)
        if any(pod.scheduled and not pod.ready for pod in pods):
            starting.add(name)
    for name in sorted(starting):
        because = tuple(_Waiting(cliques, ready).whom(cliques[name], (name,)))
        if because:
            yield Finding(cliques[name].ref, START_QUESTION, "Wait", because)


class _Waiting:
    """What has to be known of a set to follow a wait."""

    def __init__(self, cliques: Mapping[str, PodClique], ready: Mapping[str, int]) -> None:
        self.cliques = cliques
        self.ready = ready
        self.told: set[str] = set()

    def whom(self, clique: PodClique, way: tuple[str, ...]) -> Iterator[Reason]:
        """Whom a clique waits for, each followed by whom that one waits for; everybody is told of once.

        Args:
            clique: whose parents are looked at.
            way: names from the clique that was asked for to this one.
        """
        for parent in clique.starts_after:
            found = self.cliques.get(parent)
            if parent in way:
                yield Why.WAITS_IN_A_CIRCLE.because(clique.ref, circle=" -> ".join((*way[way.index(parent) :], parent)))
            elif found is None:
                yield Why.PARENT_IS_MISSING.because(clique.ref, parent=parent)
            elif self.ready[parent] < found.min_available:
                ready, needed = self.ready[parent], found.min_available
                yield Why.PARENT_NOT_READY.because(clique.ref, parent=parent, ready=ready, needed=needed)
                if parent not in self.told:
                    self.told.add(parent)
                    yield from self.whom(found, (*way, parent))
