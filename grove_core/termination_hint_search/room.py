"""Whether the gangs of a terminated replica find room again once its own pods are gone (PL-045)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from grove_core.areas.topology.fit_check import GangFit
from grove_core.areas.topology.verdicts import FitVerdict
from grove_core.gang_fit import check_replica_fit
from grove_core.kernel.refs import Ref
from grove_core.plan.termination_hints import Room
from grove_core.resources.node import Node
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.pod_spec_gpus import GPU
from grove_core.snapshot.snapshot import Snapshot

_THOUSANDTHS: Final = 1000


def room_for_replica(snapshot: Snapshot, subject: Ref, pods: Iterable[Pod], free: Sequence[Node]) -> Room:
    """Return whether the gangs of a replica fit on the nodes of the input, with the counting of `topology check`.

    Args:
        pods: of the replica, which are deleted with it.
        free: the nodes with the amounts that are free now; empty where they are not known.
    """
    known = {node.name for node in free}
    held = [pod for pod in pods if pod.node and pod.phase not in FINISHED_PHASES]
    if not free or any(pod.node not in known for pod in held):
        return Room.UNKNOWN
    released = Counter[str]()
    for pod in held:
        released[pod.node] += pod.gpus * _THOUSANDTHS
    fit = check_replica_fit(snapshot, subject, [_with_more(node, released[node.name]) for node in free])
    if fit is None:
        return Room.UNKNOWN
    if any(_cannot_start(gang) for gang in fit.gangs):
        return Room.CANNOT
    return Room.FITS if fit.result.verdict is FitVerdict.FITS else Room.UNKNOWN


def _with_more(node: Node, gpus: int) -> Node:
    return replace(node, amounts={**node.amounts, GPU: node.amounts.get(GPU, 0) + gpus}) if gpus else node


def _cannot_start(gang: GangFit) -> bool:
    """Return whether not even the pods that a gang needs to start fit."""
    return (gang.minimum_result or gang.result).verdict is FitVerdict.CANNOT
