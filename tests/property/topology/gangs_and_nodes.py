"""Small clusters and gangs for the fit check, and a check of placements that is independent of the search."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Final

from hypothesis import strategies as st

from grove_core.areas.topology.gang_constraint_tree import CliquePodsToPlace, GangToPlace
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import Levels, TopologyLevel
from grove_core.resources.node import Node, Taint
from grove_core.resources.pod_demand import PodDemand, Toleration
from grove_core.resources.podgang import NO_PACK, GangPackConstraint, PackedGroupReplica, PodGangConstraints

LEVELS: Final[Levels] = (TopologyLevel("zone", "z"), TopologyLevel("rack", "r"), TopologyLevel("host", "h"))
KEYS: Final = ("z", "r", "h")
SUBJECT: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
RESOURCES: Final = ("nvidia.com/gpu", "cpu", "pods")
TAINT: Final = Taint("gpu-only", "", "NoSchedule")
Assignment = Mapping[str, Iterable[str]]
"""Clique -> the node of each of its pods."""


def a_node(name: str, labels: Mapping[str, str], gpus: int, cpus: int = 9, *taints: Taint, pods: int = 9) -> Node:
    amounts = {"nvidia.com/gpu": gpus * 1000, "cpu": cpus * 1000, "pods": pods * 1000}
    return Node(name, FrozenDict({"h": name, **labels}), taints, FrozenDict(amounts))


def a_demand(gpus: int, cpus: int = 0, *, tolerates: bool = False, unchecked: tuple[str, ...] = ()) -> PodDemand:
    amounts = tuple((key, count * 1000) for key, count in zip(RESOURCES, (gpus, cpus, 1), strict=True) if count)
    return PodDemand(amounts, tolerations=(Toleration("", "Exists", "", ""),) if tolerates else (), unchecked=unchecked)


def a_clique(
    name: str, pods: int, demand: PodDemand, *, minimum: int | None = None, group: str = ""
) -> CliquePodsToPlace:
    return CliquePodsToPlace(f"llm-0-{name}", name, group, pods, pods if minimum is None else minimum, demand)


def a_gang(
    *cliques: CliquePodsToPlace, required: str = "", preferred: str = "", **packs: GangPackConstraint
) -> GangToPlace:
    """A gang with one constraint for itself and others for its cliques; ``pool`` is that of the scaling group."""
    pool = tuple(one.name for one in cliques if one.group == "pool")
    together = (PackedGroupReplica("llm-0-pool-0", pool, packs.pop("pool")),) if "pool" in packs else ()
    own = tuple(sorted((f"llm-0-{name}", pack) for name, pack in packs.items()))
    return GangToPlace(
        "llm-0", cliques, PodGangConstraints("t", GangPackConstraint(required, preferred), own, together)
    )


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    """Up to five nodes in up to two zones of up to two racks; some have no rack, some are tainted."""
    found = []
    for number in range(draw(st.integers(1, 5))):
        rack = draw(st.sampled_from(["1", "2", None]))
        labels = {"z": draw(st.sampled_from("ab")), **({"r": rack} if rack else {})}
        taints = (TAINT,) if draw(st.integers(0, 4)) == 4 else ()
        sizes = draw(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 4)))
        found.append(a_node(f"n{number}", labels, sizes[0], sizes[1], *taints, pods=sizes[2]))
    return found


@st.composite
def gangs(draw: st.DrawFn) -> GangToPlace:
    """Gangs of up to three cliques with up to five pods, with or without constraints at every level."""
    keys = st.sampled_from(["", *KEYS])
    left, cliques = 5, []
    for name in "abc"[: draw(st.integers(1, 3))]:
        pods = draw(st.integers(0, min(3, left)))
        left -= pods
        demand = a_demand(draw(st.integers(0, 3)), draw(st.integers(0, 2)), tolerates=draw(st.booleans()))
        group = "pool" if name != "a" and draw(st.booleans()) else ""
        cliques.append(a_clique(name, pods, demand, minimum=draw(st.integers(0, pods)), group=group))
    packs = {one.template: pack for one in cliques if (pack := GangPackConstraint(draw(keys), draw(keys))) != NO_PACK}
    if any(one.group for one in cliques) and draw(st.booleans()):
        packs["pool"] = GangPackConstraint(draw(keys), draw(keys))
    return a_gang(*cliques, required=draw(keys), preferred=draw(keys), **packs)


def constraints_of(gang: GangToPlace) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Label key, and the cliques whose pods have to share a domain of it."""
    yield gang.placement.gang.required, tuple(one.name for one in gang.cliques)
    yield from ((one.pack.required, one.cliques) for one in gang.placement.packed_groups)
    yield from ((pack.required, (name,)) for name, pack in gang.placement.cliques)


def is_valid_assignment(found: Assignment, gang: GangToPlace, cluster_nodes: Iterable[Node]) -> bool:
    """Whether every pod is on an eligible node, no node is overcommitted, and every constraint is kept."""
    by_name = {node.name: node for node in cluster_nodes}
    used: dict[tuple[str, str], int] = {}
    for clique in gang.cliques:
        for name in found[clique.name]:
            if by_name[name].taints and not clique.demand.tolerations:
                return False
            for resource, amount in clique.demand.amounts:
                used[name, resource] = used.get((name, resource), 0) + amount
    if any(amount > by_name[name].amounts.get(resource, 0) for (name, resource), amount in used.items()):
        return False
    for key, cliques in constraints_of(gang):
        places = [by_name[name] for clique in cliques for name in found[clique]] if key else []
        if any(not all(node.labels.get(one) for one in KEYS) for node in places):
            return False
        if len({tuple(node.labels[one] for one in KEYS[: KEYS.index(key) + 1]) for node in places}) > 1:
            return False
    return True


def all_assignments(gang: GangToPlace, cluster_nodes: Iterable[Node]) -> Iterator[Assignment]:
    """Every way to assign the pods to nodes, valid or not."""
    names = [node.name for node in cluster_nodes]
    owners = [one.name for one in gang.cliques for _ in range(one.pods)]
    for chosen in product(names, repeat=len(owners)):
        found: dict[str, list[str]] = {one.name: [] for one in gang.cliques}
        for owner, name in zip(owners, chosen, strict=True):
            found[owner].append(name)
        yield found
