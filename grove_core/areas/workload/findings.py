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
        because = tuple(_whom(cliques, ready, cliques[name]))
        if because:
            yield Finding(cliques[name].ref, START_QUESTION, "Wait", because)


def _whom(cliques: Mapping[str, PodClique], ready: Mapping[str, int], first: PodClique) -> Iterator[Reason]:
    """Whom a clique waits for, each followed by whom that one waits for; everybody is told of once.

    Without recursion: a chain may be longer than any stack of calls.

    Args:
        cliques: by name.
        ready: name of a clique -> its ready pods.
        first: who waits.
    """
    told: set[str] = set()
    way = {first.ref.name: first}  # from the clique that was asked for to the one whose parents are looked at
    walks = [iter(first.starts_after)]
    while walks:
        name, clique = next(reversed(way.items()))
        parent = next(walks[-1], None)
        if parent is None:
            walks.pop()
            del way[name]
            continue
        found = cliques.get(parent)
        if parent in way:
            names = list(way)
            circle = " -> ".join((*names[names.index(parent) :], parent))
            yield Why.WAITS_IN_A_CIRCLE.because(clique.ref, circle=circle)
        elif found is None:
            yield Why.PARENT_IS_MISSING.because(clique.ref, parent=parent)
        elif ready[parent] < found.min_available:
            yield Why.PARENT_NOT_READY.because(
                clique.ref, parent=parent, ready=ready[parent], needed=found.min_available
            )
            if parent not in told:
                told.add(parent)
                way[parent] = found
                walks.append(iter(found.starts_after))
