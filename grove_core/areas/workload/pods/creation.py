"""Which pods of a set are made now, and which of them with a gate (WL-071, WL-075, WL-080, WL-088)."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.pods.manifest import NewPod, pod_names
from grove_core.areas.workload.pods.scheduling_gates import GangState
from grove_core.areas.workload.pods.slots import PodSlot, active_pods, free_slots, is_complete
from grove_core.areas.workload.template.expected_replicas import ExpectedClique, ExpectedGang
from grove_core.kernel.steps import Create
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.coming import refusals


class PodCreation:
    """What has to be known of gangs before their pods are made, found out once for all pods of a gang.

    Args:
        context: of the set.
        closed: names of cliques of which no pod is made in this round.

    Attributes:
        gangs: by name; those that are not being deleted.
        unwritable: kind and name of what cannot be made: it was refused, or somebody else's object has the name.
    """

    def __init__(self, context: WorkloadContext, closed: AbstractSet[str]) -> None:
        self.gangs = {gang.ref.name: gang for gang in context.snapshot.gangs if not gang.deleting}
        self._context = context
        self._closed = closed
        self._parts: dict[str, ExpectedGang] = {}
        self._open: dict[str, frozenset[str]] = {}
        self._placed: dict[str, bool] = {}
        self._named: dict[str, frozenset[str]] = {}
        self._coming: dict[str, bool] = {}
        self._first: dict[str, list[str]] = {}
        self.unwritable = _unwritable_in(context)

    def expect(self, parts: Iterable[ExpectedGang]) -> None:
        """The gangs of one replica: pods are made of it next."""
        self._parts = {part.name: part for part in parts}

    def of(self, part: ExpectedClique, clique: PodClique, places: Sequence[PodSlot]) -> Iterator[NewPod]:
        """Each pod that is made now."""
        if part.name in self._closed or (part.base_gang and self._comes(part.base_gang)):
            return
        referred = self._referred(part.gang)
        awaited = self._awaited(part)
        waits = bool(part.base_gang) and not self._is_placed(part.base_gang)
        open_ones = frozenset[str]() if waits else self._open_in(part.gang)
        pods, made_of = self._context.snapshot.pods_of.get(clique.uid, ()), self._context.made_of(clique, part)
        for name, place in zip(pod_names(clique, part, made_of, places, pods), places, strict=True):
            if name in referred or name not in awaited:
                yield NewPod(name, place, made_of, name not in open_ones)

    def awaits_gang(self, part: ExpectedClique) -> bool:
        """Whether first pods of a clique are not made before its gang refers to them (WL-088)."""
        return bool(self._awaited(part) - self._referred(part.gang))

    def places(self, part: ExpectedClique, clique: PodClique) -> Sequence[PodSlot]:
        """Where pods of the clique are missing."""
        pods = self._context.snapshot.pods_of.get(clique.uid, ())
        if is_complete(pods, part.replicas + part.surge):
            return ()
        return tuple(free_slots(pods, part.replicas, part.surge))

    def named(self, part: ExpectedGang) -> dict[str, list[str]]:
        """Clique -> its living pods with the gang's label, and its first ones before they are, sorted (WL-023)."""
        return {clique.name: self._pods_named(clique) for clique in part.cliques}

    def _pods_named(self, part: ExpectedClique) -> list[str]:
        clique = self._context.clique_of(part)
        pods = self._context.snapshot.pods_of.get(clique.uid, ()) if clique is not None else ()
        there = (pod.name for pod in pods if pod.gang == part.gang and not pod.deleting)
        return sorted((*there, *self._first_pods(part)))

    def _first_pods(self, part: ExpectedClique) -> list[str]:
        """Names of the pods of a clique that has none yet: their gang can refer to them before they are (WL-023)."""
        if part.name not in self._first:
            self._first[part.name] = self._names_of_first(part)
        return self._first[part.name]

    def _names_of_first(self, part: ExpectedClique) -> list[str]:
        clique = self._context.clique_of(part)
        if clique is None or not self._context.knows("Pod", "PodGang") or part.name in self._closed:
            return []
        if self._context.snapshot.pods_of.get(clique.uid):
            return []
        return pod_names(clique, part, self._context.made_of(clique, part), self.places(part, clique), ())

    def _awaited(self, part: ExpectedClique) -> AbstractSet[str]:
        """The first pods of a clique, which its gang is to refer to; none where there will be no such gang."""
        return frozenset() if ("PodGang", part.gang) in self.unwritable else frozenset(self._first_pods(part))

    def _referred(self, name: str) -> frozenset[str]:
        """The pods that a gang refers to; found once for all its cliques."""
        if name not in self._named:
            gang = self.gangs.get(name)
            self._named[name] = frozenset(pod for group in (gang.groups if gang else ()) for pod in group.pods)
        return self._named[name]

    def _open_in(self, name: str) -> frozenset[str]:
        """The pods that a gang refers to, if they are enough of each of its cliques (WL-075); found once for all."""
        if name not in self._open:
            gang, part = self.gangs.get(name), self._parts.get(name)
            named = self.named(part) if gang is not None and part is not None else {}
            complete = gang is not None and all(
                len({*group.pods}.intersection(named.get(group.name, ()))) >= group.min_replicas
                for group in gang.groups
            )
            self._open[name] = self._referred(name) if complete else frozenset()
        return self._open[name]

    def _is_placed(self, name: str) -> bool:
        """Whether of each clique of a base gang enough pods are placed (WL-094); found once for all."""
        if name not in self._placed:
            gang = self.gangs.get(name)
            self._placed[name] = (
                gang is not None and not GangState(self._context.snapshot, gang, self._context.cliques).unplaced
            )
        return self._placed[name]

    def _comes(self, name: str) -> bool:
        """Whether a pod is still to be made that the placing of a base gang waits for (WL-071); found once for all."""
        if name not in self._coming:
            part = self._parts.get(name)
            self._coming[name] = part is not None and any(map(self._lacks, part.cliques))
        return self._coming[name]

    def _lacks(self, part: ExpectedClique) -> bool:
        clique = self._context.clique_of(part)
        if clique is None or part.name in self._closed or not self.places(part, clique):
            return False
        return len(active_pods(self._context.snapshot.pods_of.get(clique.uid, ()))) < part.template.min_available


def _unwritable_in(context: WorkloadContext) -> AbstractSet[tuple[str, str]]:
    snapshot, namespace = context.snapshot, context.root.ref.namespace
    taken = {(kind, name) for kind, where, name in snapshot.strangers if where == namespace}
    return refusals(snapshot, Create).keys() | taken
