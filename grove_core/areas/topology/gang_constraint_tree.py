"""The pods of a gang as a tree: one subtree for each constraint that puts pods into one domain (TP-107)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from grove_core.areas.topology.node_capacity import CLUSTER_LEVEL, FitCheckIndex
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct
from grove_core.resources.pod_demand import PodDemand
from grove_core.resources.podgang import NO_PACK, GangPackConstraint, PodGangConstraints


class CliquePodsToPlace(NamedTuple):
    """The pods of one PodClique that are to be placed.

    Attributes:
        template: name of the clique in the set's template.
        group: name of the scaling group in the set; empty for a standalone clique.
        minimum: number of pods that the gang needs to start.
        demand: what each of the pods asks of a node.
    """

    name: str
    template: str
    group: str
    pods: int
    minimum: int
    demand: PodDemand


class GangToPlace(Struct, frozen=True):
    """A PodGang that is to be placed, with the constraints that the scheduler gets."""

    name: str
    cliques: tuple[CliquePodsToPlace, ...]
    placement: PodGangConstraints


ConstraintOwner = tuple[str, str]
"""The part of a set that has a constraint: ("", "") for the set, or ``group`` or ``clique`` and its name there."""

_GANG: Final[ConstraintOwner] = ("", "")


class ConstrainedPart(NamedTuple):
    """A part of a gang that has a constraint.

    Attributes:
        owner: the part of the set that the constraint is written at.
        name: of the gang, of the replica of a scaling group, or of the PodClique.
        pods: number of pods that the constraint covers.
        pack: the node label keys of its required and preferred domain.
    """

    owner: ConstraintOwner
    name: str
    pods: int
    pack: GangPackConstraint


class InterchangeablePods(NamedTuple):
    """Equal pods of one PodClique that need not share a domain.

    Attributes:
        demand: index of the pods' demand.
    """

    demand: int
    pods: int
    clique: str


TreeShape = tuple[int, tuple[tuple[int, int], ...], tuple["TreeShape", ...]]
"""A tree without its names: trees of equal shape fit into the same domains."""


class GangConstraintTree(Struct, frozen=True):
    """Pods that have to share one domain of a level.

    Attributes:
        level: of the domain; CLUSTER_LEVEL if the pods may be on any node.
        name: of the gang, of the replica of a scaling group, or of the PodClique.
        batches: pods that no narrower constraint covers, the largest demand first.
        subtrees: pods that have to share a narrower domain, the largest demand first.
        totals: demand -> number of pods, subtrees included.
        shape: the tree without its names.
    """

    level: int
    name: str
    batches: tuple[InterchangeablePods, ...]
    subtrees: tuple["GangConstraintTree", ...]
    totals: FrozenDict[int, int]
    shape: TreeShape

    @property
    def pod_count(self) -> int:
        """The number of pods, subtrees included."""
        return sum(self.totals.values())

    @property
    def is_uniform(self) -> bool:
        """Whether all pods have one demand and none has a narrower constraint."""
        return len(self.totals) == 1 and not self.subtrees

    def all_pod_batches(self) -> Iterator[InterchangeablePods]:
        """Yield the batches of the tree and of its subtrees."""
        yield from self.batches
        for subtree in self.subtrees:
            yield from subtree.all_pod_batches()


def tree_of_pod_batches(
    level: int,
    name: str,
    batches: Iterable[InterchangeablePods],
    subtrees: Iterable[GangConstraintTree],
    capacity: FitCheckIndex,
) -> GangConstraintTree:
    """Return a tree of batches and subtrees; a subtree of no narrower level is merged into it.

    Args:
        level: of the domain that all the pods share, as an index of the levels; ``CLUSTER_LEVEL`` for any node.
        name: of the gang, or of the part of it, that the pods are of.
        capacity: has the requests of the batches, by which the tree is sorted.
    """
    own_batches, narrower = [batch for batch in batches if batch.pods], list[GangConstraintTree]()
    for subtree in subtrees:
        if subtree.level > level:
            narrower.append(subtree)
        else:
            own_batches += subtree.batches
            narrower += subtree.subtrees
    own_batches.sort(
        key=lambda batch: ([(resource, -amount) for resource, amount in capacity.requests[batch.demand]], batch)
    )
    narrower = sorted((one for one in narrower if one.totals), key=lambda one: (_weight(one, capacity), one.name))
    totals: dict[int, int] = {}
    for demand, pods, _ in own_batches:
        totals[demand] = totals.get(demand, 0) + pods
    for subtree in narrower:
        for demand, pods in subtree.totals.items():
            totals[demand] = totals.get(demand, 0) + pods
    shape = (
        level,
        tuple((batch.demand, batch.pods) for batch in own_batches),
        tuple(subtree.shape for subtree in narrower),
    )
    return GangConstraintTree(level, name, tuple(own_batches), tuple(narrower), FrozenDict(totals), shape)


def constrained_parts_of(gang: GangToPlace) -> Iterator[ConstrainedPart]:
    """Yield the parts of a gang that have a constraint: the gang, replicas of scaling groups in it, PodCliques."""
    placement = gang.placement
    if placement.gang != NO_PACK:
        yield ConstrainedPart(_GANG, gang.name, sum(one.pods for one in gang.cliques), placement.gang)
    cliques = {one.name: one for one in gang.cliques}
    for packed in placement.packed_groups:
        members = [cliques[name] for name in packed.cliques]
        owner: ConstraintOwner = ("group", members[0].group)
        yield ConstrainedPart(owner, packed.name, sum(one.pods for one in members), packed.pack)
    for name, pack in placement.cliques:
        yield ConstrainedPart(("clique", cliques[name].template), name, cliques[name].pods, pack)


def gang_constraint_tree(
    gang: GangToPlace,
    capacity: FitCheckIndex,
    demands: Mapping[PodDemand, int],
    *,
    preferring: ConstraintOwner | None,
    minimum: bool,
) -> GangConstraintTree:
    """Return the tree of a gang, nested as its constraints are.

    Args:
        preferring: the part of the set whose preferred domain is taken for required; None for none.
        minimum: whether to include only the pods that the gang needs to start.
    """
    levels: dict[tuple[str, str], int] = {}
    for one in constrained_parts_of(gang):
        preferred = capacity.level_index_of_label_key(one.pack.preferred) if one.owner == preferring else CLUSTER_LEVEL
        levels[one.owner[0], one.name] = max(capacity.level_index_of_label_key(one.pack.required), preferred)
    single: dict[str, GangConstraintTree] = {}
    for clique in gang.cliques:
        batch = InterchangeablePods(demands[clique.demand], clique.minimum if minimum else clique.pods, clique.name)
        level = levels.get(("clique", clique.name), CLUSTER_LEVEL)
        single[clique.name] = tree_of_pod_batches(level, clique.name, [batch], (), capacity)
    packed = [
        tree_of_pod_batches(
            levels["group", one.name], one.name, (), [single.pop(name) for name in one.cliques], capacity
        )
        for one in gang.placement.packed_groups
    ]
    level = levels.get(("", gang.name), CLUSTER_LEVEL)
    return tree_of_pod_batches(level, gang.name, (), (*packed, *single.values()), capacity)


def pod_demand_indices(gangs: Sequence[GangToPlace]) -> dict[PodDemand, int]:
    """Return the distinct demands of the gangs' pods with an index for each."""
    found = dict.fromkeys(clique.demand for gang in gangs for clique in gang.cliques)
    return {demand: index for index, demand in enumerate(found)}


def _weight(tree: GangConstraintTree, capacity: FitCheckIndex) -> tuple[list[tuple[int, int]], int]:
    """Sort key that puts the tree first that asks for most of the scarcest resource."""
    amounts: dict[int, int] = {}
    for demand, pods in tree.totals.items():
        for resource, amount in capacity.requests[demand]:
            amounts[resource] = amounts.get(resource, 0) + amount * pods
    return [(resource, -amount) for resource, amount in sorted(amounts.items())], tree.level
