"""Makes wants and findings of a judgement: surplus, missing and changed objects, update, statuses, gates, teardown."""

from collections.abc import Iterator

from grove_core.areas.workload.design.clique_update import outdated_pods
from grove_core.areas.workload.design.deletions import (
    deleted_set_teardown,
    surplus_replica_deletions,
    unexpected_object_deletions,
)
from grove_core.areas.workload.design.judge import judge_workload
from grove_core.areas.workload.design.set_objects import ExpectedSetObjects
from grove_core.areas.workload.design.statuses import statuses_to_write
from grove_core.areas.workload.design.verdicts import JudgedSetParts, WorkloadJudgement
from grove_core.areas.workload.object_wants import wants_for_objects
from grove_core.areas.workload.pods.scheduling_gates import scheduling_gate_findings, scheduling_gate_removals
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.startup_order import startup_wait_findings
from grove_core.areas.workload.verdicts import WorkloadInputs, WorkloadResult
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.questions import UPDATE
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import (
    DesiredChanges,
)
from grove_core.snapshot.snapshot import Snapshot


def workload_result_by_design(snapshot: Snapshot, inputs: WorkloadInputs) -> WorkloadResult:
    """Return all wants and findings for a set by the design documents."""
    return result_of_workload(snapshot, judge_workload(snapshot, inputs))


def result_of_workload(snapshot: Snapshot, judgement: WorkloadJudgement) -> WorkloadResult:
    """Return all wants and findings for a judged set. Linear in what it consists of (WL-024)."""
    gates, parts = judgement.gates, judgement.parts
    update = tuple(outdated_clique_findings(parts)) if parts is not None else ()
    result = AreaResult(
        DesiredChanges.union_of_areas(
            (
                deleted_set_teardown(snapshot),
                *(_desired_changes_of_parts(parts) if parts is not None else ()),
                scheduling_gate_removals(gates),
            )
        ),
        (*update, *scheduling_gate_findings(gates), *startup_wait_findings(snapshot)),
    )
    if parts is None:
        return WorkloadResult(result)
    knows_parts = parts.rollout is not None  # otherwise the additional parts of an update are not known
    return WorkloadResult(result, parts.gangs_with_outdated_constraints, parts.replicas if knows_parts else None)


def _desired_changes_of_parts(parts: JudgedSetParts) -> Iterator[DesiredChanges]:
    """Yield the wants for a set all cliques of which are known: of its update and its statuses if pods are, too."""
    context, rollout = parts.context, parts.rollout
    # Without pods it is not known which groups an update adds a replica to.
    surge = context.groups.keys() if rollout is None else rollout.surge
    yield DesiredChanges(tuple(surplus_replica_deletions(context, surge)))
    yield wants_for_missing_objects(parts)
    if rollout is not None:
        yield rollout.desired
        yield DesiredChanges(tuple(statuses_to_write(context, rollout)))


def outdated_clique_findings(parts: JudgedSetParts) -> Iterator[Finding]:
    """Yield a finding for each clique that is of an old template, or has pods of one. Linear in those replicas."""
    context, rollout = parts.context, parts.rollout
    if rollout is None:
        return
    root = context.root.ref
    lagging = [state for state in rollout.states if state.outdated]
    left = sum(state.part.index != rollout.current for state in lagging)
    waits = (
        (WorkloadReason.ROLLOUT_WAITS.because(root.at_replica(rollout.current), left=left),)
        if rollout.current is not None
        else ()
    )
    for state in lagging:
        turn: tuple[Reason, ...] = () if state.part.index == rollout.current else waits
        for part in state.part.all_cliques:
            clique = context.existing_clique(part)
            if clique is None:
                continue
            if part.name not in rollout.updated:
                yield Finding(clique.ref, UPDATE, "Outdated", (WorkloadReason.OLD_TEMPLATE.because(clique.ref), *turn))
                continue
            pods = context.snapshot.pods_of.get(clique.uid, ())
            outdated = len(outdated_pods(clique, pods))
            if outdated:
                because = WorkloadReason.OLD_PODS.because(clique.ref, outdated=outdated, pods=len(pods))
                yield Finding(clique.ref, UPDATE, "PodsOutdated", (because, *turn))


def wants_for_missing_objects(parts: JudgedSetParts) -> DesiredChanges:
    """Return the wants for everything that a set should consist of and does not (WL-010 to WL-026). Linear."""
    items = ExpectedSetObjects(parts).in_creation_order()
    return wants_for_objects(parts.context, items, parts.terminating, unexpected_object_deletions)
