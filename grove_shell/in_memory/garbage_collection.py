"""How long objects live: finalizers are waited for, and what an object controlled goes with it, or before it."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.after_write import with_deletion_accepted, without_finalizer
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_shell.in_memory.object_store import ObjectStore
from grove_shell.in_memory.refusals import FOREGROUND
from grove_shell.in_memory.stored import StoredObject, bumped


class GarbageCollection(ObjectStore):
    """Objects, who owns whom of them, and what a deletion takes away.

    Attributes:
        manifests: of what was created here.
        lingering: a deleted pod stays, being deleted, until somebody says that it ended (:meth:`end_pod`).
        clock: tells when a ComputeDomain was deleted; without one nobody knows.
    """

    def __init__(self, *, lingering: bool) -> None:
        """Begin empty."""
        super().__init__()
        self.manifests: dict[Ref, FrozenMap] = {}
        self.lingering = lingering
        self.clock: Callable[[], datetime] | None = None
        self._homes: dict[Ref, str] = {}  # a pod -> uid of its clique; made again where somebody is not found
        self._all_housed = False
        self._owned: defaultdict[str, set[Ref]] = defaultdict(set)
        self._refs: dict[str, Ref] = {}  # by uid
        self._ending: set[str] = set()  # uids of those whose parts are being deleted right now

    def add(self, item: StoredObject) -> None:
        """Take in an object as it is."""
        self.items[item.ref] = item
        self._refs[item.uid] = item.ref
        self._owned[item.owner_uid].add(item.ref)
        if isinstance(item, PodClique):
            self.pods.setdefault(item.uid, [])

    def add_pod(self, pod: Pod) -> None:
        """Take in a new pod as it is."""
        self.pods.setdefault(pod.owner_uid, []).append(pod)
        self._homes[pod.ref] = pod.owner_uid

    def has(self, uid: str) -> bool:
        """Whether an object of that uid is there; of pods nobody asks."""
        return uid in self._refs

    def name_of(self, uid: str) -> str:
        """The name of the object of that uid; empty if it is not there."""
        ref = self._refs.get(uid)
        return "" if ref is None else ref.name

    def put(self, item: StoredObject) -> None:
        """Write an object: stored as given, with a version of its own."""
        before = self.items.get(item.ref)
        if before is not None and before.owner_uid != item.owner_uid:
            self._owned[before.owner_uid].discard(item.ref)
            self._owned[item.owner_uid].add(item.ref)
        self.items[item.ref] = replace(item, resource_version=bumped(item.resource_version))

    def delete(self, ref: Ref) -> None:
        """Delete an object or a pod; finalizers are waited for, what it controlled goes with it."""
        if ref.kind == "Pod":
            pod = self.pod(ref)
            if pod is not None:
                self.delete_pod(pod)
        elif ref in self.items:
            self._delete(self.items[ref], foreground=False)

    def pod(self, ref: Ref) -> Pod | None:
        """The pod of that address; None if there is none."""
        if ref not in self._homes and ref not in self.manifests:
            self._find_homes()
        return self._housed(ref)

    def pod_of_name(self, ref: Ref) -> Pod | None:
        """The pod that a new one would meet; most names are free, so nobody is searched for twice."""
        if not self._all_housed:
            self._find_homes()
        return self._housed(ref)

    def _housed(self, ref: Ref) -> Pod | None:
        pods = self.pods.get(self._homes.get(ref, ""), ())
        return next((pod for pod in pods if pod.name == ref.name and pod.namespace == ref.namespace), None)

    def _find_homes(self) -> None:
        self._homes = {pod.ref: uid for uid, pods in self.pods.items() for pod in pods}
        self._all_housed = True

    def put_pod(self, pod: Pod) -> None:
        """Write a pod: stored as given, with a version of its own."""
        pods = self.pods[pod.owner_uid]
        place = next(place for place, other in enumerate(pods) if other.uid == pod.uid)
        pods[place] = replace(pod, resource_version=bumped(pod.resource_version))

    def end_pod(self, ref: Ref) -> None:
        """A deleted pod has stopped: it is gone."""
        pod = self.pod(ref)
        if pod is None:
            return
        left = [other for other in self.pods[pod.owner_uid] if other.uid != pod.uid]
        self._homes.pop(ref, None)
        self.manifests.pop(ref, None)
        self.pods[pod.owner_uid] = left
        if self.has(pod.owner_uid):
            self._let_go_of_owner(pod.owner_uid)
        elif not left:
            del self.pods[pod.owner_uid]

    def delete_pod(self, pod: Pod) -> None:
        """A pod that runs may linger; any other is gone."""
        if not self.lingering or not pod.node or pod.phase in FINISHED_PHASES:
            self.end_pod(pod.ref)
        elif not pod.deleting:
            self.put_pod(replace(pod, deleting=True))

    def _keep(self, item: StoredObject) -> None:
        """Store an object; where nothing of it changed nothing is written, and its version stays."""
        if item != self.items[item.ref]:
            self.put(item)

    def _delete(self, item: StoredObject, *, foreground: bool) -> None:
        """Accept a deletion; the last one of several says whether parts are waited for."""
        doomed = self._marked(item)
        if not foreground:
            self._settle(without_finalizer(doomed, FOREGROUND))
        elif FOREGROUND not in item.finalizers:
            self.put(replace(doomed, finalizers=(*doomed.finalizers, FOREGROUND)))
            self._let_go(item.ref)

    def _marked(self, item: StoredObject) -> StoredObject:
        """The object, being deleted."""
        if isinstance(item, ComputeDomain) and self.clock is not None and not item.deleting:
            return replace(item, deleting=True, deleted_at=self.clock().replace(microsecond=0))
        return with_deletion_accepted(item)

    def _let_go_of_owner(self, uid: str) -> None:
        if uid in self._refs:
            self._let_go(self._refs[uid])

    def _let_go(self, ref: Ref) -> None:
        """What an object that is deleted in the foreground controls goes first; then it has nothing to wait for."""
        item = self.items.get(ref)
        if item is None or FOREGROUND not in item.finalizers or item.uid in self._ending:
            return
        self._ending.add(item.uid)
        self._delete_owned(item.uid, foreground=True)
        self._ending.discard(item.uid)
        if not self._owned.get(item.uid) and not self.pods.get(item.uid):
            self._settle(without_finalizer(self.items[ref], FOREGROUND))

    def _delete_owned(self, uid: str, *, foreground: bool) -> None:
        for ref in sorted(self._owned.get(uid, ()), key=lambda ref: ref.sort_key):
            if not self.items[ref].deleting:
                self._delete(self.items[ref], foreground=foreground)
        for pod in tuple(self.pods.get(uid, ())):
            self.delete_pod(pod)

    def _settle(self, item: StoredObject) -> None:
        """Keep an object, or let it and everything it controls go."""
        if not item.deleting or item.finalizers:
            self._keep(item)
            return
        del self.items[item.ref]
        del self._refs[item.uid]
        self.manifests.pop(item.ref, None)
        self._owned[item.owner_uid].discard(item.ref)
        self._delete_owned(item.uid, foreground=False)
        if not self.pods.get(item.uid):
            self.pods.pop(item.uid, None)
        self._let_go_of_owner(item.owner_uid)
