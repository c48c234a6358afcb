"""The whole of a set's life while it is wanted: its update is judged first, for that may want one more of something."""

from grove_core.areas.gang_termination.verdicts import Ending
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
from grove_core.kernel.wants import Desired
from grove_core.snapshot.size import is_too_large
from grove_core.snapshot.snapshot import Snapshot


def wants_of_set(snapshot: Snapshot, ending: Ending, fabric: CliqueDomains, placing: GangTopology) -> WorkloadResult:
    """What goes, what is rolled, what comes, and what statuses say; linear in what the set consists of (WL-024).

    Args:
        snapshot: of a set that is not being deleted, with all its cliques.
        ending: where nothing is made, because it is being ended (WL-076).
        fabric: which replicas wait for a ComputeDomain, and which join one.
        placing: what gangs are told of their topology.
    """
    if is_too_large(snapshot):
        return WorkloadResult()
    context = WorkloadContext(snapshot)
    replicas = expected_replicas_of(snapshot)
    if not context.knows("Pod"):
        may_surge = context.groups.keys()  # of which one an update has one more nobody knows
        return WorkloadResult(
            (
                Desired(tuple(wants_of_surplus(context, may_surge))),
                wants_of_expansion(context, replicas, ExpansionInputs(ending, fabric, placing)).desired,
            )
        )
    rollout = judge_rollout(context, replicas, ending)
    if rollout.surge:
        replicas = expected_replicas_of(snapshot, rollout.surge)
    expansion = wants_of_expansion(context, replicas, ExpansionInputs(ending, fabric, placing, rollout.written))
    wants = (
        Desired(tuple(wants_of_surplus(context, rollout.surge))),
        expansion.desired,
        rollout.desired,
        Desired(tuple(statuses_of(context, rollout))),
    )
    misplaced = expansion.misplaced if context.knows("PodGang") else None
    return WorkloadResult(wants, tuple(findings_of_update(context, rollout)), misplaced)
