"""What the workload area wishes: that a set is complete and of one template; statuses say how far it is."""

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import NO_CLIQUE_DOMAINS, CliqueDomains
from grove_core.areas.topology.verdicts import NO_GANG_TOPOLOGY, GangTopology
from grove_core.areas.workload.verdicts import WorkloadResult
from grove_core.resources.podclique import GROUP_KIND
from grove_core.snapshot.snapshot import Snapshot


def judge_workload(
    snapshot: Snapshot,
    ending: Ending,
    fabric: CliqueDomains = NO_CLIQUE_DOMAINS,
    placing: GangTopology = NO_GANG_TOPOLOGY,
) -> WorkloadResult:
    """What becomes of a set, as far as the source has everything: what was left out is unknown (WL-010, WL-028).

    Args:
        snapshot: of the set.
        ending: what gang termination ends; nothing is made there meanwhile (WL-076).
        fabric: of which replicas the parts wait, and which of them join a ComputeDomain (MN-010, MN-020).
        placing: what gangs are told of their topology (TP-020).
    """
    if snapshot.root.deleting or not snapshot.root.uid or not _knows_blueprint(snapshot):
        return WorkloadResult()
    from grove_core.areas.workload.wants import wants_of_set  # noqa: PLC0415 - a dozen modules that a file without cliques does not need

    return wants_of_set(snapshot, ending, fabric, placing)


def _knows_blueprint(snapshot: Snapshot) -> bool:
    """Whether it is known what the set should consist of: its groups and cliques tell the counts (WL-015, WL-020).

    Who asked for scaling groups where there are none has all of them, and nothing says so (IN-040).
    """
    is_grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    return "PodClique" in snapshot.complete and not (is_grouped and GROUP_KIND in snapshot.not_collected)
