"""What is to be placed together: the pods of a gang, nested as its constraints are (TP-107)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from grove_core.areas.topology.node_capacity import CLUSTER_LEVEL, NodeCapacity
from grove_core.resources.placement import NO_PACK, Pack, Placement
from grove_core.resources.pod_demand import PodDemand


class CliqueRequest(NamedTuple):
    """The pods of one clique.

    Attributes:
        template: its name in the set.
        group: the scaling group's name in the set; empty for a standalone clique.
        pods: all of them.
        minimum: how many the gang needs to start.
    """

    name: str
    template: str
    group: str
    pods: int
    minimum: int
    demand: PodDemand


@dataclass(frozen=True, slots=True)
class GangRequest:
    """A gang, and what its scheduler is told of it."""

    name: str
    cliques: tuple[CliqueRequest, ...]
    placement: Placement


ConstraintOwner = tuple[str, str]
"""What of a set has a constraint: the set itself, a ``group`` or a ``clique``, and its name there."""

_GANG: Final[ConstraintOwner] = ("", "")


class ConstrainedPart(NamedTuple):
    """What of a gang has a constraint, and how many pods that is."""

    owner: ConstraintOwner
    name: str
    pods: int
    pack: Pack


class PodBatch(NamedTuple):
    """Equal pods that may be apart: how many, of which demand, of which clique."""

    demand: int
    pods: int
    clique: str


TreeShape = tuple[int, tuple[tuple[int, int], ...], tuple["TreeShape", ...]]
"""A bundle without its names: equal shapes fit equally."""


@dataclass(frozen=True, slots=True)
class GangTree:
    """What goes into one domain of a level.

    Attributes:
        level: of the domain; WHOLE where it may be anywhere.
        name: of the gang, of the replica of a group, or of the clique.
        loads: its own pods, the largest first.
        parts: what of it goes into narrower domains, the largest first.
        totals: demand -> pods, parts included.
    """

    level: int
    name: str
    loads: tuple[PodBatch, ...]
    parts: tuple["GangTree", ...]
    totals: Mapping[int, int]
    shape: TreeShape

    @property
    def pods(self) -> int:
        """How many, parts included."""
        return sum(self.totals.values())

    @property
    def is_plain(self) -> bool:
        """Whether its pods are all alike and may be apart."""
        return len(self.totals) == 1 and not self.parts

    def cliques(self) -> Iterator[PodBatch]:
        """Every load, parts included."""
        yield from self.loads
        for part in self.parts:
            yield from part.cliques()


def tree_of(
    level: int, name: str, loads: Iterable[PodBatch], parts: Iterable[GangTree], ground: NodeCapacity
) -> GangTree:
    """Put a bundle together; a part that may be anywhere dissolves into it."""
    own, inner = [load for load in loads if load.pods], list[GangTree]()
    for part in parts:
        if part.level > level:
            inner.append(part)
        else:
            own += part.loads
            inner += part.parts
    own.sort(key=lambda load: ([(resource, -amount) for resource, amount in ground.asks[load.demand]], load))
    inner = sorted((part for part in inner if part.totals), key=lambda part: (_weight(part, ground), part.name))
    totals: dict[int, int] = {}
    for demand, pods, _ in own:
        totals[demand] = totals.get(demand, 0) + pods
    for part in inner:
        for demand, pods in part.totals.items():
            totals[demand] = totals.get(demand, 0) + pods
    shape = (level, tuple((load.demand, load.pods) for load in own), tuple(part.shape for part in inner))
    return GangTree(level, name, tuple(own), tuple(inner), totals, shape)


def constrained_parts_of(gang: GangRequest) -> Iterator[ConstrainedPart]:
    """What of a gang has a constraint: the gang itself, replicas of groups in it, cliques."""
    placement = gang.placement
    if placement.gang != NO_PACK:
        yield ConstrainedPart(_GANG, gang.name, sum(one.pods for one in gang.cliques), placement.gang)
    cliques = {one.name: one for one in gang.cliques}
    for part in placement.packed_groups:
        members = [cliques[name] for name in part.cliques]
        owner: ConstraintOwner = ("group", members[0].group)
        yield ConstrainedPart(owner, part.name, sum(one.pods for one in members), part.pack)
    for name, pack in placement.cliques:
        yield ConstrainedPart(("clique", cliques[name].template), name, cliques[name].pods, pack)


def gang_tree_of(
    gang: GangRequest,
    ground: NodeCapacity,
    demands: Mapping[PodDemand, int],
    *,
    preferring: ConstraintOwner | None,
    minimum: bool,
) -> GangTree:
    """A gang as its constraints nest it.

    Args:
        gang: to be placed.
        ground: where.
        demands: their indices.
        preferring: whose preferred domain is to be kept like a required one; None for nobody's.
        minimum: only the pods that it needs to start.
    """
    levels: dict[tuple[str, str], int] = {}
    for one in constrained_parts_of(gang):
        preferred = ground.level_of(one.pack.preferred) if one.owner == preferring else CLUSTER_LEVEL
        levels[one.owner[0], one.name] = max(ground.level_of(one.pack.required), preferred)
    single: dict[str, GangTree] = {}
    for clique in gang.cliques:
        load = PodBatch(demands[clique.demand], clique.minimum if minimum else clique.pods, clique.name)
        single[clique.name] = tree_of(
            levels.get(("clique", clique.name), CLUSTER_LEVEL), clique.name, [load], (), ground
        )
    parts = [
        tree_of(levels["group", one.name], one.name, (), [single.pop(name) for name in one.cliques], ground)
        for one in gang.placement.packed_groups
    ]
    return tree_of(levels.get(("", gang.name), CLUSTER_LEVEL), gang.name, (), (*parts, *single.values()), ground)


def demand_indices(gangs: Sequence[GangRequest]) -> dict[PodDemand, int]:
    """Every demand once, with its index."""
    found = dict.fromkeys(clique.demand for gang in gangs for clique in gang.cliques)
    return {demand: index for index, demand in enumerate(found)}


def _weight(part: GangTree, ground: NodeCapacity) -> tuple[list[tuple[int, int]], int]:
    """The heaviest first: by the scarcest resource that it asks for."""
    asked: dict[int, int] = {}
    for demand, pods in part.totals.items():
        for resource, amount in ground.asks[demand]:
            asked[resource] = asked.get(resource, 0) + amount * pods
    return [(resource, -amount) for resource, amount in sorted(asked.items())], part.level
