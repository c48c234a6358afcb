"""The plan of one root, whichever it is."""

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.areas.gang_termination.ruling import RuleSet
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation


def reconcile_root(seen: Observation, rules: RuleSet = DESIGN) -> Plan:
    """What is to be done about a set by these rules, or about a topology."""
    return reconcile(seen, rules) if isinstance(seen, Snapshot) else reconcile_topology(seen)
