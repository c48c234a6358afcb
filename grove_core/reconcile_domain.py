"""The plan of the controller of one ComputeDomain.

It is not part of ``reconcile``, so that planning a PodCliqueSet does not load it.
"""

from datetime import timedelta
from typing import Final

from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.areas.domain_cliques.wants import desired_changes_of_compute_domain
from grove_core.kernel.decisions import AreaResult
from grove_core.plan.plan import Plan
from grove_core.plan.planner import plan_from_wants

CLEANUP_INTERVAL: Final = timedelta(seconds=2)
"""Time until entries that could not be judged are compared with the pods again."""


def reconcile_compute_domain(
    snapshot: ComputeDomainSnapshot, *, cleanup_interval: timedelta = CLEANUP_INTERVAL
) -> Plan:
    """Return what the controller does about one ComputeDomain, and why (DC-070 to DC-089).

    Args:
        cleanup_interval: time until the next round if an entry could not be judged.
    """
    desired, findings = desired_changes_of_compute_domain(snapshot)  # DC
    wake_at = snapshot.now + cleanup_interval if desired.withheld else None
    return plan_from_wants(AreaResult(desired, findings, wake_at), snapshot)
