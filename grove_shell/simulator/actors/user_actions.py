"""Actions of users and autoscalers, and failures of pods."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from grove_core.areas.workload.admission.manifest_defaults import manifest_after_kubectl_apply
from grove_core.in_memory.forecasts import snapshot_of_newly_created_set, with_default_termination_delay
from grove_core.kernel.admission import Deny
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PlannedSetChange, PodCliqueSet, podcliqueset_from_json
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.manifest_admission import classify_manifest_edit
from grove_shell.simulator.actors.simulated_kubelets import SimulatedKubelets
from grove_shell.simulator.cluster.simulated_admission import SimulatedAdmissionDecisions
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod
from grove_shell.simulator.recording.simulation_history import (
    NoteHistoryEntry,
    NoteKind,
    PodChangeKind,
    PodHistoryEntry,
    RefusedApplyHistoryEntry,
    ScenarioEventWithoutEffect,
    SimulationActor,
    SimulationHistory,
    WriteEffect,
    WriteHistoryEntry,
)
from grove_shell.simulator.scenario.scenario_events import (
    ApplySetScenarioEvent,
    AutoscaleScenarioEvent,
    CrashPodScenarioEvent,
    NodeByNameOrPod,
    ScaleScenarioEvent,
)
from grove_shell.simulator.scenario.scenario_field_types import PodByCliqueAndIndex
from grove_shell.simulator.virtual_time import datetime_of_virtual_time

Manifest = Mapping[str, Any]
Fill = Callable[[Manifest], dict[str, Any]]
OnSetWrite = Callable[[Manifest, Manifest | None, Manifest | Deny], None]


@dataclass(slots=True)
class SimulatedUserActions:
    """Executes the events of users, autoscalers and pods, and keeps the manifests applied last.

    Attributes:
        admission: the admission decisions.
        rules: rule set of the operator; its webhooks set the default termination delay (GF-001).
        on_set_write: called for each write of a set with its new and old manifest, and what is stored or the denial.
        manifests: namespace and name -> the admitted manifest of a set.
    """

    cluster: SimulatedCluster
    kubelet: SimulatedKubelets
    history: SimulationHistory
    start: datetime
    admission: SimulatedAdmissionDecisions = field(default_factory=SimulatedAdmissionDecisions)
    rules: RuleSet = DESIGN
    on_set_write: OnSetWrite | None = None
    manifests: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    _last_applied: dict[tuple[str, str], Manifest] = field(default_factory=dict)

    def apply_initial_set(self, manifest: Manifest) -> None:
        """Store a set that exists at the start, as if a user had applied it."""
        self.store_admitted_set(manifest)
        self._last_applied[metadata_in(manifest).namespace_and_name] = manifest

    def apply_set(self, arguments: ApplySetScenarioEvent) -> None:
        """Apply a set, if admission accepts it."""
        self._apply(arguments.manifest)

    def store_admitted_set(self, manifest: Manifest) -> None:
        """Store an admitted set."""
        root = podcliqueset_from_json(manifest)
        key = (root.ref.namespace, root.ref.name)
        self.manifests[key] = manifest
        found = self.cluster.server.items.get(root.ref)
        if isinstance(found, PodCliqueSet):
            spec = with_default_termination_delay(root.spec, self.rules)
            generation = None if found.generation is None else found.generation + (found.spec != spec)
            is_edited = classify_manifest_edit(found.spec, spec) is PlannedSetChange.OF_MORE
            changed = replace(
                found,
                spec=spec,
                labels=root.labels,
                annotations=root.annotations,
                generation=generation,
                edit=PlannedSetChange.OF_MORE if is_edited else found.edit,
            )
            if changed != found:
                self.cluster.put_object(changed)
            return
        applied = snapshot_of_newly_created_set(Snapshot(root=root, now=self.start), self.rules).root
        made = replace(applied, created_at=datetime_of_virtual_time(self.start, self._now).replace(microsecond=0))
        self.cluster.add_object(replace(made, uid=self.cluster.server.make_unique_uid(root.ref)))

    def scale_object(self, arguments: ScaleScenarioEvent) -> None:
        """Write the replicas of an object: of a set through admission, of others by their scale subresource.

        Raises:
            ScenarioEventWithoutEffect: There is no such object, or it has these replicas already.
        """
        item = self.cluster.find_object(arguments.kind, arguments.name)
        if isinstance(item, PodCliqueSet):
            manifest = self.manifests[item.ref.namespace, item.ref.name]
            changed = {**manifest, "spec": {**manifest["spec"], "replicas": arguments.replicas}}
            self._apply(changed, f"replicas {item.spec.replicas} to {arguments.replicas}")
        elif isinstance(item, ScalingGroup | PodClique):
            self._scale(item, arguments.replicas, SimulationActor.USER)
        else:
            raise ScenarioEventWithoutEffect(f"there is no {arguments.kind} {arguments.name}")

    def autoscale_object(self, arguments: AutoscaleScenarioEvent) -> None:
        """Let an autoscaler write replicas within its bounds to its target.

        Raises:
            ScenarioEventWithoutEffect: There is no such autoscaler or target, or the target has these replicas already.
        """
        scaler = self.cluster.find_object("HorizontalPodAutoscaler", arguments.name)
        spec = scaler.spec if isinstance(scaler, OwnedObject) else None
        if spec is None:
            raise ScenarioEventWithoutEffect(f"there is no autoscaler {arguments.name}")
        target, least, most = spec["scaleTargetRef"], spec.get("minReplicas", 1), spec["maxReplicas"]
        assert isinstance(target, FrozenMap) and isinstance(least, int) and isinstance(most, int)  # noqa: S101, PT018 - the schema of autoscalers
        item = self.cluster.find_object(str(target["kind"]), str(target["name"]))
        if isinstance(item, ScalingGroup | PodClique):
            self._scale(item, min(max(arguments.replicas, least), most), SimulationActor.AUTOSCALER)
        else:
            raise ScenarioEventWithoutEffect(f"there is no {target['kind']} {target['name']}")

    def delete_object(self, name: str, *kinds: str) -> None:
        """Delete the object of one of these kinds, as ``kubectl delete`` does.

        Raises:
            ScenarioEventWithoutEffect: There is none that may be deleted.
        """
        item = next(filter(None, (self.cluster.find_object(kind, name) for kind in kinds)), None)
        if item is None:
            raise ScenarioEventWithoutEffect(f"there is no {kinds[0]} {name}")
        if item.deleting:
            raise ScenarioEventWithoutEffect(f"{kinds[0]} {name} is being deleted already")
        self.history.record(SimulationActor.USER, WriteHistoryEntry(WriteEffect.DELETED, item.ref))
        self.cluster.delete_object(item.ref)

    def delete_pod(self, arguments: PodByCliqueAndIndex) -> None:
        """Delete a pod. Raises ScenarioEventWithoutEffect if there is none, or it is being deleted already."""
        pod = self._pod(arguments)
        if pod.deleting:
            raise ScenarioEventWithoutEffect(f"pod {pod.name} is being deleted already")
        self.history.record(SimulationActor.USER, WriteHistoryEntry(WriteEffect.DELETED, pod.ref, arguments.clique))
        self.cluster.delete_object(pod.ref)

    def fail_pod(self, arguments: PodByCliqueAndIndex) -> None:
        """Let a pod fail."""
        pod = self._placed_pod(arguments)
        self.history.record(SimulationActor.KUBELET, PodHistoryEntry(PodChangeKind.FAILED, pod.ref, arguments.clique))
        self.kubelet.fail_pod(pod)

    def crash_pod(self, arguments: CrashPodScenarioEvent) -> None:
        """Let a pod crash and recover."""
        pod = self._placed_pod(arguments)
        crash = PodHistoryEntry(PodChangeKind.CRASHED, pod.ref, arguments.clique, pod.node)
        self.history.record(SimulationActor.KUBELET, crash)
        self.kubelet.crash_pod(pod, arguments.recovers)

    def node_of_event(self, where: NodeByNameOrPod) -> str:
        """Return the node of an event. Raises ScenarioEventWithoutEffect if its pod does not exist or has no node."""
        if where.of is None:
            return where.node
        pod = self._pod(where.of)
        if not pod.node:
            raise ScenarioEventWithoutEffect(f"pod {pod.name} has no node")
        return pod.node

    @property
    def _now(self) -> int:
        return self.cluster.queue.now

    def _apply(self, manifest: Manifest, what: str = "") -> None:
        key = metadata_in(manifest).namespace_and_name
        there = self.cluster.find_object("PodCliqueSet", "/".join(key))
        old = self.manifests.get(key) if there is not None else None
        new = self._merged(manifest, old, key, dict)
        verdict = self.admission.of_set(new, old, self.cluster.server.configuration, self.cluster.topology_view())
        filled = self._merged(manifest, old, key, self.admission.defaults)
        stored = verdict if isinstance(verdict, Deny) else filled
        if self.on_set_write is not None:
            self.on_set_write(new, old, stored)
        if isinstance(stored, Deny):
            self.history.refused += 1
            self.history.record(
                SimulationActor.USER, RefusedApplyHistoryEntry("PodCliqueSet", key[1], stored.objections)
            )
            return
        self.store_admitted_set(stored)
        if not what:
            self._last_applied[key] = manifest
        found = self.cluster.find_object("PodCliqueSet", "/".join(key))
        if found is not None:
            applied = WriteHistoryEntry(WriteEffect.APPLIED, found.ref)
            self.history.record(
                SimulationActor.USER, NoteHistoryEntry(NoteKind.SCALED, what, found.ref) if what else applied
            )

    def _merged(self, manifest: Manifest, old: Manifest | None, key: tuple[str, str], defaults: Fill) -> Manifest:
        """Return what ``kubectl apply`` and defaulting make of the stored set (WL-198)."""
        if old is None:
            return defaults(manifest)
        return manifest_after_kubectl_apply(manifest, old, self._last_applied.get(key), defaults).manifest

    def _scale(self, item: ScalingGroup | PodClique, replicas: int, actor: SimulationActor) -> None:
        if item.replicas == replicas:
            raise ScenarioEventWithoutEffect(f"{item.ref.kind} {item.ref.name} has {replicas} replicas already")
        generation = None if item.generation is None else item.generation + 1
        text = f"replicas {item.replicas} to {replicas}"
        self.history.record(actor, NoteHistoryEntry(NoteKind.SCALED, text, item.ref))
        self.cluster.put_object(replace(item, replicas=replicas, generation=generation))

    def _pod(self, where: PodByCliqueAndIndex) -> Pod:
        pod = self.cluster.pod_with_index(where.clique, where.index)
        if pod is None and self.cluster.find_clique(where.clique) is None:
            raise ScenarioEventWithoutEffect(f"there is no PodClique {where.clique}")
        if pod is None:
            raise ScenarioEventWithoutEffect(f"there is no pod {where.index} of {where.clique}")
        return pod

    def _placed_pod(self, where: PodByCliqueAndIndex) -> Pod:
        pod = self._pod(where)
        if not is_live_pod(pod):
            raise ScenarioEventWithoutEffect(
                f"pod {pod.name} {'is being deleted' if pod.deleting else 'has ended'} already"
            )
        if not pod.node:
            raise ScenarioEventWithoutEffect(f"pod {pod.name} has no node yet")
        return pod
