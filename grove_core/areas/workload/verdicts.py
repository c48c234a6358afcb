"""The result of the workload area for a set that is not being deleted."""

from typing import NamedTuple

from grove_core.kernel.decisions import Finding
from grove_core.kernel.wants import Desired


class WorkloadResult(NamedTuple):
    """Wants and findings for a set.

    Attributes:
        wants: in this order: surplus, expansion, update, statuses.
        findings: on cliques and pods of an old template.
        misplaced: names of PodGangs that keep outdated constraints (TP-026); None where not all of the set is known.
    """

    wants: tuple[Desired, ...] = ()
    findings: tuple[Finding, ...] = ()
    misplaced: tuple[str, ...] | None = None
