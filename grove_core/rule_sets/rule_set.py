"""A rule set: the behaviour of one operator, area by area."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from grove_core.areas.gang_termination.design.judge import judge_breached_cliques_by_design
from grove_core.areas.gang_termination.design.wants import gang_termination_by_design, replica_fates_by_design
from grove_core.areas.gang_termination.termination_result import LostNodeResult, TerminationResult
from grove_core.areas.gang_termination.verdicts import SetReplicaFates
from grove_core.areas.scheduling.judge import judge_gang_backends
from grove_core.areas.scheduling.verdicts import GangBackends
from grove_core.areas.workload.design.wants import workload_result_by_design
from grove_core.areas.workload.verdicts import WorkloadInputs, WorkloadResult
from grove_core.kernel.decisions import AreaResult
from grove_core.resources.node_loss import NodesByName
from grove_core.rule_sets.admission import ADMISSION_BY_DESIGN, AdmissionBehaviour
from grove_core.rule_sets.mnnvl import MNNVL_BY_DESIGN, MnnvlBehaviour
from grove_core.snapshot.snapshot import Snapshot

WorkloadBehaviour: TypeAlias = Callable[[Snapshot, WorkloadInputs], WorkloadResult]
"""The creation, update, scaling and deletion of the parts of a set."""


def _nothing_withheld(_: Snapshot, result: AreaResult) -> AreaResult:
    return result


def _replica_fates_by_design(snapshot: Snapshot) -> SetReplicaFates:
    return replica_fates_by_design(judge_breached_cliques_by_design(snapshot))


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The behaviour of one operator; areas without an attribute here behave the same for every operator.

    Attributes:
        name: as shown in a plan, with the release where there are several (GF-100).
        gang_termination: decides about breaches and terminations, given a snapshot with the operator's own writes.
        replica_fates: the same decision, without reasons, statuses and deletions.
        default_delay: the ``terminationDelay`` that admission writes into a new set without one; None where it writes
            none.
        lost_nodes: finds pods on nodes that do not answer, given the snapshot and the Nodes of the input; None where
            their loss is no special case.
        gang_backends: decides what places each gang of a set.
        workload: creates, updates, scales and deletes the parts of a set.
        mnnvl: creates and deletes ComputeDomains, and admits the annotations of sets that want one.
        admission: defaults of manifests, objections to them and warnings about them that not every operator has.
        withholds: returns the result of all areas for a set without what waits for a later reconcile of it (WF-047).
        computes_status_when_scheduled: whether a pod that is scheduled leads to new statuses (GF-084).
        delays_statuses: whether statuses wait while objects are written, as OP-024 has it.
        keeps_topologies: whether the operator writes to topologies (GF-137).
        hash_form: the form of its template hashes; empty where it compares content (WF-090).
    """

    name: str
    gang_termination: Callable[[Snapshot], TerminationResult]
    replica_fates: Callable[[Snapshot], SetReplicaFates] = _replica_fates_by_design
    default_delay: timedelta | None = None
    lost_nodes: Callable[[Snapshot, NodesByName], LostNodeResult] | None = None
    gang_backends: Callable[[Snapshot], GangBackends] = judge_gang_backends
    workload: WorkloadBehaviour = workload_result_by_design
    mnnvl: MnnvlBehaviour = MNNVL_BY_DESIGN
    admission: AdmissionBehaviour = ADMISSION_BY_DESIGN
    withholds: Callable[[Snapshot, AreaResult], AreaResult] = _nothing_withheld
    computes_status_when_scheduled: bool = True
    delays_statuses: bool = True
    keeps_topologies: bool = True
    hash_form: str = ""


DESIGN: Final = RuleSet("design", gang_termination_by_design)
"""The rule set of the design documents."""
