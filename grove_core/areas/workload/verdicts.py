"""What the workload area answers about a set that is wanted."""

from typing import NamedTuple

from grove_core.kernel.decisions import Finding
from grove_core.kernel.wants import Desired


class WorkloadResult(NamedTuple):
    """What becomes of a set.

    Attributes:
        wants: what it should consist of and does not, what is too much, its update, its statuses; in this order.
        findings: on what is of an old template.
        misplaced: names of the gangs that stay although their topology says otherwise (TP-026); None where not all of
            the set is known, so that nobody can say.
    """

    wants: tuple[Desired, ...] = ()
    findings: tuple[Finding, ...] = ()
    misplaced: tuple[str, ...] | None = None
