"""From the blueprint to wishes: what a set should consist of and is not so yet, and what of it is too much.

An object is wished for once its owner exists: its manifest names the owner's uid (WL-010).
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import Fabric
from grove_core.areas.topology.verdicts import Misplaced, Placing
from grove_core.areas.workload.access import access_for, service_for, service_spec
from grove_core.areas.workload.births import Births
from grove_core.areas.workload.blueprint import CliquePart, GangPart, GroupPart, ReplicaPart
from grove_core.areas.workload.claims import Shared, claims_of_clique, claims_of_group, claims_of_set
from grove_core.areas.workload.cliques import (
    Joined,
    change_of_scaling_group,
    changes_of_podclique,
    podclique_for,
    scaling_group_for,
)
from grove_core.areas.workload.crew import Place, doubles, excess, has_ended, living
from grove_core.areas.workload.gangs import Move, change_of_podgang, podgang_for
from grove_core.areas.workload.ordering import Ordering
from grove_core.areas.workload.placing import placement_of
from grove_core.areas.workload.pods import pod_for
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scalers import autoscaler_for
from grove_core.areas.workload.scene import Scene
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Applied, Desired, HeldBack, Present, Want
from grove_core.resources.keys import GROVE, MANAGED_BY, SCHEDULER
from grove_core.resources.membership import is_managed
from grove_core.resources.meta import NO_TEXTS
from grove_core.resources.names import replica_name
from grove_core.resources.overlay import differing
from grove_core.resources.owned import Owned
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup

_FOLLOWING: Final = frozenset({"Service", "HorizontalPodAutoscaler"})  # the template may change what they say
_COUNTED: Final = frozenset({"Service", "HorizontalPodAutoscaler", "ResourceClaim"})  # as many as there are replicas


class Midst(NamedTuple):
    """What goes on while a set is completed.

    Attributes:
        ending: where no clique and no pod is made (WL-076).
        fabric: where no clique and no group is made yet (MN-010), and what new ones are annotated with (MN-020).
        placing: what gangs are told of their topology (TP-020), or why none is made (TP-010).
        written: names of the cliques that take over another template in this round; their pods wait for that (WL-086).
    """

    ending: Ending
    fabric: Fabric
    placing: Placing
    written: AbstractSet[str] = frozenset()


def wants_of_expansion(scene: Scene, replicas: Sequence[ReplicaPart], midst: Midst) -> Desired:
    """Everything a set should consist of that is not so (WL-010 to WL-026), and what of it is too much.

    Linear. Kinds of which the snapshot may lack something are left alone.

    Args:
        scene: of a set that is not being deleted.
        replicas: its blueprint.
        midst: what goes on meanwhile.
    """
    snapshot = scene.snapshot
    there = {(ref.kind, ref.name): found for ref, found in snapshot.targets().items()}
    wants: list[Want] = []
    held: list[HeldBack] = []
    taken: dict[tuple[str, str], _Sketch] = {}
    ends = _names_in(replicas, midst.ending)
    waiting = _waiting_in(replicas, midst.fabric)
    for item in _Expansion(scene, midst.written | ends, midst).everything(replicas):
        if isinstance(item, HeldBack):
            held.append(item)
        elif isinstance(item, Applied | Absent):
            wants.append(item)
        elif (item.kind, item.name) in taken:
            first, second = taken[item.kind, item.name].make(), item.make()
            because = Why.NAME_WANTED_TWICE.because(second.target, other=first.because[0].sentence)
            held.append(HeldBack(second.target, (because, *second.because)))
        else:
            taken[item.kind, item.name] = item
            found = there.get((item.kind, item.name))
            if item.kind not in snapshot.complete:
                continue
            if found is None and (item.kind, item.name) in waiting:
                ref = Ref(GROVE, item.kind, snapshot.root.ref.namespace, item.name)
                held.append(HeldBack(ref, waiting[item.kind, item.name]))
            elif found is None and not (item.kind == "PodClique" and item.name in ends):
                want = item.make()
                holder = snapshot.strangers.get((item.kind, want.target.namespace, item.name))
                if holder is None:
                    wants.append(want)
                else:
                    because = Why.NAME_IS_ANOTHERS.because(want.target, holder=holder)
                    held.append(HeldBack(want.target, (because, *want.because)))
            elif item.kind in _FOLLOWING and isinstance(found, Owned) and not _says(found, item):
                wants.extend(_following(found, item.make()))
    expected = {*taken, *((item.target.kind, item.target.name) for item in held)}
    wants.extend(_no_longer_part(scene, expected))
    return Desired(tuple(wants), tuple(held))


def _says(found: Owned, item: "_Sketch") -> bool:
    """Whether an object says what it should, by its spec alone; most do, and need no manifest to be held against."""
    return item.spec is not None and not differing(item.spec(), found.spec)


def _names_in(replicas: Iterable[ReplicaPart], ending: Ending) -> AbstractSet[str]:
    """The cliques of what is being ended."""
    if not ending.replicas and not ending.parts:
        return frozenset()
    parts = (part for replica in replicas for part in replica.all_cliques)
    return {part.name for part in parts if ending.holds(part.replica, part.group, part.group_replica)}


def _waiting_in(replicas: Iterable[ReplicaPart], fabric: Fabric) -> Mapping[tuple[str, str], tuple[Reason, ...]]:
    """The cliques and groups of replicas that wait for a ComputeDomain, and why (MN-010)."""
    return {
        (kind, part.name): fabric.waiting[replica.index]
        for replica in (replicas if fabric.waiting else ())
        if replica.index in fabric.waiting
        for kind, parts in (("PodClique", replica.all_cliques), (GROUP_KIND, replica.groups))
        for part in parts
    }


def _following(found: Owned, wanted: Present) -> Iterator[Applied]:
    """What an object should say otherwise; fields that a server filled in are no difference (WL-025)."""
    spec = wanted.manifest["spec"]
    fields = differing(spec, found.spec) if isinstance(spec, FrozenMap) else spec
    if fields and found.managed and not found.deleting:
        because = (Why.FOLLOWS_TEMPLATE.because(found.ref), *wanted.because)
        yield Applied(found.ref, found.guard, FrozenMap({"spec": fields}), because)


def _no_longer_part(scene: Scene, expected: set[tuple[str, str]]) -> Iterator[Absent]:
    """Gangs, services, autoscalers and claims that the set does not consist of any more (WL-202)."""
    for gang in scene.snapshot.gangs:
        named = gang.labels.get(MANAGED_BY) is not None or not gang.labels
        if named and not gang.deleting and ("PodGang", gang.ref.name) not in expected:
            yield Absent(gang.ref, gang.guard, (Why.NO_LONGER_PART.because(gang.ref),))
    for other in scene.snapshot.others:
        kind = other.ref.kind
        counts = kind in _COUNTED and other.managed and not is_managed(other.labels)
        if counts and not other.deleting and (kind, other.ref.name) not in expected:
            because = Why.NO_LONGER_PART.because(other.ref)
            yield Absent(other.ref, other.guard, (because,))


class _Sketch(NamedTuple):
    """An object by kind and name; its manifest is made only where there is no such object, and mostly there is.

    Attributes:
        spec: that of the manifest, where it can be had for less.
    """

    kind: str
    name: str
    make: Callable[[], Present]
    spec: Callable[[], FrozenMap] | None = None


class _Expansion:
    """One walk over everything a set should consist of."""

    def __init__(self, scene: Scene, closed: AbstractSet[str], midst: Midst) -> None:
        self._scene = scene
        self._templates = midst.fabric.templates
        self._annotations = midst.fabric.annotations
        self._placing = midst.placing
        self._root = scene.root
        self._complete = scene.snapshot.complete
        self._ordering = Ordering(scene.root)
        self._births = Births(scene, closed)
        self._lacking: dict[str, str] = {}

    def everything(self, replicas: Iterable[ReplicaPart]) -> Iterator[_Sketch | Applied | Absent | HeldBack]:
        """What the set has once, then what it has for each replica."""
        yield from itertools.starmap(_Sketch, access_for(self._root))
        yield from _shared(claims_of_set(self._scene))
        for replica in replicas:
            name, here = replica_name(self._root.ref.name, replica.index), (self._root, replica.index)
            yield _Sketch("Service", name, partial(service_for, *here), partial(service_spec, *here))
            yield from self._autoscalers(replica)
            for part in replica.cliques:
                yield from self._clique(self._root, part)
            for group in replica.groups:
                yield from self._group(group)
            for gang in replica.gangs:
                yield from self._gang(gang)
            if "Pod" in self._complete:
                self._births.expect(replica.gangs)
                for part in replica.all_cliques:
                    yield from self._pods(part)

    def _clique(self, owner: PodCliqueSet | ScalingGroup, part: CliquePart) -> Iterator[_Sketch | Applied]:
        joined = self._templates.get(part.replica, "")
        told = Joined(joined, self._annotations.get(part.template.name, NO_TEXTS))
        make = partial(podclique_for, self._root, owner, part, self._ordering, self._scene.revision, told)
        yield _Sketch("PodClique", part.name, make)
        clique = self._scene.clique_of(part)
        if clique is not None and self._scene.revision.is_current(clique, part):
            pods = self._scene.snapshot.pods_of.get(clique.uid, ())
            fields = changes_of_podclique(clique, part, self._scene.revision, pods)
            if fields:
                why = Why.FOLLOWS_TEMPLATE if clique.template_hash else Why.HASH_MISSING
                yield Applied(clique.ref, clique.guard, fields, (why.because(clique.ref),))

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

    def _group(self, part: GroupPart) -> Iterator[_Sketch | Applied | HeldBack]:
        yield _Sketch(
            GROUP_KIND, part.name, partial(scaling_group_for, self._root, part, self._templates.get(part.replica, ""))
        )
        group = self._scene.groups.get(part.name)
        if group is not None:
            fields = change_of_scaling_group(group, part)
            if fields:
                yield Applied(group.ref, group.guard, fields, (Why.FOLLOWS_TEMPLATE.because(group.ref),))
            yield from _shared(claims_of_group(self._scene, group, part))
            for member in part.cliques:
                yield from self._clique(group, member)

    def _gang(self, part: GangPart) -> Iterator[_Sketch | Applied | HeldBack]:
        gang = self._births.gangs.get(part.name)
        if gang is None:
            missing = next(filter(None, map(self._unmakeable, part.cliques)), "") if self._births.unwritable else ""
            if missing:
                self._lacking[part.name] = missing
                ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, part.name)
                yield HeldBack(ref, (Why.GANG_LACKS_CLIQUE.because(ref, gang=part.name, missing=missing),))
            elif self._placing.waiting and "PodGang" in self._complete:
                ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, part.name)
                yield HeldBack(ref, self._placing.waiting)
            elif all(self._scene.clique_of(clique) is not None for clique in part.cliques):
                placement = placement_of(self._root, part, self._placing)
                make = partial(podgang_for, self._root, part, self._births.named(part), placement)
                yield _Sketch("PodGang", part.name, make)
            return
        yield _Sketch("PodGang", part.name, partial(podgang_for, self._root, part, {}))
        if "Pod" in self._complete:
            move = self._move_of(gang, part)
            if isinstance(move, HeldBack):
                yield move
                move = None
            change = change_of_podgang(self._root, gang, part, self._births.named(part), move)
            if change is not None:
                yield change

    def _move_of(self, gang: PodGang, part: GangPart) -> Move | HeldBack | None:
        """What becomes of a gang that says otherwise than its topology; what was said stays where none applies."""
        placing = self._placing
        if not placing.topology:
            return None
        wanted = placement_of(self._root, part, placing)
        if wanted == gang.placement:
            return None
        if placing.follows is not None:
            return Move(wanted, placing.follows)
        return Misplaced(gang.ref, (placing.locked,)) if placing.locked is not None else None

    def _unmakeable(self, part: CliquePart) -> str:
        """What of a gang is not there and will not be: a clique, or the scaling group that would own it; or empty."""
        if self._scene.clique_of(part) is not None:
            return ""
        named = (("PodClique", part.name), (GROUP_KIND, part.group))
        return next((f"{kind}/{name}" for kind, name in named if (kind, name) in self._births.unwritable), "")

    def _pods(self, part: CliquePart) -> Iterator[_Sketch | Absent | HeldBack]:
        clique = self._scene.clique_of(part)
        if clique is None:
            return
        pods = self._scene.snapshot.pods_of.get(clique.uid, ())
        places = self._births.places(part, clique)
        if part.template.resource_sharing:
            indices = sorted({pod.index for pod in pods} | {place.index for place in places})
            yield from _shared(claims_of_clique(self._scene, clique, part, indices))
        if places:
            yield from self._new_pods(part, clique, places)
        yield from _too_many(clique, pods, part.replicas + part.surge)

    def _new_pods(self, part: CliquePart, clique: PodClique, places: Sequence[Place]) -> Iterator[_Sketch | HeldBack]:
        if part.gang in self._lacking and self._births.awaits_gang(part):
            lacks = Why.GANG_LACKS_CLIQUE.because(clique.ref, gang=part.gang, missing=self._lacking[part.gang])
            yield HeldBack(clique.ref, (lacks,))
        image = self._scene.snapshot.configuration.init_image
        for name, place, gated in self._births.of(part, clique, places):
            pod = pod_for(self._root, clique, part, place, name, self._ordering, gated=gated, image=image)
            yield _Sketch("Pod", name, partial(_the_same, pod))


def _too_many(clique: PodClique, pods: Sequence[Pod], wanted: int) -> Iterator[Absent | HeldBack]:
    """Pods that have ended, living ones beyond those wanted, and all but one of an index (WL-203 to WL-206)."""
    for pod in pods:
        if has_ended(pod) and not pod.deleting and pod.uid:
            yield Absent(pod.ref, pod.guard, (Why.ENDED_POD.because(clique.ref, phase=pod.phase),))
    for pod in excess(pods, wanted, clique.template_hash):
        yield Absent(pod.ref, pod.guard, (Why.EXCESS_POD.because(clique.ref, wanted=wanted),))
    alike = doubles(pods, clique.template_hash)
    if alike and len(living(pods)) <= wanted:
        yield from _doubled(clique, pods, alike)


def _doubled(clique: PodClique, pods: Sequence[Pod], alike: Sequence[Pod]) -> Iterator[Absent | HeldBack]:
    """One pod of an index that has several, unless it is ready and the clique cannot spare it (WL-205, WL-206)."""
    double, ready = alike[0], sum(pod.ready for pod in living(pods))
    if double.ready and ready <= clique.needed:
        because = Why.DOUBLE_IS_NEEDED.because(clique.ref, index=double.index, ready=ready, needed=clique.needed)
        yield HeldBack(double.ref, (because,))
    else:
        yield Absent(double.ref, double.guard, (Why.DOUBLED_POD.because(clique.ref, index=double.index),))


def _shared(claims: Shared) -> Iterator[_Sketch | HeldBack]:
    for claim in claims:
        yield claim if isinstance(claim, HeldBack) else _Sketch("ResourceClaim", claim.name, claim.make)


def _the_same(want: Present) -> Present:
    return want
