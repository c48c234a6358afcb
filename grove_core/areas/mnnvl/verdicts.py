"""The verdict of MNNVL that the workload area gets, by whatever rules."""

from typing import NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason


class ComputeDomainsOfNewParts(NamedTuple):
    """The input of the workload area for new PodCliques and scaling groups: their domain, or why they are withheld.

    Attributes:
        templates: replica -> the ResourceClaimTemplate that its new parts name (MN-020, MN-021).
        waiting: replica -> why its parts are withheld (MN-010).
    """

    templates: FrozenDict[int, str] = FrozenDict()
    waiting: FrozenDict[int, tuple[Reason, ...]] = FrozenDict()
