"""How large a set is, and how large one may be to be looked at part by part (WL-024)."""

from typing import Final

from grove_core.snapshot.snapshot import Snapshot

MOST: Final = 1_000_000
"""PodCliques and pods of one set that are looked at one by one."""


def size_of(snapshot: Snapshot) -> int:
    """How many PodCliques and pods a set consists of. Linear in what is there, whatever the numbers say."""
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
    """Whether nobody looks at the set part by part: it is held back as a whole."""
    return size_of(snapshot) > MOST
