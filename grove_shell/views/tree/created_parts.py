"""The parts of a set that a plan creates: scaling groups, PodCliques and pods that the input does not have."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Delete
from grove_core.plan.forecast import Forecast
from grove_core.resources.owned_object import clique_of_new_pod
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CreatedParts:
    """What the rounds at the time of the plan create, without what the input has.

    Attributes:
        pods_of: PodClique -> its new pods; the letters at the end of their names are examples.
    """

    groups: tuple[ScalingGroup, ...]
    cliques: tuple[PodClique, ...]
    pods_of: Mapping[Ref, tuple[Ref, ...]]

    @property
    def refs(self) -> frozenset[Ref]:
        """The addresses of the groups and cliques."""
        return frozenset(part.ref for part in (*self.groups, *self.cliques))


def created_parts(snapshot: Snapshot, forecast: Forecast) -> CreatedParts:
    """Return what a forecast creates before time passes; what it creates again after a termination does not count."""
    now = forecast.rounds[0].at
    steps = [step for round_ in forecast.rounds if round_.at == now for step in round_.steps]
    deleted = {step.target for step in steps if isinstance(step.action, Delete)}
    existing = {part.ref for part in (*snapshot.groups, *snapshot.cliques)}
    names = {clique.uid: clique.ref for clique in snapshot.cliques}
    groups: dict[Ref, ScalingGroup] = {}
    cliques: dict[Ref, PodClique] = {}
    pods_of: defaultdict[Ref, list[Ref]] = defaultdict(list)
    by_name = {clique.ref.name: clique.ref for clique in snapshot.cliques}
    for step in steps:
        if not isinstance(step.action, Create) or step.target in existing:
            continue
        if step.target.kind == "PodCliqueScalingGroup":
            groups.setdefault(step.target, scaling_group_from_json(thaw_json(step.action.manifest)))
        elif step.target.kind == "PodClique":
            cliques.setdefault(step.target, podclique_from_json(thaw_json(step.action.manifest)))
            by_name[step.target.name] = step.target
        elif step.target.kind == "Pod":
            owner = names.get(clique_of_new_pod(step)) or by_name.get(step.target.name.rpartition("-")[0])
            if owner is not None and owner not in deleted:
                pods_of[owner].append(step.target)
    return CreatedParts(
        tuple(groups.values()), tuple(cliques.values()), {owner: tuple(pods) for owner, pods in pods_of.items()}
    )
