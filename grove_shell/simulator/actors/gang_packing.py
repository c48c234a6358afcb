"""Where pods of a gang go that are to be near each other: within one value of a node label (SM-026, SM-027).

Of several places the one with the least room comes first, then the first by name. Parts are placed one after the
other, the largest first, and none is moved again for a later one: what fits only in another order does not fit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from grove_core.resources.placement import NO_PACK, Pack, Placement
from grove_core.resources.pod import Pod
from grove_shell.simulator.cluster.nodes import ENDLESS, Node, PodRequests

Found: TypeAlias = list[tuple[Pod, Node]]
Asking: TypeAlias = Callable[[Pod], PodRequests]
Choosing: TypeAlias = Callable[[PodRequests, Iterable[Node]], Node | None]


class Block(NamedTuple):
    """Pods that are packed together, some of them among themselves still closer.

    Attributes:
        pack: by which labels.
        pods: those with no closer block of their own, in the order in which they are placed.
        blocks: the closer ones, the largest first.
        company: nodes of pods that belong to it and are placed already.
    """

    pack: Pack
    pods: tuple[Pod, ...]
    blocks: tuple["Block", ...] = ()
    company: tuple[Node, ...] = ()

    @property
    def size(self) -> int:
        """How many pods are to be placed."""
        return len(self.pods) + sum(block.size for block in self.blocks)

    def members(self) -> Iterator[Pod]:
        """All of them."""
        yield from self.pods
        for block in self.blocks:
            yield from block.members()


def block_of(
    placement: Placement, waiting: Mapping[str, Sequence[Pod]], company: Mapping[str, Sequence[Node]]
) -> Block:
    """The pods of a gang as it wants them.

    Args:
        placement: what the gang says.
        waiting: name of a PodClique -> its pods that are to be placed.
        company: name of a PodClique -> nodes of its pods that are placed.
    """
    packs = dict(placement.cliques)
    together = {name for one in placement.packed_groups for name in one.cliques}
    names = dict.fromkeys((*waiting, *company))

    def block(pack: Pack, names: Iterable[str], parts: Iterable[Block] = ()) -> Block:
        bare: list[Pod] = []
        closer = list(parts)
        near = [node for part in closer for node in part.company]
        for name in names:
            near += company.get(name, ())
            if name in packs:
                own = Block(packs[name], tuple(waiting.get(name, ())), (), tuple(company.get(name, ())))
                closer.append(own)
            else:
                bare += waiting.get(name, ())
        ordered = sorted((part for part in closer if part.size), key=lambda part: -part.size)
        return Block(pack, tuple(bare), tuple(ordered), tuple(near))

    parts = [block(one.pack, one.cliques) for one in placement.packed_groups]
    return block(placement.gang, (name for name in names if name not in together), parts)


def required_in(placement: Placement) -> set[str]:
    """The labels that pods of a gang must share."""
    packs = (placement.gang, *(pack for _, pack in placement.cliques), *(one.pack for one in placement.packed_groups))
    return {pack.required for pack in packs if pack.required}


def placed_in(
    block: Block,
    nodes: Sequence[Node],
    asks: Asking,
    best: Choosing,
) -> Found | None:
    """A node for each pod of a block, with the room taken; None, and nothing taken, where there are none.

    Args:
        block: of pods.
        nodes: to choose from.
        asks: what a pod asks for.
        best: the node for a pod among some.
    """
    scarce = frozenset(resource for pod in block.members() for resource in asks(pod).amounts) - ENDLESS
    for chosen in _choices(block, nodes, scarce):
        found = _within(block, chosen, asks, best)
        if found is not None:
            return found
    return None


def _within(
    block: Block,
    nodes: Sequence[Node],
    asks: Asking,
    best: Choosing,
) -> Found | None:
    taken: Found = []
    for part in block.blocks:
        found = placed_in(part, nodes, asks, best)
        if found is None:
            give_back(taken, asks)
            return None
        taken += found
    for pod in block.pods:
        node = best(asks(pod), nodes)
        if node is None:
            give_back(taken, asks)
            return None
        node.take(asks(pod).amounts)
        taken.append((pod, node))
    return taken


def give_back(taken: Found, asks: Asking) -> None:
    """Let go of the room that was taken."""
    for pod, node in taken:
        node.take(asks(pod).amounts, -1)


def _choices(block: Block, nodes: Sequence[Node], scarce: frozenset[str]) -> Iterator[Sequence[Node]]:
    """The places for a block, the best first: with its wish where that can be had, and without."""
    if block.pack == NO_PACK:
        yield nodes
        return
    required, preferred = block.pack
    outer = list(_domains(required, block.company, nodes, scarce)) if required else [nodes]
    if preferred:
        for place in outer:
            yield from _domains(preferred, block.company, place, scarce)
    yield from outer


def _domains(
    key: str, company: Iterable[Node], nodes: Sequence[Node], scarce: frozenset[str]
) -> Iterator[Sequence[Node]]:
    """The nodes by value of a label; only those that all who are placed stand on have, where somebody is placed."""
    by_value: dict[str, list[Node]] = {}
    for node in nodes:
        if key in node.labels:
            by_value.setdefault(node.labels[key], []).append(node)
    values = {node.labels.get(key) for node in company}
    if values:
        by_value = {value: found for value, found in by_value.items() if values == {value}}
    for value in sorted(by_value, key=lambda value: (_room(by_value[value], scarce), len(value), value)):
        yield by_value[value]


def _room(nodes: Iterable[Node], scarce: frozenset[str]) -> int:
    """What nodes have left of the scarce things that are asked for."""
    return sum(
        node.capacity.get(resource, 0) - node.used.get(resource, 0)
        for node in nodes
        if not (node.cordoned or node.unready)
        for resource in scarce
    )
