"""What the workload area wishes: that a set is complete and of one template; statuses say how far it is."""

from typing import Final, NamedTuple

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import NO_FABRIC, Fabric
from grove_core.areas.topology.verdicts import NO_PLACING, Placing
from grove_core.kernel.decisions import Finding
from grove_core.kernel.wants import Desired
from grove_core.snapshot.snapshot import Snapshot

_NEEDED: Final = "PodClique"


class Completion(NamedTuple):
    """What becomes of a set.

    Attributes:
        wants: what it should consist of and does not, what is too much, its update, its statuses; in this order.
        findings: on what is of an old template.
    """

    wants: tuple[Desired, ...] = ()
    findings: tuple[Finding, ...] = ()


def judge_completion(
    snapshot: Snapshot, ending: Ending, fabric: Fabric = NO_FABRIC, placing: Placing = NO_PLACING
) -> Completion:
    """What becomes of a set, as far as the source has everything: what was left out is unknown, not absent (WL-010).

    Args:
        snapshot: of the set.
        ending: what gang termination ends; nothing is made there meanwhile (WL-076).
        fabric: of which replicas the parts wait, and which of them join a ComputeDomain (MN-010, MN-020).
        placing: what gangs are told of their topology (TP-020).
    """
    if snapshot.root.deleting or not snapshot.root.uid or _NEEDED not in snapshot.complete:
        return Completion()
    # A dozen modules that a file without cliques does not need.
    from grove_core.areas.workload.completion import complete  # noqa: PLC0415

    return complete(snapshot, ending, fabric, placing)
