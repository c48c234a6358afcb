"""Scheduling gates: when Grove's gate is removed from a pod (WL-088 to WL-096)."""

from collections.abc import Iterator, Mapping
from typing import Final

from grove_core.areas.scheduling.verdicts import PODGANGS_ONLY, GangBackends
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.decisions import Decision, Finding
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.questions import OWN_GATE
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, StepObstacle, Withheld
from grove_core.resources.api_names import GATE, GROVE
from grove_core.resources.naming_rules import set_replica_name
from grove_core.resources.pod import Pod, active_pods
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_core.snapshot.snapshot import Snapshot

_GATE_REMOVED: Final = FrozenMap(
    {"spec": FrozenMap({"schedulingGates": (FrozenMap({"$patch": "delete", "name": GATE}),)})}
)


class SchedulingGateJudgement(Struct, frozen=True):
    """A pod with Grove's gate, and whether the gate is removed, with reasons."""

    clique: PodClique
    pod: Pod
    opens: Decision[bool]
    obstacle: StepObstacle = StepObstacle.GATE


def judge_scheduling_gates(
    snapshot: Snapshot, backends: GangBackends = PODGANGS_ONLY
) -> tuple[SchedulingGateJudgement, ...]:
    """Judge every pod of a set that has Grove's gate. Linear.

    Returns:
        Where the input has no PodGangs but may have left them out, each pod keeps its gate for that reason (WL-235).
    """
    unknown = gates_without_gangs(snapshot)
    if unknown is not None:
        return unknown
    cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
    gangs = {gang.ref.name: GangStateForGates(snapshot, gang, cliques) for gang in snapshot.gangs if not gang.deleting}
    unplaced = {name: gang.unplaced for name, gang in gangs.items()} | _unplaced_grouped_gangs(snapshot, backends)
    return tuple(
        SchedulingGateJudgement(clique, pod, _decision_about(pod, gangs, _base_gang_of(clique, snapshot), unplaced))
        for clique, pod in gated_pods(snapshot)
    )


def _unplaced_grouped_gangs(snapshot: Snapshot, backends: GangBackends) -> dict[str, tuple[Reason, ...]]:
    """Return the gangs that groups of the Workload API place, each with a reason for each clique that is not placed."""
    found: dict[str, tuple[Reason, ...]] = {}
    for clique in snapshot.cliques:
        gang = clique.gang
        if clique.deleting or not gang or not backends.has_groups(gang):
            continue
        placed, needed = (
            sum(pod.scheduled for pod in active_pods(snapshot.pods_of.get(clique.uid, ()))),
            clique.min_available,
        )
        too_few = (WorkloadReason.TOO_FEW_PLACED.because(clique.ref, placed=placed, needed=needed),)
        found[gang] = (*found.get(gang, ()), *(too_few if placed < needed else ()))
    return found


def gates_without_gangs(snapshot: Snapshot) -> tuple[SchedulingGateJudgement, ...] | None:
    """Return the judgement of gates where no PodGang is in the input; None where there are PodGangs, or surely none."""
    if "PodGang" in snapshot.complete or snapshot.gangs:
        return None
    return tuple(
        SchedulingGateJudgement(
            clique,
            pod,
            _gate_stays(WorkloadReason.GANGS_NOT_COLLECTED.because(pod.ref, gang=pod.gang)),
            StepObstacle.GANGS_NOT_COLLECTED,
        )
        for clique, pod in gated_pods(snapshot)
    )


def gated_pods(snapshot: Snapshot) -> Iterator[tuple[PodClique, Pod]]:
    """Return every pod with Grove's gate that is not being deleted, with its clique."""
    return ((clique, pod) for clique, pod in snapshot.pods() if pod.has_grove_gate and not pod.deleting and pod.uid)


