"""From the blueprint to wishes: what a set should consist of and is not so yet, and what of it is too much.

An object is wished for once its owner exists: its manifest names the owner's uid (WL-010).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import Fabric
from grove_core.areas.topology.verdicts import Placing
from grove_core.areas.workload.access import access_for, service_for, service_spec
from grove_core.areas.workload.births import Births
from grove_core.areas.workload.blueprint import CliquePart, GangPart, GroupPart, ReplicaPart, once
from grove_core.areas.workload.claims import claims_of_clique, claims_of_group, claims_of_set
from grove_core.areas.workload.cliques import (
    Joined,
    change_of_scaling_group,
    changes_of_podclique,
    podclique_for,
    scaling_group_for,
)
from grove_core.areas.workload.crew import Place
from grove_core.areas.workload.gangs import Move, change_of_podgang, podgang_for
from grove_core.areas.workload.manifests import Sketch
from grove_core.areas.workload.ordering import Ordering
from grove_core.areas.workload.placing import placement_of
from grove_core.areas.workload.pods import pod_for
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.scalers import autoscaler_for, given_up
from grove_core.areas.workload.scene import Scene
from grove_core.areas.workload.surplus import no_longer_part, too_many
from grove_core.kernel.frozen import FrozenMap, part_of
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Applied, Desired, HeldBack, Present, Want
from grove_core.resources.keys import GROVE, SCHEDULER
from grove_core.resources.meta import NO_TEXTS
from grove_core.resources.names import replica_name
from grove_core.resources.overlay import differing
from grove_core.resources.owned import Owned
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup

_FOLLOWING: Final = frozenset({"Service", "HorizontalPodAutoscaler"})  # the template may change what they say


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


class Expansion(NamedTuple):
    """What a set should consist of and does not.

    Attributes:
        misplaced: names of the gangs that stay although their topology says otherwise (TP-026).
    """

    desired: Desired
    misplaced: tuple[str, ...]


def wants_of_expansion(scene: Scene, replicas: Sequence[ReplicaPart], midst: Midst) -> Expansion:
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
    taken: dict[tuple[str, str], Sketch] = {}
    ends = _names_in(replicas, midst.ending)
    waiting = _waiting_in(replicas, midst.fabric)
    walk = _Expansion(scene, midst.written | ends, midst)
    for item in walk.everything(replicas):
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
            if not scene.knows(item.kind):
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
    wants.extend(no_longer_part(scene, expected))
    return Expansion(Desired(tuple(wants), tuple(held)), tuple(walk.misplaced))


def _says(found: Owned, item: Sketch) -> bool:
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
    spec = part_of(wanted.manifest, "spec")
    fields = FrozenMap({**differing(spec, found.spec), **given_up(spec, found.spec)})
    if fields and found.managed and not found.deleting:
        because = (Why.FOLLOWS_TEMPLATE.because(found.ref), *wanted.because)
        yield Applied(found.ref, found.guard, FrozenMap({"spec": fields}), because)


class _Expansion:
    """One walk over everything a set should consist of.

    Attributes:
        misplaced: names of the gangs that were met and stay although their topology says otherwise.
    """

    def __init__(self, scene: Scene, closed: AbstractSet[str], midst: Midst) -> None:
        self._scene = scene
        self._templates = midst.fabric.templates
        self._annotations = midst.fabric.annotations
        self._placing = midst.placing
        self._root = scene.root
        self._ordering = Ordering(scene.root)
        self._births = Births(scene, closed)
        self._lacking: dict[str, str] = {}
        self.misplaced: list[str] = []

    def everything(self, replicas: Iterable[ReplicaPart]) -> Iterator[Sketch | Applied | Absent | HeldBack]:
        """What the set has once, then what it has for each replica."""
        yield from self._repeated()
        yield from access_for(self._root)
        yield from claims_of_set(self._scene)
        for replica in replicas:
            name, here = replica_name(self._root.ref.name, replica.index), (self._root, replica.index)
            yield Sketch("Service", name, partial(service_for, *here), partial(service_spec, *here))
            yield from self._autoscalers(replica)
            for part in replica.cliques:
                yield from self._clique(self._root, part)
            for group in replica.groups:
                yield from self._group(group)
            for gang in replica.gangs:
                yield from self._gang(gang)
            if self._scene.knows("Pod"):
                self._births.expect(replica.gangs)
                for part in replica.all_cliques:
                    yield from self._pods(part)

    def _repeated(self) -> Iterator[HeldBack]:
        """Cliques and groups of one name, and members that a group names again: the first counts (WL-022)."""
        template = self._root.spec.template
        named = [
            *(f"clique {clique.name}" for clique in template.cliques),
            *(f"scaling group {group.name}" for group in template.pod_clique_scaling_groups),
            *(
                f"member {short} of scaling group {group.name}"
                for group in once(template.pod_clique_scaling_groups).values()
                for short in group.clique_names
            ),
        ]
        for what, times in Counter(named).items() if len(set(named)) < len(named) else ():
            if times > 1:
                because = Why.NAME_WANTED_TWICE.because(self._root.ref, other=f"{what}, the first of {times}")
                yield HeldBack(self._root.ref, (because,))

    def _clique(self, owner: PodCliqueSet | ScalingGroup, part: CliquePart) -> Iterator[Sketch | Applied]:
        joined = self._templates.get(part.replica, "")
        told = Joined(joined, self._annotations.get(part.template.name, NO_TEXTS))
        make = partial(podclique_for, self._root, owner, part, self._ordering, self._scene.revision, told)
        yield Sketch("PodClique", part.name, make)
        clique = self._scene.clique_of(part)
        if clique is not None and self._scene.revision.is_current(clique, part):
            pods = self._scene.snapshot.pods_of.get(clique.uid, ())
            fields = changes_of_podclique(clique, part, self._scene.revision, pods)
            if fields:
                why = Why.FOLLOWS_TEMPLATE if clique.template_hash else Why.HASH_MISSING
                yield Applied(clique.ref, clique.guard, fields, (why.because(clique.ref),))

    def _autoscalers(self, replica: ReplicaPart) -> Iterator[Sketch]:
        specs = ((part.name, part.template.spec) for part in replica.cliques)
        templates = ((part.name, part.template) for part in replica.groups)
        scaled = (
            *(("PodClique", name, spec.auto_scaling_config, spec.replicas) for name, spec in specs),
            *((GROUP_KIND, name, template.scale_config, template.replicas) for name, template in templates),
        )
        for kind, name, scaling, replicas in scaled:
            if scaling is not None:
                make = partial(autoscaler_for, self._root, kind, name, scaling, replicas)
                yield Sketch("HorizontalPodAutoscaler", name, make)

    def _group(self, part: GroupPart) -> Iterator[Sketch | Applied | HeldBack]:
        yield Sketch(
            GROUP_KIND, part.name, partial(scaling_group_for, self._root, part, self._templates.get(part.replica, ""))
        )
        group = self._scene.groups.get(part.name)
        if group is not None:
            fields = change_of_scaling_group(group, part)
            if fields:
                yield Applied(group.ref, group.guard, fields, (Why.FOLLOWS_TEMPLATE.because(group.ref),))
            yield from claims_of_group(self._scene, group, part)
            for member in part.cliques:
                yield from self._clique(group, member)

    def _gang(self, part: GangPart) -> Iterator[Sketch | Applied | HeldBack]:
        gang = self._births.gangs.get(part.name)
        if gang is not None:
            yield Sketch("PodGang", part.name, partial(podgang_for, self._root, part, {}))
            if self._scene.knows("Pod", "PodGang"):  # which pods there are, and which ones gangs bring about (WL-023)
                yield from self._changes_of(gang, part)
        elif self._scene.knows("PodGang"):
            yield from self._new_gang(part)

    def _new_gang(self, part: GangPart) -> Iterator[Sketch | HeldBack]:
        missing = next(filter(None, map(self._unmakeable, part.cliques)), "") if self._births.unwritable else ""
        ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, part.name)
        if missing:
            self._lacking[part.name] = missing
            yield HeldBack(ref, (Why.GANG_LACKS_CLIQUE.because(ref, gang=part.name, missing=missing),))
        elif self._placing.waiting:
            yield HeldBack(ref, self._placing.waiting)
        elif all(self._scene.clique_of(clique) is not None for clique in part.cliques):
            placement = placement_of(self._root, part, self._placing)
            yield Sketch(
                "PodGang", part.name, partial(podgang_for, self._root, part, self._births.named(part), placement)
            )

    def _changes_of(self, gang: PodGang, part: GangPart) -> Iterator[Applied | HeldBack]:
        move = self._move_of(gang, part)
        if isinstance(move, HeldBack):
            self.misplaced.append(part.name)
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
        return HeldBack(gang.ref, (placing.locked,)) if placing.locked is not None else None

    def _unmakeable(self, part: CliquePart) -> str:
        """What of a gang is not there and will not be: a clique, or the scaling group that would own it; or empty."""
        if self._scene.clique_of(part) is not None:
            return ""
        named = (("PodClique", part.name), (GROUP_KIND, part.group))
        return next((f"{kind}/{name}" for kind, name in named if (kind, name) in self._births.unwritable), "")

    def _pods(self, part: CliquePart) -> Iterator[Sketch | Absent | HeldBack]:
        clique = self._scene.clique_of(part)
        if clique is None:
            return
        pods = self._scene.snapshot.pods_of.get(clique.uid, ())
        places = self._births.places(part, clique)
        if part.template.resource_sharing:
            indices = sorted({pod.index for pod in pods} | {place.index for place in places})
            yield from claims_of_clique(self._scene, clique, part, indices)
        if places:
            yield from self._new_pods(part, clique, places)
        yield from too_many(clique, pods, part.replicas + part.surge)

    def _new_pods(self, part: CliquePart, clique: PodClique, places: Sequence[Place]) -> Iterator[Sketch | HeldBack]:
        if part.gang in self._lacking and self._births.awaits_gang(part):
            lacks = Why.GANG_LACKS_CLIQUE.because(clique.ref, gang=part.gang, missing=self._lacking[part.gang])
            yield HeldBack(clique.ref, (lacks,))
        image = self._scene.snapshot.configuration.init_image
        for name, place, gated in self._births.of(part, clique, places):
            make = partial(pod_for, self._root, clique, part, place, name, self._ordering, gated=gated, image=image)
            yield Sketch("Pod", name, make)
