"""Holds a controller or a rule set of your own against the invariants of gang termination, with Hypothesis.

Everything is imported from here. Hypothesis is no dependency of the distribution: install ``grove-plan[testing]``.
"""

try:
    import hypothesis as _hypothesis  # noqa: F401 - only whether it is there
except ImportError as _missing:
    raise ImportError("grove_core.testing needs hypothesis: pip install 'grove-plan[testing]'") from _missing

from grove_core.plan.plan import Plan
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.check import Effort, check_all, check_history, check_snapshot, invariants_for
from grove_core.testing.cluster_builder import Sizes, cluster_of
from grove_core.testing.cluster_state_machine import ClusterWorld
from grove_core.testing.controller_under_test import Controller, Deletions
from grove_core.testing.events import Event, EventKind
from grove_core.testing.invariants.invariant import History, Invariant, InvariantViolated, Round, Violation
from grove_core.testing.invariants.invariant_lists import FIELD_INVARIANTS, INVARIANTS
from grove_core.testing.played_cluster import PlayedCluster
from grove_core.testing.random_cluster import RandomCluster, stormy
from grove_core.testing.removed_pods import breached_cliques, breached_since, removed_pods
from grove_core.testing.strategies import (
    any_clusters,
    busy_clusters,
    clusters,
    event_sequences,
    events,
    sets,
    snapshots,
    storms,
)

__all__ = (
    "DESIGN",
    "FIELD_INVARIANTS",
    "INVARIANTS",
    "ClusterWorld",
    "Controller",
    "Deletions",
    "Effort",
    "Event",
    "EventKind",
    "History",
    "Invariant",
    "InvariantViolated",
    "Plan",
    "PlayedCluster",
    "RandomCluster",
    "Round",
    "RuleSet",
    "Sizes",
    "Snapshot",
    "Violation",
    "any_clusters",
    "breached_cliques",
    "breached_since",
    "busy_clusters",
    "check_all",
    "check_history",
    "check_snapshot",
    "cluster_of",
    "clusters",
    "event_sequences",
    "events",
    "invariants_for",
    "removed_pods",
    "sets",
    "snapshots",
    "storms",
    "stormy",
)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
