"""Makes the plan of one root: of a PodCliqueSet or of a topology."""

from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.rule_sets.design import DESIGN
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation


def reconcile_root(observation: Observation, rules: RuleSet = DESIGN) -> Plan:
    """Return the plan of a set under a rule set, or of a topology."""
    return reconcile(observation, rules) if isinstance(observation, Snapshot) else reconcile_topology(observation)
