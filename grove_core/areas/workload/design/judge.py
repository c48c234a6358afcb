"""Judges the parts of a set: the round of its update, the constraints of its gangs, the gates of its pods."""

from collections.abc import Sequence

from grove_core.areas.topology.verdicts import GangsPlacedByTopology, GangTopology
from grove_core.areas.workload.design.set_update import judge_rollout
from grove_core.areas.workload.design.verdicts import JudgedSetParts, WorkloadJudgement
from grove_core.areas.workload.objects.podgangs import GangConstraintChange, gang_constraint_change
from grove_core.areas.workload.pods.scheduling_gates import judge_scheduling_gates
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.areas.workload.workload_context import WorkloadContext, knows_replicas, terminating_clique_names
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.wants import Withheld
from grove_core.snapshot.expected_replicas import (
    ExpectedReplica,
    expected_set_of,
    is_set_too_large,
)
from grove_core.snapshot.snapshot import Snapshot


def judge_workload(snapshot: Snapshot, inputs: WorkloadInputs) -> WorkloadJudgement:
    """Return the gates of a set's pods, and its parts with its update; linear in what it consists of (WL-024)."""
    gates = judge_scheduling_gates(snapshot, inputs.gang_backends)
    if snapshot.root.deleting or not snapshot.root.uid or not knows_replicas(snapshot) or is_set_too_large(snapshot):
        return WorkloadJudgement(gates)
    context, expected = WorkloadContext(snapshot), expected_set_of(snapshot)
    replicas = expected.replicas
    rollout = judge_rollout(context, replicas, inputs.terminating) if context.has_all_objects_of_kinds("Pod") else None
    if rollout is not None and rollout.surge:
        replicas = expected.replicas_with_surge(replicas, rollout.surge)
    parts = JudgedSetParts(
        context=context,
        inputs=inputs,
        replicas=replicas,
        rollout=rollout,
        terminating=terminating_clique_names(replicas, inputs),
        gang_constraints=gang_constraint_changes(context, replicas, inputs.gang_topology),
    )
    return WorkloadJudgement(gates, parts)


def gang_constraint_changes(
    context: WorkloadContext, replicas: Sequence[ExpectedReplica], topology: GangTopology
) -> FrozenDict[str, GangConstraintChange | Withheld]:
    """Return the changes of existing PodGangs' topology constraints, or why they stay; without those that are right."""
    if not isinstance(topology, GangsPlacedByTopology):
        return FrozenDict()
    expected = (part for replica in replicas for part in replica.gangs)
    existing = ((part, gang) for part in expected if (gang := context.gangs.get(part.name)) is not None)
    changes = ((part.name, gang_constraint_change(context.root, gang, part, topology)) for part, gang in existing)
    return FrozenDict((name, change) for name, change in changes if change is not None)
