"""Makes wants and findings of a judgement by the Go operator: objects, updates, statuses, gates.

Also withholds changes of objects that this operator does not watch: they wait for the next reconcile (WF-047).
"""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.field.deletions import (
    deleted_set_release,
    unexpected_object_deletions_by_go_operator,
)
from grove_core.areas.workload.field.gangs import gang_statuses_by_go_operator
from grove_core.areas.workload.field.gates import removals_of_every_gate
from grove_core.areas.workload.field.judge import judge_workload_by_go_operator
from grove_core.areas.workload.field.releases import WorkloadBehaviourOfRelease
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.set_objects import GoOperatorSetObjects
from grove_core.areas.workload.field.statuses import statuses_by_go_operator
from grove_core.areas.workload.field.update_defects import update_defect_findings
from grove_core.areas.workload.field.verdicts import GoOperatorSetParts, GoOperatorWorkloadJudgement
from grove_core.areas.workload.object_wants import wants_for_objects
from grove_core.areas.workload.pods.scheduling_gates import scheduling_gate_findings, scheduling_gate_removals
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.startup_order import startup_wait_findings
from grove_core.areas.workload.verdicts import WorkloadInputs, WorkloadResult
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.questions import UPDATE
from grove_core.kernel.wants import DesiredChanges, StatusToWrite, Withheld
from grove_core.snapshot.snapshot import Snapshot

_WATCHED: Final = frozenset({"PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "Pod"})
"""Kinds a change of which leads to a reconcile of their set, by way of the statuses of its PodCliques."""


def workload_result_by_go_operator(
    snapshot: Snapshot, inputs: WorkloadInputs, release: WorkloadBehaviourOfRelease
) -> WorkloadResult:
    """Return all wants and findings for a set by the rules of the Go operator. Linear in what it consists of.

    Args:
        snapshot: of the set.
        inputs: the verdicts of other areas.
        release: of the operator.
    """
    return result_of_workload_by_go_operator(
        snapshot, judge_workload_by_go_operator(snapshot, inputs, release), release
    )


def result_of_workload_by_go_operator(
    snapshot: Snapshot, judgement: GoOperatorWorkloadJudgement, release: WorkloadBehaviourOfRelease
) -> WorkloadResult:
    """Return all wants and findings for a judged set."""
    gates, parts = judgement.gates, judgement.parts
    result = AreaResult(
        DesiredChanges.union_of_areas(
            (
                deleted_set_release(snapshot),
                *(_desired_changes_of_parts(parts) if parts is not None else ()),
                scheduling_gate_removals(gates) if release.keeps_other_gates else removals_of_every_gate(gates),
            )
        ),
        (
            *(old_part_findings(parts) if parts is not None else ()),
            *(update_defect_findings(parts) if parts is not None else ()),
            *scheduling_gate_findings(gates),
            *startup_wait_findings(snapshot),
        ),
        requeue_at=parts.starts_at if parts is not None else None,
    )
    knows_gangs = parts is not None and parts.context.has_all_objects_of_kinds("Pod", "PodGang")
    return WorkloadResult(result, () if knows_gangs else None)  # no gang keeps outdated constraints (WF-132)


def old_part_findings(parts: GoOperatorSetParts) -> Iterator[Finding]:
    """Yield a finding for each clique that is of an old template, or has pods of one. Linear."""
    context = parts.context
    if not context.has_all_objects_of_kinds("Pod"):
        return
    for part, clique in parts.existing_cliques():
        if not parts.templates.is_current(clique, part):
            yield Finding(clique.ref, UPDATE, "Outdated", (WorkloadReason.OLD_TEMPLATE.because(clique.ref),))
            continue
        pods, expected = context.pods_of_clique(clique), parts.templates.hash_of(part)
        old = sum(pod.template_hash != expected and not pod.deleting for pod in pods)
        if old:
            because = WorkloadReason.OLD_PODS.because(clique.ref, outdated=old, pods=len(pods))
            yield Finding(clique.ref, UPDATE, "PodsOutdated", (because,))


def _desired_changes_of_parts(parts: GoOperatorSetParts) -> Iterator[DesiredChanges]:
    """Yield the wants for a set all cliques of which are known: of its update and its statuses if pods are, too."""
    context = parts.context
    yield DesiredChanges(parts.surplus)
    yield wants_for_objects(
        context,
        GoOperatorSetObjects(parts).in_creation_order(),
        parts.terminating,
        unexpected_object_deletions_by_go_operator,
    )
    if not context.has_all_objects_of_kinds("Pod"):
        return
    for step in parts.clique_updates.values():
        yield DesiredChanges(step.deletions, step.withheld)
    for group_step in parts.group_updates.values():
        yield DesiredChanges(group_step.deletions, group_step.withheld)
    yield DesiredChanges((), parts.set_update.withheld)
    yield DesiredChanges(tuple(statuses_by_go_operator(parts)))
    if context.has_all_objects_of_kinds("PodGang"):
        yield DesiredChanges(tuple(_gang_statuses(parts)))


def _gang_statuses(parts: GoOperatorSetParts) -> Iterator[StatusToWrite]:
    for replica in parts.replicas:
        for expected in replica.gangs:
            gang = parts.context.gangs.get(expected.name)
            if gang is not None:
                yield from gang_statuses_by_go_operator(parts.context, gang, expected)


def withhold_changes_of_unwatched_objects(snapshot: Snapshot, result: AreaResult) -> AreaResult:
    """Return the result for a set; changes of unwatched objects are withheld where nothing else is due. Linear.

    A running update or delay reconciles the set every few seconds, so nothing is withheld meanwhile. Nor is it where
    the input lacks objects that are watched: something may be due for them.
    """
    wants = result.wants.wants
    root = snapshot.root
    is_timed = result.wake_at is not None or result.requeue_at is not None or root.status.updating
    is_known = snapshot.complete >= _WATCHED - {root.ref.kind}
    if not wants or root.deleting or is_timed or not is_known or any(want.target.kind in _WATCHED for want in wants):
        return result
    held = (
        Withheld(want.target, (GoOperatorWorkloadReason.NEXT_RECONCILE_AWAITED.because(want.target), *want.because))
        for want in wants
    )
    return result._replace(wants=DesiredChanges((), (*result.wants.withheld, *held)))
