"""The controller of one ComputeDomain on one page: what it can see goes in, a plan comes out.

A module of its own, since whoever plans PodCliqueSets need not load what domains are made of.
"""

from datetime import timedelta
from typing import Final

from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.wants import wants_of_domain
from grove_core.plan.difference import difference
from grove_core.plan.plan import Plan

CLEANUP_INTERVAL: Final = timedelta(seconds=2)
"""How often the entries of a domain are held against its pods."""


def reconcile_domain(moment: DomainSnapshot, *, cleanup: timedelta = CLEANUP_INTERVAL) -> Plan:
    """Everything the controller would do about one ComputeDomain at this moment, and why (DC-070 to DC-089).

    Args:
        moment: what it can see.
        cleanup: after which time pods are looked at again where something could not be said.
    """
    desired, findings = wants_of_domain(moment)  # DC
    wake_at = moment.now + cleanup if desired.held_back else None
    return difference(desired, moment, wake_at=wake_at, findings=findings)
