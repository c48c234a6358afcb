"""Reports why scheduled pods do not start: their init container waits for parents (WL-098, WL-099)."""

from collections.abc import Iterator, Mapping
from typing import Final

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

START_QUESTION: Final = "start"


def startup_wait_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Return a finding for each clique whose scheduled pods wait for parents, with the chain of parents.

    Linear in the cliques and their parents, for each clique that waits.
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
        because = tuple(_parents_not_ready(cliques, ready, cliques[name]))
        if because:
            yield Finding(cliques[name].ref, START_QUESTION, "Wait", because)


def _parents_not_ready(
    cliques: Mapping[str, PodClique], ready: Mapping[str, int], first: PodClique
) -> Iterator[Reason]:
    """Return a reason for each parent that is not ready, followed by the reasons of that parent; each clique once.

    ``ready`` has the number of ready pods by clique. There is no recursion: a chain may be longer than the call stack.
    """
    reported: set[str] = set()
    path = {first.ref.name: first}  # from the first clique to the one whose parents are visited
    pending = [iter(first.starts_after)]
    while pending:
        name, clique = next(reversed(path.items()))
        parent = next(pending[-1], None)
        if parent is None:
            pending.pop()
            del path[name]
            continue
        found = cliques.get(parent)
        if parent in path:
            names = list(path)
            circle = " -> ".join((*names[names.index(parent) :], parent))
            yield WorkloadReason.WAITS_IN_A_CIRCLE.because(clique.ref, circle=circle)
        elif found is None:
            yield WorkloadReason.PARENT_IS_MISSING.because(clique.ref, parent=parent)
        elif ready[parent] < found.min_available:
            yield WorkloadReason.PARENT_NOT_READY.because(
                clique.ref, parent=parent, ready=ready[parent], needed=found.min_available
            )
            if parent not in reported:
                reported.add(parent)
                path[parent] = found
                pending.append(iter(found.starts_after))
