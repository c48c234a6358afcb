"""Decides about the parts of a set, as far as enough of it is known, and unless it is too large (WL-024)."""

from grove_core.areas.gang_termination.verdicts import TerminatingReplicas
from grove_core.areas.mnnvl.verdicts import NO_CLIQUE_DOMAINS, CliqueDomains
from grove_core.areas.topology.verdicts import NO_GANG_TOPOLOGY, GangTopology
from grove_core.areas.workload.pods.scheduling_gates import (
    judge_scheduling_gates,
    scheduling_gate_findings,
    scheduling_gate_removals,
)
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.startup_order import startup_wait_findings
from grove_core.areas.workload.teardown import desired_teardown_changes
from grove_core.areas.workload.verdicts import WorkloadResult
from grove_core.kernel.decisions import AreaResult, union_of_results
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import DesiredChanges, FinalizerToDrop, StatusToWrite, Want, Withheld
from grove_core.resources.podclique import GROUP_KIND
from grove_core.snapshot.expected_replicas import MOST, expected_object_counts
from grove_core.snapshot.snapshot import Snapshot


def judge_workload(
    snapshot: Snapshot,
    terminating: TerminatingReplicas,
    clique_domains: CliqueDomains = NO_CLIQUE_DOMAINS,
    gang_topology: GangTopology = NO_GANG_TOPOLOGY,
) -> WorkloadResult:
    """Return all wants and findings for a set; nothing is created where the snapshot lacks objects (WL-010, WL-028)."""
    gates = judge_scheduling_gates(snapshot)
    before, after = AreaResult(desired_teardown_changes(snapshot)), AreaResult(scheduling_gate_removals(gates))
    others = (*scheduling_gate_findings(gates), *startup_wait_findings(snapshot))
    if snapshot.root.deleting or not snapshot.root.uid or not _knows_replicas(snapshot):
        return WorkloadResult(union_of_results((before, after._replace(findings=others))))
    from grove_core.areas.workload.wants import wants_of_set  # noqa: PLC0415 - a dozen modules that a file without cliques does not need

    found = wants_of_set(snapshot, terminating, clique_domains, gang_topology)
    return found._replace(of_area=union_of_results((before, found.of_area, after._replace(findings=others))))


def _knows_replicas(snapshot: Snapshot) -> bool:
    """Return whether the replica counts are known, which are those of the groups and cliques (WL-015, WL-020).

    A source that was asked for scaling groups and has none has all of them (IN-040).
    """
    is_grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    return "PodClique" in snapshot.complete and not (is_grouped and GROUP_KIND in snapshot.not_collected)


def set_too_large_reason(snapshot: Snapshot) -> Reason | None:
    """Return the reason why a set is too large; None where it is not. Linear in the existing objects."""
    size = expected_object_counts(snapshot)
    return WorkloadReason.TOO_LARGE.because(snapshot.root.ref, objects=size, most=MOST) if size > MOST else None


def withhold_if_too_large(snapshot: Snapshot, result: AreaResult) -> AreaResult:
    """Return the result for a set; of one that is too large, all but statuses and finalizer removals are withheld.

    Nothing would be created again, so nothing is deleted. Statuses are written, because a breach that was over for a
    while would otherwise count from its beginning once the replicas are corrected.
    """
    because = set_too_large_reason(snapshot)
    if because is None or snapshot.root.deleting:
        return result
    goes_on: list[Want] = []
    held = [Withheld(snapshot.root.ref, (because,))]
    for want in result.wants.wants:
        if isinstance(want, StatusToWrite | FinalizerToDrop):
            goes_on.append(want)
        else:
            held.append(Withheld(want.target, (because, *want.because)))
    return result._replace(wants=DesiredChanges(tuple(goes_on), (*held, *result.wants.withheld)))
