"""The size of a PodCliqueSet, and the largest size that is planned (WL-024)."""

from typing import Final

from grove_core.snapshot.snapshot import Snapshot

MOST: Final = 1_000_000
"""The largest number of PodCliques and pods of a set that is planned."""


def size_of(snapshot: Snapshot) -> int:
    """Return how many PodCliques and pods a set should have. Linear in its templates and existing parts."""
    root = snapshot.root
    weights = {clique.name: 1 + max(0, clique.spec.replicas) for clique in root.spec.template.cliques}
    live = max((group.replicas for group in snapshot.groups), default=0)
    grown = max((clique.replicas for clique in snapshot.cliques), default=0)
    standalone = sum(weights[clique.name] for clique in root.spec.standalone_cliques)
    grouped = sum(
        max(group.replicas, group.min_available, live)
        * max(1, sum(weights.get(name, 0) for name in group.clique_names))
        for group in root.spec.template.pod_clique_scaling_groups
    )
    return max(0, root.spec.replicas) * max(1, standalone + grouped) + grown


def is_too_large(snapshot: Snapshot) -> bool:
    """Whether the set is withheld as a whole, because it has more parts than :data:`MOST`."""
    return size_of(snapshot) > MOST
