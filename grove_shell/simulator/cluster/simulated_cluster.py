"""The simulated cluster: an API server in memory that records its changes and delivers them to listeners."""

from collections.abc import Callable, Iterator
from typing import Final

from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Make, Step
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_KIND, MNNVL_CLAIM, SHARED_CLAIM
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.simulator.cluster.object_change_detector import ObjectChange, ObjectChangeDetector
from grove_shell.simulator.cluster.simulated_admission import (
    SimulatedAdmissionDecisions,
    SimulatedWebhooks,
    known_topologies_for_simulated_admission,
)
from grove_shell.simulator.virtual_time import VirtualTimeQueue

_QUOTA: Final = (
    "403 Forbidden: exceeded quota: domains, requested: count/computedomains.resource.nvidia.com=1, "
    "used: count/computedomains.resource.nvidia.com={used}, limited: count/computedomains.resource.nvidia.com={most}"
)

_NOT_SERVED: Final = "404 Not Found: the server could not find the requested resource"
_CHANNELS: Final = frozenset({MNNVL_CLAIM, SHARED_CLAIM})
_ADOPTABLE: Final = frozenset({DOMAIN_KIND, CLAIM_KIND})


class SimulatedCluster:
    """An API server in memory; listeners get its changes at the end of each time step.

    Attributes:
        server: the stored objects.
        queue: the event queue of the run.
        changes: all changes so far, in time.
        gated: uids of pods with a foreign scheduling gate.
        domain_quota: how many ComputeDomains a namespace may have; None for no quota.
        delayed_topologies: what admission sees of topologies, where its caches lag; else None.
        admission_watch: how late these caches are, in milliseconds.
        listeners: called with the changes of each time step.
    """

    def __init__(
        self, server: InMemoryCluster, queue: VirtualTimeQueue, admission: SimulatedAdmissionDecisions | None = None
    ) -> None:
        self.server = server
        self.queue = queue
        self.changes: list[ObjectChange] = []
        self.gated: set[str] = set()
        self.domain_quota: int | None = None
        self.delayed_topologies: Callable[[], KnownTopologiesForAdmission] | None = None
        self.admission_watch = 0
        self.listeners: list[Callable[[list[ObjectChange]], None]] = []
        self._webhooks = SimulatedWebhooks(
            server, admission or SimulatedAdmissionDecisions(), self._store, self.topology_view
        )
        self._detector = ObjectChangeDetector(server)
        self._dirty = True

    # changes

    def deliver_changes(self) -> bool:
        """Deliver the changes since the last call to all listeners; return whether there were any."""
        if not self._dirty:
            return False
        self._dirty = False
        changes = self._detector.detect_changes(self.queue.now)
        if changes:
            self.changes.extend(changes)
            for listener in self.listeners:
                listener(changes)
        return bool(changes)

    # writes

    def attempt_step(self, step: Step) -> Attempt:
        """Execute a write of an operator, after the webhooks that are registered for it."""
        if not self._webhooks.applies_to(step):
            return self._store(step)
        amended = self._webhooks.admitted_write(step)
        if isinstance(amended, Attempt):
            return amended
        return replace(self._store(amended), step=step)

    def _store(self, step: Step) -> Attempt:
        if isinstance(step.action, Make) and step.target.kind == DOMAIN_KIND:
            refusal = self._refusal_of_domain(step.target)
            if refusal:
                return Attempt(step, AttemptOutcome.REFUSED, refusal)
        self._dirty = True
        attempt = self.server.attempt_step(step)
        if attempt.outcome is AttemptOutcome.DONE and isinstance(step.action, Apply) and self.gated:
            pod = self.server.get_pod(step.target)
            if pod is not None and pod.uid in self.gated and not pod.gated:
                self.put_pod(replace(pod, gated=True))
        if attempt.outcome is AttemptOutcome.DONE and isinstance(step.action, Apply) and step.target.kind in _ADOPTABLE:
            self._collect(step.target)
        return attempt

    def _refusal_of_domain(self, ref: Ref) -> str:
        """Return why the API server refuses to create a ComputeDomain; empty where it does not."""
        if self.server.served.without_domains:
            return _NOT_SERVED
        used = sum(other.kind == DOMAIN_KIND and other.namespace == ref.namespace for other in self.server.items)
        is_full = self.domain_quota is not None and used >= self.domain_quota
        return _QUOTA.format(used=used, most=self.domain_quota) if is_full else ""

    def _collect(self, ref: Ref) -> None:
        """Garbage-collect an object whose new owner no longer exists (SM-080)."""
        item = self.server.items[ref]
        if not self.server.has_object_with_uid(item.owner_uid):
            self.server.delete_object(ref)

    def put_pod(self, pod: Pod) -> None:
        """Write a pod on behalf of another client than the operator."""
        self._dirty = True
        self.server.put_pod(pod)

    def end_pod_containers(self, pod: Pod) -> None:
        """End the containers of a pod; one that is being deleted disappears."""
        self._dirty = True
        self.server.end_pod_containers(pod.ref)

    def put_object(self, item: StoredObject) -> None:
        """Write an object on behalf of another client than the operator."""
        self._dirty = True
        self.server.put_object(item)

    def add_object(self, item: StoredObject) -> None:
        """Add a new object."""
        self._dirty = True
        self.server.add_object(replace(item, resource_version=self.server.version_of_new_object()))

    def delete_object(self, ref: Ref) -> None:
        """Delete an object on behalf of another client than the operator."""
        self._dirty = True
        self.server.delete_object(ref)

    # reads

    def topology_view(self) -> KnownTopologiesForAdmission:
        """Return the topologies and their users as admission sees them now."""
        return (
            known_topologies_for_simulated_admission(self.server.items.values())
            if self.delayed_topologies is None
            else self.delayed_topologies()
        )

    def find_object(self, kind: str, name: str) -> StoredObject | None:
        """Return the object of a kind with a name (``name`` or ``namespace/name``); the first of several, or None."""
        namespace, slash, short = name.rpartition("/")
        for ref, item in self.server.items.items():
            if ref.kind == kind and ref.name == short and (not slash or ref.namespace == namespace):
                return item
        return None

    def find_clique(self, name: str) -> PodClique | None:
        """Return the PodClique with a name, if it exists."""
        found = self.find_object("PodClique", name)
        return found if isinstance(found, PodClique) else None

    def pod_with_index(self, clique: str, index: int) -> Pod | None:
        """Return the pod that has an index in a PodClique now; one that is being deleted only if no other has it."""
        owner = self.find_clique(clique)
        pods = self.server.pods.get(owner.uid, []) if owner is not None else []
        having = [pod for pod in pods if pod.index == index]
        return min(having, key=lambda pod: (pod.deleting, pod.phase in FINISHED_PHASES, pod.uid), default=None)

    def all_pods(self) -> Iterator[Pod]:
        """Yield all pods."""
        for pods in self.server.pods.values():
            yield from pods

    def all_cliques(self) -> list[PodClique]:
        """Return all PodCliques, sorted by name."""
        found = [item for item in self.server.items.values() if isinstance(item, PodClique)]
        return sorted(found, key=lambda clique: clique.ref.sort_key)

    def all_sets(self) -> list[PodCliqueSet]:
        """Return all PodCliqueSets, sorted by name."""
        found = [item for item in self.server.items.values() if isinstance(item, PodCliqueSet)]
        return sorted(found, key=lambda root: root.ref.sort_key)


def first_container_image(cluster: SimulatedCluster, pod: Pod) -> str:
    """Return the image of the first container of a pod; empty where its manifest is unknown."""
    spec = cluster.server.manifests.get(pod.ref, EMPTY).get("spec")
    containers = spec.get("containers") if isinstance(spec, FrozenMap) else None
    first = containers[0] if isinstance(containers, tuple) and containers else None
    return str(first.get("image", "")) if isinstance(first, FrozenMap) else ""


def pod_claims_channel(cluster: SimulatedCluster, pod: Pod) -> bool:
    """Return whether the manifest of a pod claims a channel of a ComputeDomain, in either mode."""
    spec = cluster.server.manifests.get(pod.ref, EMPTY).get("spec")
    claims = spec.get("resourceClaims") if isinstance(spec, FrozenMap) else None
    found = claims if isinstance(claims, tuple) else ()
    return any(isinstance(claim, FrozenMap) and claim.get("name") in _CHANNELS for claim in found)


def is_live_pod(pod: Pod) -> bool:
    """Return whether a pod is neither being deleted nor ended."""
    return not pod.deleting and pod.phase not in FINISHED_PHASES
