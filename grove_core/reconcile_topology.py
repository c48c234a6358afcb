"""The controller of one ClusterTopology: a snapshot goes in, a plan comes out."""

from grove_core.areas.topology.lifecycle import wants_of_lifecycle
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.area_result import AreaResult
from grove_core.plan.difference import difference
from grove_core.plan.plan import Plan


def reconcile_topology(snapshot: TopologySnapshot) -> Plan:
    """Return the operator's writes to one topology, and why (TP-040 to TP-054).

    Pure, and never raises. It does not change finalizers of others, nor levels of any topology but the default one.

    Args:
        snapshot: of the topology.
    """
    return difference(AreaResult(*wants_of_lifecycle(snapshot)), snapshot)  # TP