class GangStateForGates:
    """The state of a gang that its pods wait for, computed once for all of them.

    Attributes:
        pods: names of the pods that the gang refers to.
        incomplete: a reason for each clique of which the gang refers to too few pods.
        unplaced: a reason for each clique of which too few pods are scheduled.
    """

    def __init__(self, snapshot: Snapshot, gang: PodGang, cliques: Mapping[str, PodClique]) -> None:
        incomplete, unplaced = [], []
        for group in gang.groups:
            ref = Ref(GROVE, "PodClique", gang.ref.namespace, group.name)
            clique = cliques.get(group.name)
            pods = active_pods(snapshot.pods_of.get(clique.uid, ())) if clique is not None else ()
            placed, needed = sum(pod.scheduled for pod in pods), group.min_replicas
            alive = {pod.name for pod in pods}
            named = sum(name in alive for name in group.pods)
            if named < needed:
                incomplete.append(WorkloadReason.TOO_FEW_PODS.because(ref, pods=named, needed=needed))
            if placed < needed:
                unplaced.append(WorkloadReason.TOO_FEW_PLACED.because(ref, placed=placed, needed=needed))
        self.pods = {name for group in gang.groups for name in group.pods}
        self.incomplete = tuple(incomplete)
        self.unplaced = tuple(unplaced)


def _base_gang_of(clique: PodClique, snapshot: Snapshot) -> str:
    """Return the base gang by the clique's position; its label decides only where the position is not known."""
    index = clique.replica_index
    return set_replica_name(snapshot.root.ref.name, index) if index >= 0 else clique.base_gang


def _decision_about(
    pod: Pod,
    gangs: Mapping[str, GangStateForGates],
    base_gang: str,
    unplaced: Mapping[str, tuple[Reason, ...]],
) -> Decision[bool]:
    """Return the first thing that the pod waits for, else why its gate is removed.

    ``unplaced`` has every gang, with a reason for each clique of which too few pods are scheduled.
    """
    own, base = gangs.get(pod.gang), unplaced.get(base_gang)
    if own is None or pod.name not in own.pods:
        return _gate_stays(WorkloadReason.NOT_IN_GANG_YET.because(pod.ref, gang=pod.gang))
    if own.incomplete:
        return _gate_stays(WorkloadReason.GANG_INCOMPLETE.because(pod.ref, gang=pod.gang), *own.incomplete)
    if base_gang in {"", pod.gang}:
        return Decision(True, (WorkloadReason.GANG_COMPLETE.because(pod.ref, gang=pod.gang),))  # noqa: FBT003 - the verdict
    if base is None or base:
        waits = WorkloadReason.BASE_GANG_NOT_PLACED.because(pod.ref, gang=base_gang)
        return _gate_stays(waits, *(base or ()))
    return Decision(True, (WorkloadReason.BASE_GANG_PLACED.because(pod.ref, gang=base_gang),))  # noqa: FBT003 - the verdict


def _gate_stays(*because: Reason) -> Decision[bool]:
    return Decision(False, because)  # noqa: FBT003 - the verdict


def scheduling_gate_removals(
    judged: tuple[SchedulingGateJudgement, ...], removal: FrozenMap = _GATE_REMOVED
) -> DesiredChanges:
    """Return the removal of Grove's gate from every pod that may be scheduled; other gates stay (WL-088).

    For each clique with pods that keep their gate one withheld step gives the reason.

    Args:
        judged: pods with the gate.
        removal: the change of one pod.
    """
    opened = (gate for gate in judged if gate.opens.verdict)
    withheld = {gate.clique.ref: gate for gate in reversed(judged) if not gate.opens.verdict}
    return DesiredChanges(
        tuple(FieldsToApply(gate.pod.ref, gate.pod.guard, removal, gate.opens.because) for gate in opened),
        tuple(
            Withheld(ref, gate.opens.because, obstacle=gate.obstacle)
            for ref, gate in sorted(withheld.items(), key=lambda item: item[0].name)
        ),
    )


def scheduling_gate_findings(judged: tuple[SchedulingGateJudgement, ...]) -> Iterator[Finding]:
    """Yield a finding for each pod with Grove's gate, with what it waits for."""
    for gate in judged:
        yield Finding(gate.pod.ref, OWN_GATE, "Open" if gate.opens.verdict else "Hold", gate.opens.because)
