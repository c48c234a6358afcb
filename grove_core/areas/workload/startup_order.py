"""The start-up order of cliques (WL-050), and why scheduled pods wait for their parents (WL-098, WL-099)."""

from collections.abc import Iterator, Mapping

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import START_ORDER
from grove_core.kernel.reasons import Reason
from grove_core.resources.naming_rules import member_clique_name, scaling_group_name, standalone_clique_name
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import EXPLICIT, IN_ORDER, first_templates_by_name
from grove_core.snapshot.expected_replicas import ExpectedClique
from grove_core.snapshot.snapshot import Snapshot


class StartupOrder:
    """The start-up order of one set."""

    def __init__(self, root: PodCliqueSet) -> None:
        template = root.spec.template
        self._set_name = root.ref.name
        self._cliques = first_templates_by_name(template.cliques)
        self._before: dict[str, tuple[str, ...]] = {}
        if template.clique_startup_type == IN_ORDER:
            names = [clique.name for clique in template.cliques]
            self._before = {name: (names[place],) for place, name in enumerate(names[1:])}
        elif template.clique_startup_type == EXPLICIT:
            self._before = {clique.name: clique.spec.starts_after for clique in template.cliques}
        self._homes = template.groups_by_clique

    def parents_of_clique(self, part: ExpectedClique) -> tuple[tuple[str, int], ...]:
        """Return the cliques whose pods must be ready first: full name and number of pods.

        Parents are in the same gang; a clique of a scaled gang waits only for its own group replica (WL-050).
        """
        return tuple(
            (name, self._cliques[short].min_available)
            for short in self._before.get(part.template.name, ())
            if short in self._cliques
            for name in self._names_of(short, part)
        )

    def _names_of(self, short: str, part: ExpectedClique) -> Iterator[str]:
        group = self._homes.get(short)
        if part.base_gang:
            own = scaling_group_name(self._set_name, part.replica, group.name) if group else ""
            if part.group is not None and own == part.group.name:
                yield member_clique_name(own, part.group.replica, short)
        elif group is None:
            yield standalone_clique_name(self._set_name, part.replica, short)
        else:
            name = scaling_group_name(self._set_name, part.replica, group.name)
            for index in range(group.min_available):
                yield member_clique_name(name, index, short)


def startup_wait_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each clique whose scheduled pods wait for parents, with the chain of parents.

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
            yield Finding(cliques[name].ref, START_ORDER, "Wait", because)


def _parents_not_ready(
    cliques: Mapping[str, PodClique], ready: Mapping[str, int], first: PodClique
) -> Iterator[Reason]:
    """Yield a reason for each parent that is not ready, followed by the reasons of that parent; each clique once.

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
