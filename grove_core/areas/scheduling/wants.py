"""Makes wants of the groups that a set should have: missing, changed, outdated and surplus ones (SC-010 to SC-027)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grove_core.areas.scheduling.findings import unscheduled_group_findings
from grove_core.areas.scheduling.group_changes import (
    CONSTRAINTS,
    has_workload_templates,
    immutable_fields_that_differ,
    podgroup_min_count_change,
)
from grove_core.areas.scheduling.groups import GangCompositePodGroup, constrained_groups_of_gang
from grove_core.areas.scheduling.manifests import podgroup_manifests_of_gang, workload_api_manifest
from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.scheduling.verdicts import GangBackends
from grove_core.areas.scheduling.workload_api_limits import gangs_of_template
from grove_core.areas.topology.verdicts import (
    GangsPlacedByTopology,
    GangTopology,
    WithheldGangs,
    topology_constraints_of_gang,
)
from grove_core.areas.workload.verdicts import WorkloadResult
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.questions import GANG_BACKEND
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges, ObjectToCreate, ObjectToDelete, Want, Withheld
from grove_core.resources.owned_object import GROUP_KINDS, OwnedObject
from grove_core.resources.pod import Pod
from grove_core.snapshot.expected_replicas import ExpectedGang, ExpectedReplica
from grove_core.snapshot.shared_claims import shared_claims_of_set
from grove_core.snapshot.snapshot import Snapshot


class SchedulingResult(NamedTuple):
    """Wants and findings for the groups of a set.

    Attributes:
        misplaced: names of gangs that keep outdated topology constraints (TP-026); None where not all are known.
    """

    of_area: AreaResult
    misplaced: tuple[str, ...] | None


def result_of_scheduling(
    snapshot: Snapshot,
    backends: GangBackends,
    topology: GangTopology,
    workload: WorkloadResult,
) -> SchedulingResult:
    """Return the wants for the groups of a set, and the finding on its back end. Linear in its parts and pods.

    Args:
        workload: what the set should consist of; where that is not known, no group changes.
    """
    replicas = workload.replicas
    findings: tuple[Finding, ...] = (
        (Finding(snapshot.root.ref, GANG_BACKEND, backends.for_new.name.capitalize(), backends.because),)
        if backends.because
        else ()
    )
    if replicas is not None:
        findings = (*findings, *unscheduled_group_findings(snapshot, backends, replicas))
    if replicas is None or not snapshot.complete.issuperset(GROUP_KINDS):
        return SchedulingResult(AreaResult(findings=findings), workload.misplaced)
    wants, misplaced = _GroupsOfSet(snapshot, backends, topology).wants_and_misplaced_gangs(replicas)
    result = AreaResult(DesiredChanges.from_wants_and_withheld(wants), findings)
    return SchedulingResult(result, None if workload.misplaced is None else (*workload.misplaced, *misplaced))


class _GroupsOfSet:
    """The groups that one set has and should have."""

    def __init__(self, snapshot: Snapshot, backends: GangBackends, topology: GangTopology) -> None:
        self._snapshot = snapshot
        self._root = snapshot.root
        self._backends = backends
        self._topology = topology
        self._existing = {
            (other.ref.kind, other.ref.name): other for other in snapshot.others if other.ref.kind in GROUP_KINDS
        }
        self._claims = shared_claims_of_set(
            self._root.ref.name, self._root.annotations, self._root.spec, snapshot.configuration
        )
        self._misplaced: list[str] = []
        self._pods: dict[str, list[Pod]] = {}
        living = (pod for _, pod in snapshot.pods() if not pod.deleting)
        for pod in living if self._existing else ():
            self._pods.setdefault(pod.gang, []).append(pod)

    def wants_and_misplaced_gangs(
        self, replicas: Sequence[ExpectedReplica]
    ) -> tuple[Sequence[Want | Withheld], Sequence[str]]:
        """Return the wants, and the names of gangs whose groups keep outdated topology constraints."""
        return [*self._wants(replicas)], self._misplaced

    def _wants(self, replicas: Sequence[ExpectedReplica]) -> Iterator[Want | Withheld]:
        """Yield the wants for the Workload, then for each gang, then the deletion of groups that are too many."""
        gangs = [gang for replica in replicas for gang in replica.gangs if self._backends.has_groups(gang.name)]
        if not gangs and not self._existing:
            return
        expected: set[tuple[str, str]] = set()
        if gangs:
            templates = gangs_of_template(self._root.ref.name, self._root.spec)
            want = workload_api_manifest(self._root, [self._groups_of(gang) for gang in templates])
            expected.add((want.target.kind, want.target.name))
            yield from self._workload(want)
        for gang in gangs:
            groups = self._groups_of(gang)
            manifests = list(podgroup_manifests_of_gang(self._root, groups))
            expected |= {(want.target.kind, want.target.name) for want in manifests}
            yield from self._gang(groups, manifests)
        for key, group in self._existing.items():
            if key not in expected and group.managed and not group.deleting:
                yield ObjectToDelete(group.ref, group.guard, (SchedulingReason.GROUP_NOT_NEEDED.because(group.ref),))

    def _groups_of(self, gang: ExpectedGang) -> GangCompositePodGroup:
        return constrained_groups_of_gang(
            gang, topology_constraints_of_gang(self._topology, self._root, gang), self._claims
        )

    def _workload(self, want: ObjectToCreate) -> Iterator[Want | Withheld]:
        """Yield the want for the Workload, which can be made anew at any time: no program of Kubernetes reads it."""
        found = self._existing.get((want.target.kind, want.target.name))
        if found is None:
            yield self._creation(want)
        elif not (found.deleting or isinstance(self._topology, WithheldGangs) or has_workload_templates(found, want)):
            yield ObjectToDelete(found.ref, found.guard, (SchedulingReason.WORKLOAD_OUTDATED.because(found.ref),))

    def _gang(self, gang: GangCompositePodGroup, manifests: Sequence[ObjectToCreate]) -> Iterator[Want | Withheld]:
        outdated: dict[Ref, str] = {}
        for want in manifests:
            found = self._existing.get((want.target.kind, want.target.name))
            if found is None:
                yield self._creation(want)
            elif not found.deleting:
                # Groups of a set without topology keep the constraints that they have (TP-025).
                is_placed = isinstance(self._topology, GangsPlacedByTopology)
                if fields := immutable_fields_that_differ(found, want, with_topology=is_placed):
                    outdated[found.ref] = ", ".join(fields)
                if (change := podgroup_min_count_change(found, want)) is not None:
                    yield change
        if outdated and not isinstance(self._topology, WithheldGangs):
            yield from self._outdated_gang(gang, manifests, outdated)

    def _outdated_gang(
        self, gang: GangCompositePodGroup, manifests: Sequence[ObjectToCreate], outdated: dict[Ref, str]
    ) -> Iterator[Want | Withheld]:
        """Yield the deletion of a gang's groups and pods, so that they are made anew; none while a pod is on a node."""
        pods, name = self._pods.get(gang.gang.name, ()), gang.gang.name
        if any(pod.node for pod in pods):
            if any(CONSTRAINTS in fields for fields in outdated.values()):
                self._misplaced.append(name)
            for ref, fields in outdated.items():
                yield Withheld(ref, (SchedulingReason.STAYS_AS_IT_IS.because(ref, fields=fields, gang=name),))
            return
        group, fields = next(iter(outdated.items()))
        doomed: list[OwnedObject | Pod] = [
            found
            for want in manifests
            if (found := self._existing.get((want.target.kind, want.target.name))) is not None and not found.deleting
        ]
        for one in (*doomed, *pods):
            because = SchedulingReason.MADE_ANEW.because(one.ref, fields=fields, group=group.short, gang=name)
            yield ObjectToDelete(one.ref, one.guard, (because,))

    def _creation(self, want: ObjectToCreate) -> ObjectToCreate | Withheld:
        """Return the creation of an object; it is withheld for a topology, and where a foreign object has its name."""
        if isinstance(self._topology, WithheldGangs):
            return Withheld(want.target, self._topology.because)
        holder = self._snapshot.foreign_owners.get((want.target.kind, want.target.namespace, want.target.name))
        if holder is None:
            return want
        taken = SchedulingReason.GROUP_NAME_TAKEN.because(want.target, holder=holder)
        return Withheld(want.target, (taken, *want.because))
