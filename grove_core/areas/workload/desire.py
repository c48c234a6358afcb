"""What the workload area wishes: that a set is complete and of one template; statuses say how far it is."""

from typing import Final

from grove_core.kernel.wants import Desired
from grove_core.snapshot.snapshot import Snapshot

_NEEDED: Final = "PodClique"


def wants_of_completion(snapshot: Snapshot) -> tuple[Desired, ...]:
    """What a set should consist of and does not, what is too much, its update, its statuses; in order of strength.

    Only of kinds of which the source has everything: what was left out is unknown, not absent (WL-010).
    """
    if snapshot.root.deleting or not snapshot.root.uid or _NEEDED not in snapshot.complete:
        return ()
    # A dozen modules that a file without cliques does not need.
    from grove_core.areas.workload.completion import wants_of_whole_set  # noqa: PLC0415

    return wants_of_whole_set(snapshot)
