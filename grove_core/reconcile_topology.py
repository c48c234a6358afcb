"""The controller of one ClusterTopology on one page: what it can see goes in, a plan comes out."""

from grove_core.areas.topology.lifecycle import wants_of_lifecycle
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.plan.difference import difference
from grove_core.plan.plan import Plan


def reconcile_topology(moment: TopologySnapshot) -> Plan:
    """Everything the operator would do about one topology at this moment, and why (TP-040 to TP-054).

    Pure and total. Finalizers of others are never touched, nor are the levels of any topology but the default one.

    Args:
        moment: what it can see.
    """
    desired, findings = wants_of_lifecycle(moment)  # TP
    return difference(desired, moment, findings=findings)
