"""The kubelets: scheduled pods start, wait for their start-up order, become ready, and stop when they are deleted."""

from collections.abc import Iterable, Mapping
from typing import Final

from grove_core.areas.workload.pods.pod_manifest import INIT_CONTAINER, PARENTS_FLAG
from grove_core.kernel.frozen import FrozenMap, list_at
from grove_core.kernel.structs import replace
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode
from grove_shell.simulator.recording.simulation_history import (
    PodChangeKind,
    PodHistoryEntry,
    SimulationActor,
    SimulationHistory,
)
from grove_shell.simulator.scenario.scenario import ScenarioKubeletSpec, ScenarioPodTimings

_RUNNING: Final = "Running"
_CRASHED: Final = "CrashLoopBackOff"
_STARTING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})


def with_ready_containers(pod: Pod) -> Pod:
    """Return the pod with every container started and ready (SM-030)."""
    return replace(pod, ready=True, trouble="", crashed=False, unready=False)


def is_unready_in_dump(pod: Pod) -> bool:
    """Return whether a pod of a dump has a node, is not ready and is not starting (SM-106)."""
    is_unready = is_live_pod(pod) and bool(pod.node) and not pod.ready
    return is_unready and (pod.phase == _RUNNING or pod.trouble not in _STARTING)


