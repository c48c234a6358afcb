"""Whether the gangs of a terminated replica find room again once its own pods are gone (PL-045)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.areas.workload.judge import set_too_large_reason
from grove_core.kernel.refs import Ref
from grove_core.plan.termination_hints import Room
from grove_core.resources.free_capacity import FreeCapacity
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from grove_core.areas.topology.fit_check import GangFit


def room_for_replica(snapshot: Snapshot, subject: Ref, pods: Iterable[Pod], capacity: FreeCapacity) -> Room:
    """Return whether the gangs of a replica fit on the nodes of the input, with the counting of `topology check`.

    Pods that the input lacks can only take more room: without them no room is still a fact, and room is not (PL-050).

    Args:
        pods: of the replica, which are deleted with it.
        capacity: of the nodes of the input.
    """
    nodes = capacity.without_pods(pods)
    if not nodes:
        return Room.NODES_MISSING
    from grove_core.gang_fit import check_replica_fit, has_gang_of_its_own  # noqa: PLC0415 - most dumps have no nodes (P11)

    fit = check_replica_fit(snapshot, subject, nodes)
    if fit is None:
        is_part = set_too_large_reason(snapshot) is None and not has_gang_of_its_own(snapshot, subject)
        return Room.PART_OF_GANG if is_part else Room.UNDECIDED
    if any(_cannot_start(gang) for gang in fit.gangs):
        return Room.CANNOT
    if fit.result.verdict is not FitVerdict.FITS:
        return Room.UNDECIDED
    return Room.FITS if capacity.lists_other_pods else Room.PODS_MISSING


def _cannot_start(gang: "GangFit") -> bool:
    """Return whether not even the pods that a gang needs to start fit."""
    return (gang.minimum_result or gang.result).verdict is FitVerdict.CANNOT
