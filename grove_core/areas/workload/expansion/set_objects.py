"""One walk over the blueprint of a set: everything that it should consist of, as sketches to be held against the world.

Whoever writes manifests is asked only where one is needed (`Sketch`); what differs in what is there comes as a write.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import CliqueDomains
from grove_core.areas.topology.verdicts import GangTopology
from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.expansion.surplus import pods_to_delete
from grove_core.areas.workload.objects.autoscalers import autoscaler_for
from grove_core.areas.workload.objects.gang_placement import placement_of
from grove_core.areas.workload.objects.manifests import LazyManifest
from grove_core.areas.workload.objects.podcliques_and_groups import (
    MnnvlAnnotations,
    changes_of_podclique,
    changes_of_scaling_group,
    claim_template_of_group,
    podclique_for,
    scaling_group_for,
)
from grove_core.areas.workload.objects.podgangs import PlacementChange, changes_of_podgang, podgang_for
from grove_core.areas.workload.objects.resource_claims import claims_of_clique, claims_of_group, claims_of_set
from grove_core.areas.workload.objects.service_and_rbac import rbac_manifests, service_for, service_spec
from grove_core.areas.workload.pods.creation import PodCreation
from grove_core.areas.workload.pods.manifest import pod_for
from grove_core.areas.workload.pods.slots import PodSlot
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.template.expected_replicas import (
    ExpectedClique,
    ExpectedGang,
    ExpectedGroup,
    ExpectedReplica,
    first_by_name,
)
from grove_core.areas.workload.template.startup_parents import StartupParents
from grove_core.kernel.frozen import EMPTY
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Applied, Withheld
from grove_core.resources.api_names import SCHEDULER
from grove_core.resources.names import replica_name
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup


class ExpansionInputs(NamedTuple):
    """What goes on while a set is completed.

    Attributes:
        ending: where no clique and no pod is made (WL-076).
        fabric: where no clique and no group is made yet (MN-010), and what new ones are annotated with (MN-020).
        placing: what gangs are told of their topology (TP-020), or why none is made (TP-010).
        written: names of the cliques that take over another template in this round; their pods wait for that (WL-086).
    """

    ending: Ending
    fabric: CliqueDomains
    placing: GangTopology
    written: AbstractSet[str] = frozenset()


class SetObjects:
    """One walk over everything a set should consist of.

    Attributes:
        misplaced: names of the gangs that were met and stay although their topology says otherwise.
    """

    def __init__(self, context: WorkloadContext, closed: AbstractSet[str], midst: ExpansionInputs) -> None:
        self._context = context
        self._templates = midst.fabric.templates
        self._annotations = midst.fabric.annotations
        self._placing = midst.placing
        self._root = context.root
        self._ordering = StartupParents(context.root)
        self._births = PodCreation(context, closed)
        self._lacking: dict[str, str] = {}
        self.misplaced: list[str] = []

    def everything(self, replicas: Iterable[ExpectedReplica]) -> Iterator[LazyManifest | Applied | Absent | Withheld]:
        """What the set has once, then what it has for each replica."""
        yield from self._repeated()
        yield from rbac_manifests(self._root)
        yield from claims_of_set(self._context)
        for replica in replicas:
            name, here = replica_name(self._root.ref.name, replica.index), (self._root, replica.index)
            yield LazyManifest("Service", name, partial(service_for, *here), partial(service_spec, *here))
            yield from self._autoscalers(replica)
            for part in replica.cliques:
                yield from self._clique(self._root, part)
            for group in replica.groups:
                yield from self._group(group)
            for gang in replica.gangs:
                yield from self._gang(gang)
            if self._context.knows("Pod"):
                self._births.expect(replica.gangs)
                for part in replica.all_cliques:
                    yield from self._pods(part)

    def _repeated(self) -> Iterator[Withheld]:
        """Cliques and groups of one name, and members that a group names again: the first counts (WL-022)."""
        template = self._root.spec.template
        named = [
            *(f"clique {clique.name}" for clique in template.cliques),
            *(f"scaling group {group.name}" for group in template.pod_clique_scaling_groups),
            *(
                f"member {short} of scaling group {group.name}"
                for group in first_by_name(template.pod_clique_scaling_groups).values()
                for short in group.clique_names
            ),
        ]
        for what, times in Counter(named).items() if len(set(named)) < len(named) else ():
            if times > 1:
                because = Why.NAME_WANTED_TWICE.because(self._root.ref, other=f"{what}, the first of {times}")
                yield Withheld(self._root.ref, (because,))

    def _clique(self, owner: PodCliqueSet | ScalingGroup, part: ExpectedClique) -> Iterator[LazyManifest | Applied]:
        joined = claim_template_of_group(owner) or self._templates.get(part.replica, "")
        told = MnnvlAnnotations(joined, self._annotations.get(part.template.name, EMPTY))
        make = partial(podclique_for, self._root, owner, part, self._ordering, self._context.revision, told)
        yield LazyManifest("PodClique", part.name, make)
        clique = self._context.clique_of(part)
        if clique is not None and self._context.revision.is_current(clique, part):
            pods = self._context.snapshot.pods_of.get(clique.uid, ())
            fields = changes_of_podclique(clique, part, self._context.revision, pods)
            if fields:
                why = Why.FOLLOWS_TEMPLATE if clique.template_hash else Why.HASH_MISSING
                yield Applied(clique.ref, clique.guard, fields, (why.because(clique.ref),))

    def _autoscalers(self, replica: ExpectedReplica) -> Iterator[LazyManifest]:
        specs = ((part.name, part.template.spec) for part in replica.cliques)
        templates = ((part.name, part.template) for part in replica.groups)
        scaled = (
            *(("PodClique", name, spec.auto_scaling_config, spec.replicas) for name, spec in specs),
            *((GROUP_KIND, name, template.scale_config, template.replicas) for name, template in templates),
        )
        for kind, name, scaling, replicas in scaled:
            if scaling is not None:
                make = partial(autoscaler_for, self._root, kind, name, scaling, replicas)
                yield LazyManifest("HorizontalPodAutoscaler", name, make)

    def _group(self, part: ExpectedGroup) -> Iterator[LazyManifest | Applied | Withheld]:
        yield LazyManifest(
            GROUP_KIND, part.name, partial(scaling_group_for, self._root, part, self._templates.get(part.replica, ""))
        )
        group = self._context.groups.get(part.name)
        if group is not None:
            fields = changes_of_scaling_group(group, part)
            if fields:
                yield Applied(group.ref, group.guard, fields, (Why.FOLLOWS_TEMPLATE.because(group.ref),))
            yield from claims_of_group(self._context, group, part)
            for member in part.cliques:
                yield from self._clique(group, member)

    def _gang(self, part: ExpectedGang) -> Iterator[LazyManifest | Applied | Withheld]:
        gang = self._births.gangs.get(part.name)
        if gang is not None:
            yield LazyManifest("PodGang", part.name, partial(podgang_for, self._root, part, {}))
            if self._context.knows("Pod", "PodGang"):  # which pods there are, and which ones gangs bring about (WL-023)
                yield from self._changes_of(gang, part)
        elif self._context.knows("PodGang"):
            yield from self._new_gang(part)

    def _new_gang(self, part: ExpectedGang) -> Iterator[LazyManifest | Withheld]:
        missing = next(filter(None, map(self._unmakeable, part.cliques)), "") if self._births.unwritable else ""
        ref = Ref(SCHEDULER, "PodGang", self._root.ref.namespace, part.name)
        named = next(filter(None, map(self._context.foreign_gang_of, part.cliques)), "")
        if named:
            yield Withheld(ref, (Why.GANG_OF_ANOTHER_SCHEME.because(ref, gang=named),))
        elif missing:
            self._lacking[part.name] = missing
            yield Withheld(ref, (Why.GANG_LACKS_CLIQUE.because(ref, gang=part.name, missing=missing),))
        elif self._placing.waiting:
            yield Withheld(ref, self._placing.waiting)
        elif all(self._context.clique_of(clique) is not None for clique in part.cliques):
            placement = placement_of(self._root, part, self._placing)
            yield LazyManifest(
                "PodGang", part.name, partial(podgang_for, self._root, part, self._births.named(part), placement)
            )

    def _changes_of(self, gang: PodGang, part: ExpectedGang) -> Iterator[Applied | Withheld]:
        move = self._move_of(gang, part)
        if isinstance(move, Withheld):
            self.misplaced.append(part.name)
            yield move
            move = None
        change = changes_of_podgang(self._root, gang, part, self._births.named(part), move)
        if change is not None:
            yield change

    def _move_of(self, gang: PodGang, part: ExpectedGang) -> PlacementChange | Withheld | None:
        """What becomes of a gang that says otherwise than its topology; what was said stays where none applies."""
        placing = self._placing
        if not placing.topology:
            return None
        wanted = placement_of(self._root, part, placing)
        if wanted == gang.placement:
            return None
        if placing.follows is not None:
            return PlacementChange(wanted, placing.follows)
        return Withheld(gang.ref, (placing.locked,)) if placing.locked is not None else None

    def _unmakeable(self, part: ExpectedClique) -> str:
        """What of a gang is not there and will not be: a clique, or the scaling group that would own it; or empty."""
        if self._context.clique_of(part) is not None:
            return ""
        named = (("PodClique", part.name), (GROUP_KIND, part.group))
        return next((f"{kind}/{name}" for kind, name in named if (kind, name) in self._births.unwritable), "")

    def _pods(self, part: ExpectedClique) -> Iterator[LazyManifest | Absent | Withheld]:
        clique = self._context.clique_of(part)
        if clique is None:
            return
        pods = self._context.snapshot.pods_of.get(clique.uid, ())
        places = self._births.places(part, clique)
        if part.template.resource_sharing:
            indices = sorted({pod.index for pod in pods if pod.index >= 0} | {place.index for place in places})
            yield from claims_of_clique(self._context, clique, part, indices)
        if places:
            yield from self._new_pods(part, clique, places)
        yield from pods_to_delete(clique, pods, part.replicas + part.surge)

    def _new_pods(
        self, part: ExpectedClique, clique: PodClique, places: Sequence[PodSlot]
    ) -> Iterator[LazyManifest | Withheld]:
        if part.gang in self._lacking and self._births.awaits_gang(part):
            lacks = Why.GANG_LACKS_CLIQUE.because(clique.ref, gang=part.gang, missing=self._lacking[part.gang])
            yield Withheld(clique.ref, (lacks,))
        image = self._context.snapshot.configuration.init_image
        make = partial(pod_for, self._root, clique, part, ordering=self._ordering, image=image)
        for birth in self._births.of(part, clique, places):
            yield LazyManifest("Pod", birth.name, partial(make, birth))