class SimulatedKubelets:
    """All kubelets of a cluster; the kubelet of a lost node does nothing until the node is back.

    Attributes:
        unready_at_start: uids of the pods of the dump that stay not ready.
    """

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: Mapping[str, SimulatedNode],
        spec: ScenarioKubeletSpec,
        history: SimulationHistory,
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.spec = spec
        self.history = history
        self._default_timings = ScenarioPodTimings(start=spec.start, ready=spec.ready, stop=spec.stop)
        self._in_progress: dict[str, str] = {}  # uid of a pod -> its operation in progress
        self._waiting: dict[
            str, tuple[tuple[str, int], ...]
        ] = {}  # uid of a pod -> PodCliques that it waits for, with the ready pods it needs
        self._timings: dict[str, tuple[str, ScenarioPodTimings]] = {}  # uid of a PodClique -> its name and delays
        self._pods: dict[str, Pod] = {}
        self.unready_at_start = frozenset(pod.uid for pod in cluster.all_pods() if is_unready_in_dump(pod))

    def on_changes(self, changes: Iterable[ObjectChange]) -> None:
        """Begin the next operation of each changed pod, and start the waiting pods whose order allows it."""
        moved = False
        for change in changes:
            if change.kind != "Pod":
                continue
            pod = change.after
            if isinstance(pod, Pod):
                self._pods[pod.uid] = pod
                if pod.node:
                    self.begin_next_operation(pod)
            else:
                self._pods.pop(change.latest_object.uid, None)
                self._in_progress.pop(change.latest_object.uid, None)
                self._waiting.pop(change.latest_object.uid, None)
            moved = True
        if moved and self._waiting:
            for uid in tuple(self._waiting):
                self._try_to_run(uid)

    def begin_next_operation(self, pod: Pod) -> None:
        """Begin the next operation of a pod, unless it is in progress."""
        node = self.nodes.get(pod.node)
        if node is None or not node.up:
            return
        timings = self._clique_of(pod)[1]
        if pod.deleting:
            self._begin(pod.uid, "stop", timings.stop)
        elif pod.phase in FINISHED_PHASES or pod.ready:
            return
        elif pod.uid in self.unready_at_start:
            if self.spec.recovers is not None and self._in_progress.get(pod.uid) != "crash":
                self._begin(pod.uid, "ready", self.spec.recovers)
        elif pod.phase == _RUNNING:
            if pod.trouble != _CRASHED:
                self._begin(pod.uid, "ready", timings.ready)
        else:
            self._begin(pod.uid, "start", timings.start)

    def crash_pod(self, pod: Pod, recovers: int) -> None:
        """Make a pod not ready, with a container in CrashLoopBackOff, for ``recovers`` milliseconds."""
        self._in_progress[pod.uid] = "crash"
        self.cluster.put_pod(replace(pod, ready=False, trouble=_CRASHED, crashed=True, unready=False))
        self.cluster.queue.schedule_after(recovers, lambda: self._recover(pod.uid))

    def fail_pod(self, pod: Pod) -> None:
        """Let a pod fail for good."""
        self._in_progress.pop(pod.uid, None)
        self.cluster.put_pod(replace(pod, ready=False, phase="Failed", trouble="Error", unready=False))

    def _begin(self, uid: str, what: str, span: int | None) -> None:
        if self._in_progress.get(uid) != what:
            self._in_progress[uid] = what
            self.cluster.queue.schedule_after(span or 0, lambda: self._finish(uid, what))

    def _finish(self, uid: str, what: str) -> None:
        """Finish an operation, unless the pod, its node or its operation has changed meanwhile."""
        pod = self._now(uid)
        if pod is None or self._in_progress.get(uid) != what:
            return
        del self._in_progress[uid]
        if what == "stop":
            self._record(PodChangeKind.GONE, pod)
            self.cluster.end_pod_containers(pod)
        elif what == "start":
            self._waiting[uid] = self._awaited_cliques(pod)
            self._in_progress[uid] = "wait"
            self._try_to_run(uid)
        elif not pod.deleting:
            self._record(PodChangeKind.READY, pod)
            self.cluster.put_pod(with_ready_containers(replace(pod, scheduled=True, phase=_RUNNING)))

    def _try_to_run(self, uid: str) -> None:
        pod = self._now(uid)
        if pod is None or not is_live_pod(pod):
            return
        if all(self._ready_of(pod.namespace, name) >= count for name, count in self._waiting[uid]):
            del self._waiting[uid]
            del self._in_progress[uid]
            self._record(PodChangeKind.STARTED, pod)
            self.cluster.put_pod(replace(pod, phase=_RUNNING, unready=self._starts_at_once(pod)))

    def _recover(self, uid: str) -> None:
        pod = self._now(uid)
        if pod is not None and self._in_progress.get(uid) == "crash" and is_live_pod(pod):
            del self._in_progress[uid]
            self._record(PodChangeKind.READY, pod)
            self.cluster.put_pod(with_ready_containers(replace(pod, phase=_RUNNING)))

    def _now(self, uid: str) -> Pod | None:
        """Return the stored pod; None where it is deleted or its kubelet does not respond."""
        known = self._pods.get(uid)
        pod = self.cluster.server.get_pod(known.ref) if known is not None else None
        if pod is None or pod.uid != uid:
            return None
        node = self.nodes.get(pod.node)
        if node is None or not node.up:
            self._in_progress.pop(uid, None)
            self._waiting.pop(uid, None)
            return None
        return pod

    def _clique_of(self, pod: Pod) -> tuple[str, ScenarioPodTimings]:
        """Return name and delays of the PodClique of a pod, also after the PodClique is deleted."""
        found = self._timings.get(pod.owner_uid)
        if found is None:
            name = self.cluster.server.name_of_uid(pod.owner_uid)
            short = max((key for key in self.spec.cliques if name.endswith(f"-{key}")), key=len, default="")
            own = self.spec.cliques.get(short, ScenarioPodTimings())
            given = {key: value for key in ("start", "ready", "stop") if (value := getattr(own, key)) is not None}
            found = (name, self._default_timings.model_copy(update=given))
            if name:
                self._timings[pod.owner_uid] = found
        return found

    def _awaited_cliques(self, pod: Pod) -> tuple[tuple[str, int], ...]:
        """Return the PodCliques that a pod waits for, with the ready pods it needs, from its init container."""
        found = []
        for container in self._containers(pod, "initContainers"):
            if container.get("name") == INIT_CONTAINER:
                arguments = container.get("args")
                for argument in arguments if isinstance(arguments, tuple) else ():
                    name, _, count = str(argument).removeprefix(PARENTS_FLAG).rpartition(":")
                    if (
                        str(argument).startswith(PARENTS_FLAG) and count.isdecimal()
                    ):  # a container of the user may have that name
                        found.append((name.strip(), int(count)))
        return tuple(found)

    def _starts_at_once(self, pod: Pod) -> bool:
        """Return whether a main container is started before it is ready (SM-030).

        A container with a startup probe starts when it is ready. One without a readiness probe is ready when it starts,
        unless the scenario gives the time between the two.
        """
        name = self._clique_of(pod)[0]
        own = max((key for key in self.spec.cliques if name.endswith(f"-{key}")), key=len, default="")
        given = "ready" in self.spec.model_fields_set or (own and self.spec.cliques[own].ready is not None)
        return any(
            "startupProbe" not in container and (given or "readinessProbe" in container)
            for container in self._containers(pod, "containers")
        )

    def _containers(self, pod: Pod, key: str) -> list[FrozenMap]:
        """Return the containers of a pod; those of its PodClique for a pod of the dump, whose manifest is unknown."""
        manifest = self.cluster.server.manifests.get(pod.ref)
        spec = manifest.get("spec") if manifest is not None else self._template_of(pod)
        return [one for one in list_at(spec, key) if isinstance(one, FrozenMap)] if isinstance(spec, FrozenMap) else []

    def _template_of(self, pod: Pod) -> FrozenMap | None:
        owner = self.cluster.find_clique(f"{pod.namespace}/{self._clique_of(pod)[0]}")
        return owner.pod_spec if owner is not None else None

    def _ready_of(self, namespace: str, clique: str) -> int:
        owner = self.cluster.find_clique(f"{namespace}/{clique}")
        return sum(pod.ready for pod in self.cluster.server.pods.get(owner.uid, ())) if owner is not None else 0

    def _record(self, what: PodChangeKind, pod: Pod) -> None:
        self.history.record(SimulationActor.KUBELET, PodHistoryEntry(what, pod.ref, self._clique_of(pod)[0], pod.node))
