"""What the scheduling area decides for the workload area: the back end of each gang."""

from typing import Final, NamedTuple

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.resources.configuration import GangBackend


class GangBackends(NamedTuple):
    """The back ends of the gangs of a set.

    Attributes:
        for_new: of gangs without pods.
        of_pods: name of a gang that has pods -> the back end that its pods have (SC-004).
        because: why ``for_new`` is what it is; empty where the set has no choice.
    """

    for_new: GangBackend = GangBackend.PODGANG
    of_pods: FrozenDict[str, GangBackend] = FrozenDict()
    because: tuple[Reason, ...] = ()

    def has_groups(self, gang: str) -> bool:
        """Return whether a gang, by its name, is placed by the Workload API."""
        return self.of_pods.get(gang, self.for_new) is GangBackend.KUBERNETES


PODGANGS_ONLY: Final = GangBackends()
"""Of an operator without another back end."""
