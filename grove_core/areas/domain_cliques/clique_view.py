"""A clique as one daemon sees it: who else is in it, who shares an index, which index comes next.

Rule for this file: entries are told apart by node, never by place in a list (DC-011).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry, PeerMap
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import DaemonEntry


@dataclass(frozen=True, slots=True)
class CliqueView:
    """One clique in one object, and what else is known of it from the other.

    Attributes:
        mine: the entry of the daemon's node in its register, whoever wrote it and of whatever clique.
        others: entries of other nodes; of a node that is in both objects both of them, that of its own register last.
        elsewhere: the entry of its node in the object of the other gate.
    """

    own: DaemonEntry | None
    others: tuple[DaemonEntry, ...]
    own_in_other: DaemonEntry | None = None

    @property
    def used(self) -> frozenset[int]:
        """Indices of the others."""
        return frozenset(entry.index for entry in self.others if entry.index is not None)

    def rival(self, index: int) -> str:
        """The first of the others with this index; empty where nobody has it."""
        return next((entry.node for entry in self.others if entry.index == index), "")

    def holders(self, index: int) -> tuple[str, ...]:
        """Every other node with this index."""
        return tuple(sorted({entry.node for entry in self.others if entry.index == index}))

    def duplicate_index(self) -> int | None:
        """The smallest index that two nodes of the clique have; None where each has its own."""
        holders: dict[int, str] = {}
        shared = set[int]()
        for entry in (*self.others, *((self.own,) if self.own is not None else ())):
            if entry.index is not None and holders.setdefault(entry.index, entry.node) != entry.node:
                shared.add(entry.index)
        return min(shared, default=None)

    def peers(self, limit: int) -> PeerMap:
        """Index and address of all whose index is one (DC-044)."""
        entries = (*self.others, *((self.own,) if self.own is not None else ()))
        found = {entry.index: entry.ip for entry in entries if entry.index is not None and 0 <= entry.index < limit}
        return PeerMap(tuple(sorted(found.items())))


def clique_view_of(
    identity: DaemonIdentity, registry: DaemonRegistry | None, other: DaemonRegistry | None = None
) -> CliqueView:
    """The clique of a daemon in its register, joined with what it knows of the other object (DC-065)."""
    own = entries_of_clique(identity.clique, registry)
    foreign = entries_of_clique(identity.clique, other)
    others = [entry for entry in (*foreign, *own) if entry.node != identity.node]
    mine = entry_of_node(identity.node, registry.entries) if registry is not None else None
    return CliqueView(mine, tuple(others), entry_of_node(identity.node, foreign))


def entries_of_clique(clique: str, registry: DaemonRegistry | None) -> tuple[DaemonEntry, ...]:
    """The entries of one clique; all of them in an object that holds no other."""
    if registry is None:
        return ()
    if isinstance(registry, ComputeDomainClique):
        return registry.entries
    return tuple(entry for entry in registry.entries if entry.clique == clique)


def entry_of_node(node: str, entries: Iterable[DaemonEntry]) -> DaemonEntry | None:
    """The entry of a node."""
    return next((entry for entry in entries if entry.node == node), None)


def choose_index(view: CliqueView, limit: int, *proposals: int | None) -> int | None:
    """The first proposal that is an index and that nobody else has, else the smallest such; None where all are taken.

    DC-020 to DC-022. Indices of daemons that left are used again first, which is what gap filling means.
    """
    used = view.used
    for index in proposals:
        if index is not None and 0 <= index < limit and index not in used:
            return index
    return next((index for index in range(limit) if index not in used), None)
