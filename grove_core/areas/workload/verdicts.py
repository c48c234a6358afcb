"""What the workload area gets from other areas, and its result for a set."""

from typing import NamedTuple

from grove_core.areas.gang_termination.verdicts import ReplicasToTerminate
from grove_core.areas.mnnvl.verdicts import ComputeDomainsOfNewParts
from grove_core.areas.scheduling.verdicts import PODGANGS_ONLY, GangBackends
from grove_core.areas.topology.verdicts import GangsWithoutTopology, GangTopology
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.snapshot.expected_replicas import ExpectedReplica


class WorkloadInputs(NamedTuple):
    """The verdicts of other areas that the parts of a set depend on.

    Attributes:
        terminating: the replicas that are terminated: no clique and no pod of them is created (WL-076).
        clique_domains: the domains of new PodCliques and scaling groups, or why these are withheld (MN-010, MN-020).
        mnnvl_annotations: name of a clique in the template -> the MNNVL annotations of its new PodCliques (MS-010).
        gang_topology: the topology of new PodGangs (TP-020), or why none is created (TP-010).
        gang_backends: what places each gang: a PodGang, or groups of the Workload API (SC-001).
    """

    terminating: ReplicasToTerminate = ReplicasToTerminate()
    clique_domains: ComputeDomainsOfNewParts = ComputeDomainsOfNewParts()
    mnnvl_annotations: FrozenDict[str, FrozenMap] = FrozenDict()
    gang_topology: GangTopology = GangsWithoutTopology()
    gang_backends: GangBackends = PODGANGS_ONLY


class WorkloadResult(NamedTuple):
    """Wants and findings for a set, and the verdicts on it that others need.

    Attributes:
        of_area: the wants in this order: deletion of the set, surplus, missing objects, update, statuses, gates.
        misplaced: names of PodGangs that keep outdated constraints (TP-026); None where not all of the set is known.
        replicas: what the set should consist of, with the additional parts of its update; None where that is not known.
    """

    of_area: AreaResult = AreaResult()
    misplaced: tuple[str, ...] | None = None
    replicas: tuple[ExpectedReplica, ...] | None = None
