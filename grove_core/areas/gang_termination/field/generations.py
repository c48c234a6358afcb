"""The generations of the Go operator's rules, and which release has which (GF-100 to GF-110)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from grove_core.resources.podclique import CliqueStatus
from grove_core.resources.scaling_group import GroupStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How the rules of some releases differ.

    Attributes:
        name: F0 to F3.
        default_delay: stored with a new set that has none (GF-001, GF-110).
        breached_below: the least number of scheduled pods, or replicas, with which too few of them are a breach and
            not a start; None where too few are never a breach (GF-102 to GF-104, GF-107, GF-108).
        asks_for_history: whether a breach counts only after a time without one (GF-040, GF-041), and a replica that
            was terminated gets a flag (GF-051).
        counts_whole: whether a scaling group is judged on its whole replicas (GF-032), else on its scheduled ones.
        counts_surplus: whether breaches of members beyond the wanted replicas, or of foreign names, count (GF-109).
        reads_old_spelling: whether ``rollingUpdateProgress`` counts as an update (GF-113).
    """

    name: str
    default_delay: timedelta = timedelta(hours=4)
    breached_below: int | None = None
    asks_for_history: bool = False
    counts_whole: bool = False
    counts_surplus: bool = False
    reads_old_spelling: bool = False

    def sees_update(self, status: CliqueStatus | GroupStatus) -> bool:
        """Return whether an update runs by the fields that these releases read (GF-080, GF-113)."""
        return status.updating and (self.reads_old_spelling or not status.old_spelling)


F0: Final = Generation(name="F0", default_delay=timedelta(seconds=30), counts_surplus=True, reads_old_spelling=True)
F1: Final = Generation(name="F1", counts_surplus=True, reads_old_spelling=True)
F2: Final = Generation(name="F2", breached_below=1)
F3: Final = Generation(name="F3", breached_below=0, asks_for_history=True, counts_whole=True)

_BY_GENERATION: Final = ((F0, range(1, 2)), (F1, range(2, 9)), (F2, range(9, 12)))
_NUMBERED: Final = tuple((f"v0.1.0-alpha.{number}", found) for found, numbers in _BY_GENERATION for number in numbers)
RELEASES: Final[Mapping[str, Generation]] = MappingProxyType(dict((*_NUMBERED, ("v0.1.0-alpha.12-rc1", F3))))
"""Generation by release, oldest first; ``field`` is the last one."""
