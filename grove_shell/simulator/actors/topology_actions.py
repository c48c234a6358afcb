"""Writes of users to topologies."""

from dataclasses import dataclass, field

from grove_core.kernel.admission import Deny
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.resources.cluster_topology import ClusterTopology, cluster_topology_from_json
from grove_core.resources.object_metadata import metadata_in
from grove_shell.simulator.cluster.simulated_admission import Json, SimulatedAdmissionDecisions, topology_manifest
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.recording.simulation_history import (
    RefusedApplyHistoryEntry,
    SimulationActor,
    SimulationHistory,
    WriteEffect,
    WriteHistoryEntry,
)
from grove_shell.simulator.scenario.scenario_events import ApplyTopologyScenarioEvent


@dataclass(slots=True)
class SimulatedTopologyActions:
    """Applies and deletes topologies on behalf of users.

    Attributes:
        admission: the admission decisions.
    """

    cluster: SimulatedCluster
    history: SimulationHistory
    admission: SimulatedAdmissionDecisions = field(default_factory=SimulatedAdmissionDecisions)

    def apply_topology(self, arguments: ApplyTopologyScenarioEvent) -> None:
        """Apply a topology, if admission accepts it."""
        name, found = metadata_in(arguments.manifest).name, self._found(arguments.manifest)
        old = topology_manifest(found) if found is not None else None
        around = self.cluster.topology_view()
        verdict = self.admission.of_topology(arguments.manifest, old, self.cluster.server.configuration, around)
        if isinstance(verdict, Deny):
            self.history.refused += 1
            refusal = RefusedApplyHistoryEntry("ClusterTopology", name, verdict.objections)
            self.history.record(SimulationActor.USER, refusal)
            return
        applied = WriteHistoryEntry(WriteEffect.APPLIED, self.store_admitted_topology(arguments.manifest).ref)
        self.history.record(SimulationActor.USER, applied)

    def store_admitted_topology(self, manifest: Json) -> ClusterTopology:
        """Store an admitted topology; of a stored one only its levels and labels change."""
        wanted, found = cluster_topology_from_json(manifest), self._found(manifest)
        if found is None:
            new = replace(wanted, uid=self.cluster.server.make_unique_uid(wanted.ref), resource_version="1")
            self.cluster.add_object(new)
            return new
        changed = replace(found, levels=wanted.levels, labels=FrozenMap({**found.labels, **wanted.labels}))
        if changed != found:
            self.cluster.put_object(changed)
        return found

    def _found(self, manifest: Json) -> ClusterTopology | None:
        try:
            ref = cluster_topology_from_json(manifest).ref
        except MalformedObject:
            return None
        found = self.cluster.server.items.get(ref)
        return found if isinstance(found, ClusterTopology) else None
