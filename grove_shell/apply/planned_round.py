"""A planned round of one root, and the base class of what gets every round: log, metrics, Events, decision log."""

from dataclasses import dataclass

from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey


def plan_for_root(observation: Observation, rules: RuleSet = DESIGN) -> Plan:
    """Return the plan of a set under a rule set, or of a topology."""
    return reconcile(observation, rules) if isinstance(observation, Snapshot) else reconcile_topology(observation)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReconcileRound:
    """The plan of a set or a topology in one round.

    Attributes:
        root_key: of the set or topology.
        plan_name: the name of the plan in log, Events and decision log (OP-041).
        observation: what the plan was made of.
        plan: the plan.
        planning_seconds: how long it took to make.
    """

    root_key: RootKey
    plan_name: str
    observation: Observation
    plan: Plan
    planning_seconds: float


class ReconcileRoundListener:
    """Gets every round of a reconcile loop; subclasses override what they need."""

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Take in a plan; its steps are tried next."""

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        """Take in the attempts of the steps of a plan."""

    def on_finalizers_dropped(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> None:
        """Take in the attempts to drop the finalizers of what a deleted set left behind; it has no plan (WL-001)."""

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        """Take in why a round failed."""

    def on_root_deleted(self, root_key: RootKey) -> None:
        """Forget a root: it is deleted."""
