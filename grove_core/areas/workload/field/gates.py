"""Scheduling gates by the Go operator: when its gate is removed from a pod (WF-040 to WF-045)."""

from collections.abc import Mapping

from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.pods.scheduling_gates import (
    SchedulingGateJudgement,
    gated_pods,
    gates_without_gangs,
    scheduling_gate_removals,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import DesiredChanges
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_core.snapshot.snapshot import Snapshot


def judge_gates_by_go_operator(snapshot: Snapshot) -> tuple[SchedulingGateJudgement, ...]:
    """Judge every pod of a set that has Grove's gate. Linear.

    Where the input has no PodGangs but may have left them out, each pod keeps its gate, as under ``design``.
    """
    unknown = gates_without_gangs(snapshot)
    if unknown is not None:
        return unknown
    cliques = {clique.ref.name: clique for clique in snapshot.cliques}
    gangs = {gang.ref.name: gang for gang in snapshot.gangs}
    named = {
        (group.name, pod) for gang in snapshot.gangs for group in gang.groups for pod in group.pods
    }  # a PodClique is in one gang
    waits = {name: _too_few_scheduled(gang, cliques) for name, gang in gangs.items()}
    return tuple(
        SchedulingGateJudgement(clique, pod, _decision(clique, pod, named, gangs, waits))
        for clique, pod in gated_pods(snapshot)
    )


def removals_of_every_gate(judged: tuple[SchedulingGateJudgement, ...]) -> DesiredChanges:
    """Return the removal of all gates from every pod that may be scheduled, those of other products too (WF-045)."""
    return scheduling_gate_removals(judged, FrozenMap({"spec": FrozenMap({"schedulingGates": None})}))


def _decision(
    clique: PodClique,
    pod: Pod,
    named: set[tuple[str, str]],
    gangs: Mapping[str, PodGang],
    waits: Mapping[str, tuple[Reason, ...]],
) -> Decision[bool]:
    if (clique.ref.name, pod.name) not in named:
        return _decided(GoOperatorWorkloadReason.GATED_UNTIL_NAMED.because(pod.ref, gang=pod.gang))
    base = clique.base_gang
    if not base:
        because = GoOperatorWorkloadReason.NAMED_BY_BASE_GANG.because(pod.ref, gang=pod.gang)
        return _decided(because, opens=True)
    if base not in gangs or waits[base]:
        because = GoOperatorWorkloadReason.GATED_UNTIL_BASE_GANG_IS_SCHEDULED.because(pod.ref, gang=base)
        return _decided(because, *waits.get(base, ()))
    because = GoOperatorWorkloadReason.BASE_GANG_IS_SCHEDULED.because(pod.ref, gang=base)
    return _decided(because, opens=True)


def _decided(*because: Reason, opens: bool = False) -> Decision[bool]:
    return Decision(opens, because)


def _too_few_scheduled(gang: PodGang, cliques: Mapping[str, PodClique]) -> tuple[Reason, ...]:
    """Return a reason for each clique of a gang with too few scheduled pods by its stored status."""
    found = []
    for group in gang.groups:
        clique = cliques.get(group.name)
        scheduled = 0 if clique is None else clique.status.scheduled or 0
        if clique is None or scheduled < group.min_replicas:
            found.append(
                GoOperatorWorkloadReason.TOO_FEW_SCHEDULED_FOR_GATE.because(
                    gang.ref, clique=group.name, scheduled=scheduled, needed=group.min_replicas
                )
            )
    return tuple(found)
