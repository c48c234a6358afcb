"""One clique as one daemon sees it: the entries of other nodes, duplicate indices, and the next free index.

Entries are identified by node, never by their place in a list (DC-011).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry, PeerMap
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import DaemonEntry


@dataclass(frozen=True, slots=True)
class CliqueView:
    """The entries of one clique in a daemon's registry and in the other registry.

    Attributes:
        own: the entry of the daemon's node in its registry, of any pod and any clique.
        others: entries of other nodes; a node in both registries has two, the one of the daemon's registry last.
        own_in_other: the entry of the daemon's node in the other registry.
    """

    own: DaemonEntry | None
    others: tuple[DaemonEntry, ...]
    own_in_other: DaemonEntry | None = None

    @property
    def used(self) -> frozenset[int]:
        """Indices of other nodes."""
        return frozenset(entry.index for entry in self.others if entry.index is not None)

    def rival(self, index: int) -> str:
        """The first other node with this index; empty if there is none."""
        return next((entry.node for entry in self.others if entry.index == index), "")

    def holders(self, index: int) -> tuple[str, ...]:
        """All other nodes with this index, sorted."""
        return tuple(sorted({entry.node for entry in self.others if entry.index == index}))

    def duplicate_index(self) -> int | None:
        """The smallest index that two nodes of the clique have; None if all indices differ."""
        holders: dict[int, str] = {}
        duplicates = set[int]()
        for entry in self._all():
            if entry.index is not None and holders.setdefault(entry.index, entry.node) != entry.node:
                duplicates.add(entry.index)
        return min(duplicates, default=None)

    def peers(self, limit: int) -> PeerMap:
        """The peer map of all entries whose index is from 0 to below the limit (DC-044)."""
        found = {entry.index: entry.ip for entry in self._all() if entry.index is not None and 0 <= entry.index < limit}
        return PeerMap(tuple(sorted(found.items())))

    def _all(self) -> tuple[DaemonEntry, ...]:
        return self.others if self.own is None else (*self.others, self.own)


def clique_view_of(
    identity: DaemonIdentity, registry: DaemonRegistry | None, other: DaemonRegistry | None = None
) -> CliqueView:
    """Return a daemon's clique in its registry, joined with the entries of the other registry (DC-065)."""
    here = entries_of_clique(identity.clique, registry)
    there = entries_of_clique(identity.clique, other)
    others = [entry for entry in (*there, *here) if entry.node != identity.node]
    own = entry_of_node(identity.node, registry.entries) if registry is not None else None
    return CliqueView(own, tuple(others), entry_of_node(identity.node, there))


def entries_of_clique(clique: str, registry: DaemonRegistry | None) -> tuple[DaemonEntry, ...]:
    """Return the entries of one clique; a ComputeDomainClique has no others."""
    if registry is None:
        return ()
    if isinstance(registry, ComputeDomainClique):
        return registry.entries
    return tuple(entry for entry in registry.entries if entry.clique == clique)


def entry_of_node(node: str, entries: Iterable[DaemonEntry]) -> DaemonEntry | None:
    """Return the entry of a node; None if it has none."""
    return next((entry for entry in entries if entry.node == node), None)


def choose_index(view: CliqueView, limit: int, *proposals: int | None) -> int | None:
    """Return the first valid free proposal, else the smallest free index (DC-020 to DC-022).

    Args:
        view: the clique; an index that another node has is not free.
        limit: indices go from 0 to below it.
        proposals: indices to prefer, the best first; None is skipped.

    Returns:
        None if all indices are taken.
    """
    used = view.used
    for index in proposals:
        if index is not None and 0 <= index < limit and index not in used:
            return index
    return next((index for index in range(limit) if index not in used), None)
