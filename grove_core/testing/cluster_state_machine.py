"""The same cluster as a state machine of Hypothesis, to inherit from."""

from collections.abc import Sequence
from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from grove_core.plan.plan import Plan
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.controller_under_test import Deletions
from grove_core.testing.events import EVENTS_OF_WRITES, Event, EventKind
from grove_core.testing.invariants.invariant import Invariant
from grove_core.testing.invariants.invariant_lists import INVARIANTS
from grove_core.testing.played_cluster import PlayedCluster
from grove_core.testing.random_cluster import RandomCluster
from grove_core.testing.strategies import any_clusters, events


class ClusterWorld(RuleBasedStateMachine):
    """A cluster in which everything happens that can happen, and a controller, which is held against the invariants.

    Override :meth:`plan`, and add rules and invariants of your own; ``self.played`` has the cluster and all rounds.
    Run it as any state machine: ``TestMine = MyWorld.TestCase``.

    Attributes:
        checked: the invariants that every round is held against.
        played: the cluster with the rounds until now.
    """

    checked: ClassVar[Sequence[Invariant]] = INVARIANTS
    played: PlayedCluster

    def plan(self, snapshot: Snapshot) -> Plan | Deletions:
        """Return what the controller does: a plan, or what it deletes. To be overridden."""
        raise NotImplementedError

    @initialize(start=any_clusters())
    def begin(self, start: RandomCluster) -> None:
        """Begin with a cluster in any state."""
        self.played = PlayedCluster(start, self.plan, self.checked)

    @rule(event=events(frozenset(EventKind) - EVENTS_OF_WRITES))
    def the_cluster_changes(self, event: Event) -> None:
        """Time passes, pods fail or become ready, nodes go, parts are scaled or updated; then a reconcile."""
        self.played.happen(event)

    @rule(event=events(EVENTS_OF_WRITES))
    def writes_go_wrong(self, event: Event) -> None:
        """The operator crashes between its writes, or writes are refused or their responses lost."""
        self.played.happen(event)

    def teardown(self) -> None:
        """Let the cluster come to rest, as :func:`check_all` does."""
        if hasattr(self, "played"):
            self.played.settle()
