"""Judges the parts of a set: the round of its update, the constraints of its gangs, the gates of its pods."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from grove_core.areas.topology.verdicts import GangsPlacedByTopology, GangTopology
from grove_core.areas.workload.design.set_update import SetRolloutStep, judge_rollout
from grove_core.areas.workload.objects.podgangs import GangConstraintChange, gang_constraint_change
from grove_core.areas.workload.pods.scheduling_gates import SchedulingGateJudgement, judge_scheduling_gates
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.areas.workload.workload_context import WorkloadContext, knows_replicas, terminating_clique_names
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import Withheld
from grove_core.snapshot.expected_replicas import (
    ExpectedReplica,
    expected_set_of,
    is_set_too_large,
)
from grove_core.snapshot.snapshot import Snapshot


class JudgedSetParts(Struct, frozen=True, kw_only=True):
    """The parts of a set of which all cliques are known.

    Attributes:
        context: the indexed snapshot.
        inputs: the verdicts of other areas.
        replicas: what the set should consist of, with the additional pods and replicas of its update.
        rollout: one round of the update; None where pods are not known.
        terminating: names of the cliques that are terminated: none of them is created meanwhile (WL-076).
        gang_constraints: name of an existing PodGang -> the change of its topology constraints, or why they stay as
            they are; without those that are as they should be.
    """

    context: WorkloadContext
    inputs: WorkloadInputs
    replicas: tuple[ExpectedReplica, ...]
    rollout: SetRolloutStep | None
    terminating: frozenset[str]
    gang_constraints: FrozenDict[str, GangConstraintChange | Withheld]

    @property
    def cliques_without_new_pods(self) -> AbstractSet[str]:
        """Names of the cliques that are terminated (WL-076) or take over the present template now (WL-086)."""
        return self.terminating if self.rollout is None else self.terminating | self.rollout.cliques_taking_new_template

    @property
    def gangs_with_outdated_constraints(self) -> tuple[str, ...] | None:
        """Names of the PodGangs that keep outdated constraints (TP-026); None where gangs or pods are not known."""
        if not self.context.has_all_objects_of_kinds("Pod", "PodGang"):
            return None
        return tuple(name for name, change in self.gang_constraints.items() if isinstance(change, Withheld))


class WorkloadJudgement(Struct, frozen=True):
    """A set and its parts.

    Attributes:
        gates: the pods with Grove's gate, and whether it is removed.
        parts: None where the set is being deleted or too large (WL-024), where it is in no cluster, and where not all
            of its cliques are known (WL-010, WL-028).
    """

    gates: tuple[SchedulingGateJudgement, ...]
    parts: JudgedSetParts | None = None


def judge_workload(snapshot: Snapshot, inputs: WorkloadInputs) -> WorkloadJudgement:
    """Judge a set. Linear in what it consists of (WL-024)."""
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
