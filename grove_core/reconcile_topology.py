"""The controller of one ClusterTopology on one page: what it can see goes in, a plan comes out."""

from grove_core.areas.gang_termination.rulesets import DESIGN
from grove_core.areas.topology.keeping import wants_of_topologies
from grove_core.areas.topology.moment import TopologyMoment
from grove_core.plan.difference import steps_for
from grove_core.plan.plan import Plan, Withheld
from grove_core.resources.cluster_topology import topology_ref


def reconcile_topology(moment: TopologyMoment) -> Plan:
    """Everything the operator would do about one topology at this moment, and why (TP-040 to TP-054).

    Pure and total. Finalizers of others are never touched, nor are the levels of any topology but the default one.

    Args:
        moment: what it can see.
    """
    desired, findings = wants_of_topologies(moment)  # TP
    found = moment.topology
    return Plan(
        root=found.ref if found is not None else topology_ref(moment.name),
        root_uid=found.uid if found is not None else "",
        rules=DESIGN.name,
        steps=steps_for(desired.wants),
        withheld=tuple(Withheld(held.target, held.because) for held in desired.held_back),
        findings=findings,
    )
