"""The result of the workload area for a set."""

from typing import NamedTuple

from grove_core.kernel.decisions import AreaResult


class WorkloadResult(NamedTuple):
    """Wants and findings for a set.

    Attributes:
        of_area: the wants in this order: deletion of the set, surplus, expansion, update, statuses, scheduling gates.
        is_outdated: whether some PodClique or pod is of an older template.
        misplaced: names of PodGangs that keep outdated constraints (TP-026); None where not all of the set is known.
    """

    of_area: AreaResult = AreaResult()
    is_outdated: bool = False
    misplaced: tuple[str, ...] | None = None
