"""The judgement of a set and its parts by the design."""

from collections.abc import Set as AbstractSet

from grove_core.areas.workload.design.set_update import SetRolloutStep
from grove_core.areas.workload.objects.podgangs import GangConstraintChange
from grove_core.areas.workload.pods.scheduling_gates import SchedulingGateJudgement
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import Withheld
from grove_core.snapshot.expected_replicas import ExpectedReplica


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
