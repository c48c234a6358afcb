"""The verdicts on the entries of a ComputeDomain: does an entry stay?"""

from enum import Enum, unique

from grove_core.kernel.decisions import Decision
from grove_core.kernel.structs import Struct
from grove_core.resources.compute_domain import DaemonEntry
from grove_core.resources.daemon_entry_lists import DaemonRegistry


@unique
class DaemonEntryVerdict(Enum):
    """Whether an entry stays, is removed, or cannot be judged yet."""

    KEEP = "Keep"
    REMOVE = "Remove"
    UNKNOWN = "Unknown"


class JudgedDaemonEntry(Struct, frozen=True):
    """An entry, its registry, and the decision about it; None if a pod with the entry's address exists."""

    registry: DaemonRegistry
    entry: DaemonEntry
    decision: Decision[DaemonEntryVerdict] | None

    @property
    def verdict(self) -> DaemonEntryVerdict:
        """The verdict of the decision."""
        return DaemonEntryVerdict.KEEP if self.decision is None else self.decision.verdict
