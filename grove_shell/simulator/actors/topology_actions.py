"""What users do with topologies."""

from dataclasses import dataclass, field, replace

from grove_core.kernel.admission import Deny
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, ClusterTopology, cluster_topology_of
from grove_shell.simulator.actors.kubectl_delete import delete
from grove_shell.simulator.cluster.admission import Admission, Json
from grove_shell.simulator.cluster.simulated_cluster import Cluster
from grove_shell.simulator.cluster.topologies import raw_of
from grove_shell.simulator.recording.history import Actor, History, What
from grove_shell.simulator.scenario.user_events import ApplyTopology, TopologyAt


@dataclass(slots=True)
class Administrators:
    """People who write topologies.

    Attributes:
        admission: who is asked about them.
    """

    cluster: Cluster
    history: History
    admission: Admission = field(default_factory=Admission)

    def apply_topology(self, deed: ApplyTopology) -> None:
        """Apply a topology, if admission lets it pass."""
        name, found = _name_of(deed.manifest), self._found(deed.manifest)
        old = raw_of(found) if found is not None else None
        around = self.cluster.around()
        verdict = self.admission.of_topology(deed.manifest, old, self.cluster.world.configuration, around)
        if isinstance(verdict, Deny):
            self.history.refused += 1
            words = tuple(map(str, verdict.objections))
            self.history.note(self._now, Actor.USER, What.REFUSED, detail=f"ClusterTopology {name}", because=words)
            return
        self.history.note(self._now, Actor.USER, What.APPLIED, self.admit(deed.manifest).ref)

    def admit(self, manifest: Json) -> ClusterTopology:
        """Put a topology there that was admitted: what is stored of it beside its levels and labels stays."""
        wanted, found = cluster_topology_of(manifest), self._found(manifest)
        if found is None:
            new = replace(wanted, uid=self.cluster.world.new_uid(wanted.ref), resource_version="1")
            self.cluster.add(new)
            return new
        changed = replace(found, levels=wanted.levels, labels=FrozenMap({**found.labels, **wanted.labels}))
        if changed != found:
            self.cluster.put(changed)
        return found

    def delete_topology(self, deed: TopologyAt) -> None:
        """Delete a topology, as ``kubectl delete`` does."""
        item = next(filter(None, (self.cluster.named(kind, deed.name) for kind in TOPOLOGY_KINDS)), None)
        delete(self.cluster, self.history, item, f"ClusterTopology {deed.name}")

    @property
    def _now(self) -> int:
        return self.cluster.agenda.now

    def _found(self, manifest: Json) -> ClusterTopology | None:
        try:
            ref = cluster_topology_of(manifest).ref
        except MalformedObject:
            return None
        found = self.cluster.world.items.get(ref)
        return found if isinstance(found, ClusterTopology) else None


def _name_of(manifest: Json) -> str:
    meta = manifest.get("metadata")
    return str(meta.get("name")) if isinstance(meta, dict) else ""
