"""From the blueprint to wishes: what a set should consist of and is nowhere yet.

An object is wished for once its owner exists: its manifest names the owner's uid (WL-010).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from grove_core.areas.workload.access import access_for, service_for
from grove_core.areas.workload.blueprint import CliquePart, GangPart, GroupPart, ReplicaPart, blueprint_of, size_of
from grove_core.areas.workload.claims import claims_of_clique, claims_of_group, claims_of_set
from grove_core.areas.workload.cliques import podclique_for, scaling_group_for
from grove_core.areas.workload.gangs import change_of_podgang, podgang_for
from grove_core.areas.workload.ordering import Ordering
from grove_core.areas.workload.pods import pod_for
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scalers import autoscaler_for
from grove_core.kernel.wants import Applied, Desired, HeldBack, Present
from grove_core.resources.names import replica_name
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot

MOST: Final = 1_000_000
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def wants_of_expansion(snapshot: Snapshot) -> Desired:
    """Everything a set should consist of that is not there, if its owner is (WL-010 to WL-024). Linear.

    Args:
        snapshot: of a set that is not being deleted, with everything it owns.
    """
    size = size_of(snapshot)
    if size > MOST:
        because = Why.TOO_LARGE.because(snapshot.root.ref, objects=size, most=MOST)
        return Desired((), (HeldBack(snapshot.root.ref, (because,)),))
    there = {(ref.kind, ref.name) for ref in snapshot.targets()}
    wants: list[Present | Applied] = []
    held: list[HeldBack] = []
    taken: dict[tuple[str, str], _Sketch] = {}
    for item in _Expansion(snapshot).everything():
        if isinstance(item, HeldBack):
            held.append(item)
        elif isinstance(item, Applied):
            wants.append(item)
        elif (item.kind, item.name) in taken:
            first, second = taken[item.kind, item.name].make(), item.make()
            because = Why.NAME_WANTED_TWICE.because(second.target, other=first.because[0].sentence)
            held.append(HeldBack(second.target, (because, *second.because)))
        else:
            taken[item.kind, item.name] = item
            if (item.kind, item.name) not in there:
                wants.append(item.make())
    return Desired(tuple(wants), tuple(held))


class _Sketch(NamedTuple):
    """An object by kind and name; its manifest is made only where there is no such object, and mostly there is."""

    kind: str
    name: str
    make: Callable[[], Present]


class _Expansion:
    """One walk over everything a set should consist of."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._root = snapshot.root
        self._ordering = Ordering(snapshot.root)
        self._groups = {group.ref.name: group for group in snapshot.groups if not group.deleting}
        self._cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
        self._gangs = {gang.ref.name: gang for gang in snapshot.gangs}

    def everything(self) -> Iterator[_Sketch | Applied | HeldBack]:
        """What the set has once, then what it has for each replica."""
        yield from _made(access_for(self._root))
        yield from _made(claims_of_set(self._root))
        for replica in blueprint_of(self._snapshot):
            name = replica_name(self._root.ref.name, replica.index)
            yield _Sketch("Service", name, partial(service_for, self._root, replica.index))
            yield from self._autoscalers(replica)
            for part in replica.cliques:
                yield self._clique(self._root, part)
            for group in replica.groups:
                yield from self._group(group)
            for gang in replica.gangs:
                yield from self._gang(gang)
            for part in replica.all_cliques:
                yield from self._pods(part)

    def _clique(self, owner: PodCliqueSet | ScalingGroup, part: CliquePart) -> _Sketch:
        return _Sketch("PodClique", part.name, partial(podclique_for, self._root, owner, part, self._ordering))

    def _autoscalers(self, replica: ReplicaPart) -> Iterator[_Sketch]:
        specs = ((part.name, part.template.spec) for part in replica.cliques)
        templates = ((part.name, part.template) for part in replica.groups)
        scaled = (
            *(("PodClique", name, spec.auto_scaling_config, spec.replicas) for name, spec in specs),
            *((GROUP_KIND, name, template.scale_config, template.replicas) for name, template in templates),
        )
        for kind, name, scaling, replicas in scaled:
            if scaling is not None:
                make = partial(autoscaler_for, self._root, kind, name, scaling, replicas)
                yield _Sketch("HorizontalPodAutoscaler", name, make)

    def _group(self, part: GroupPart) -> Iterator[_Sketch | HeldBack]:
        yield _Sketch(GROUP_KIND, part.name, partial(scaling_group_for, self._root, part))
        group = self._groups.get(part.name)
        if group is not None:
            yield from _made(claims_of_group(self._root, group, part))
            for member in part.cliques:
                yield self._clique(group, member)

    def _gang(self, part: GangPart) -> Iterator[_Sketch | Applied]:
        pods = {clique.name: self._pods_named(clique) for clique in part.cliques}
        gang = self._gangs.get(part.name)
        yield _Sketch("PodGang", part.name, partial(podgang_for, self._root, part, pods))
        change = change_of_podgang(self._root, gang, part, pods) if gang is not None else None
        if change is not None:
            yield change

    def _pods(self, part: CliquePart) -> Iterator[_Sketch | HeldBack]:
        clique = self._cliques.get(part.name)
        if clique is None:
            return
        yield from _made(claims_of_clique(self._root, clique, part))
        for index, before in _gaps(self._snapshot.pods_of.get(clique.uid, ()), part.replicas):
            yield from _made((pod_for(self._root, clique, part, index, before, self._ordering),))

    def _pods_named(self, part: CliquePart) -> list[str]:
        """Names of a clique's living pods that carry the gang's label, sorted (WL-023)."""
        clique = self._cliques.get(part.name)
        pods = self._snapshot.pods_of.get(clique.uid, ()) if clique is not None else ()
        return sorted(pod.name for pod in pods if pod.gang == part.gang and not pod.deleting)


def _made(wants: Iterable[Present | HeldBack]) -> Iterator[_Sketch | HeldBack]:
    for want in wants:
        if isinstance(want, HeldBack):
            yield want
        else:
            yield _Sketch(want.target.kind, want.target.name, partial(_the_same, want))


def _the_same(want: Present) -> Present:
    return want


def _gaps(pods: Iterable[Pod], replicas: int) -> Iterator[tuple[int, list[str]]]:
    """The lowest indices that no living pod has, as many as pods are missing (WL-083).

    With each the uids of the pods that had it and are not gone yet, sorted. Linear.
    """
    taken: set[int] = set()
    missing, going = replicas, defaultdict[int, list[str]](list)
    for pod in pods:
        if pod.deleting or pod.phase in _ENDED:
            going[pod.index].append(pod.uid)
        else:
            taken.add(pod.index)
            missing -= 1
    free = (index for index in range(len(taken) + replicas) if index not in taken)
    for index in islice(free, max(0, missing)):
        yield index, sorted(going.get(index, ()))
