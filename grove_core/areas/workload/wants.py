"""All wants of a set that is not being deleted: surplus, expansion, update and statuses.

The update is judged first, because it may need a surge pod or replica.
"""

from grove_core.areas.gang_termination.verdicts import TerminatingReplicas
from grove_core.areas.mnnvl.verdicts import CliqueDomains
from grove_core.areas.topology.verdicts import GangTopology
from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.expansion.set_objects import ExpansionInputs
from grove_core.areas.workload.expansion.surplus import wants_of_surplus
from grove_core.areas.workload.expansion.wants import wants_of_expansion
from grove_core.areas.workload.rolling_update.findings import findings_of_update
from grove_core.areas.workload.rolling_update.judge import judge_rollout
from grove_core.areas.workload.status import statuses_of
from grove_core.areas.workload.template.expected_replicas import expected_replicas_of
from grove_core.areas.workload.verdicts import WorkloadResult
from grove_core.kernel.area_result import AreaResult
from grove_core.kernel.wants import Desired
from grove_core.snapshot.set_size import is_too_large
from grove_core.snapshot.snapshot import Snapshot


def wants_of_set(
    snapshot: Snapshot, terminating: TerminatingReplicas, clique_domains: CliqueDomains, gang_topology: GangTopology
) -> WorkloadResult:
    """Return all wants and findings for a set. Linear in what the set consists of (WL-024).

    Args:
        snapshot: of a set that is not being deleted, with all its cliques.
        terminating: the replicas that are being terminated; nothing of them is created (WL-076).
        clique_domains: the replicas that wait for a ComputeDomain, and those that use one.
        gang_topology: the topology of PodGangs.
    """
    if is_too_large(snapshot):
        return WorkloadResult()
    context = WorkloadContext(snapshot)
    replicas = expected_replicas_of(snapshot)
    if not context.knows("Pod"):
        may_surge = context.groups.keys()  # without pods it is not known which groups an update adds a replica to
        surplus = Desired(tuple(wants_of_surplus(context, may_surge)))
        inputs = ExpansionInputs(terminating, clique_domains, gang_topology)
        expansion = wants_of_expansion(context, replicas, inputs)
        return WorkloadResult(AreaResult(Desired.union((surplus, expansion.desired))))
    rollout = judge_rollout(context, replicas, terminating)
    if rollout.surge:
        replicas = expected_replicas_of(snapshot, rollout.surge)
    expansion = wants_of_expansion(
        context, replicas, ExpansionInputs(terminating, clique_domains, gang_topology, rollout.written)
    )
    wants = (
        Desired(tuple(wants_of_surplus(context, rollout.surge))),
        expansion.desired,
        rollout.desired,
        Desired(tuple(statuses_of(context, rollout))),
    )
    misplaced = expansion.misplaced if context.knows("PodGang") else None
    findings = tuple(findings_of_update(context, rollout))
    return WorkloadResult(AreaResult(Desired.union(wants), findings), bool(findings), misplaced)
