"""Deletion in memory: finalizers, foreground and background deletion, and the garbage collection of owned objects."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final, TypeAlias

from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import replace
from grove_core.resources.cluster_topology import ClusterTopology, effective_topologies
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.object_after_write import Known, object_after_deletion_request, without_finalizer
from grove_core.resources.pod import FINISHED_PHASES, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.cluster_index import set_snapshot_without_pods
from grove_core.snapshot.snapshot import Snapshot

FOREGROUND: Final = "foregroundDeletion"


StoredObject: TypeAlias = Known


class GarbageCollectedStore:
    """Objects with owner references and finalizers. Mutable.

    Attributes:
        items: every object but pods.
        pods: uid of a PodClique -> its pods, also after its deletion.
        not_collected, complete: kinds of which objects may be missing, and kinds of which none is.
        manifests: of the objects that were created here.
        lingering: whether a deleted pod that runs stays until :meth:`end_pod_containers`.
        numbered: whether versions are numbers, as on a server; if not, a version after a write is
            ``<version>+<writes>``, which no server has, so that a forecast shows no version that looks real.
        clock: returns the deletionTimestamp of a ComputeDomain; None for none.
    """

    def __init__(self, *, lingering: bool, numbered: bool) -> None:
        """Start empty; no kind is complete."""
        self.items: dict[Ref, StoredObject] = {}
        self.pods: dict[str, list[Pod]] = {}
        self.claim_templates: dict[tuple[str, str], FrozenMap] = {}
        self.foreign_owners: dict[tuple[str, str, str], str] = {}
        self.not_collected: frozenset[str] = frozenset()
        self.complete: frozenset[str] | None = None
        self.configuration, self.served = Configuration(), ServedApis()
        self.manifests: dict[Ref, FrozenMap] = {}
        self.lingering, self.numbered = lingering, numbered
        self.clock: Callable[[], datetime] | None = None
        self._version = 0  # the newest of any object
        self._clique_of_pod: dict[Ref, str] = {}  # pod -> uid of its PodClique; rebuilt where a pod is missing
        self._is_indexed = False
        self._owned: defaultdict[str, set[Ref]] = defaultdict(set)
        self._refs: dict[str, Ref] = {}  # by uid
        self._deleting_owned: set[str] = set()  # uids of owners whose objects are being deleted right now

    def add_object(self, item: StoredObject) -> None:
        """Add an object as it is."""
        self.items[item.ref] = item
        self._note_version(item.resource_version)
        self._refs[item.uid] = item.ref
        self._owned[item.owner_uid].add(item.ref)
        if isinstance(item, PodClique):
            self.pods.setdefault(item.uid, [])

    def add_pod(self, pod: Pod) -> None:
        """Add a new pod as it is."""
        self.pods.setdefault(pod.owner_uid, []).append(pod)
        self._note_version(pod.resource_version)
        self._clique_of_pod[pod.ref] = pod.owner_uid

    def version_of_new_object(self) -> str:
        """Return the resourceVersion of an object that is created; of a server the next number (OP-002)."""
        return self._version_after("") if self.numbered else "1"

    def _version_after(self, before: str) -> str:
        if self.numbered:
            self._version += 1
            return str(self._version)
        version, plus, writes = before.rpartition("+")
        if not plus or parse_replica_index(writes) is None:
            version, writes = before, "0"
        return f"{version}+{int(writes) + 1}"

    def _note_version(self, version: str) -> None:
        if self.numbered and version.isdecimal():
            self._version = max(self._version, int(version))

    @property
    def newest_version(self) -> str:
        """The resourceVersion of the last write."""
        return str(self._version)

    def all_objects(self) -> Iterator[StoredObject | Pod]:
        """Yield all objects."""
        yield from self.items.values()
        for pods in self.pods.values():
            yield from pods

    def has_object_with_uid(self, uid: str) -> bool:
        """Return whether an object of this uid exists, pods excepted."""
        return uid in self._refs

    def name_of_uid(self, uid: str) -> str:
        """Return the name of the object of a uid; empty without one."""
        ref = self._refs.get(uid)
        return "" if ref is None else ref.name

    def put_object(self, item: StoredObject) -> None:
        """Store an object as it is, with a new version."""
        before = self.items.get(item.ref)
        if before is not None and before.owner_uid != item.owner_uid:
            self._owned[before.owner_uid].discard(item.ref)
            self._owned[item.owner_uid].add(item.ref)
        self.items[item.ref] = replace(item, resource_version=self._version_after(item.resource_version))

    def delete_object(self, ref: Ref) -> None:
        """Delete an object or a pod in the background; an object with finalizers stays until they are dropped."""
        if ref.kind == "Pod":
            pod = self.get_pod(ref)
            if pod is not None:
                self.delete_pod(pod)
        elif ref in self.items:
            self._delete(self.items[ref], foreground=False)

    def get_pod(self, ref: Ref) -> Pod | None:
        """Return a pod by its address; None without one."""
        if ref not in self._clique_of_pod and ref not in self.manifests:
            self._index_pods()
        return self._indexed(ref)

    def pod_that_has_name(self, ref: Ref) -> Pod | None:
        """Return the pod of an address for the check of a new name; most names are free, so the index is built once."""
        if not self._is_indexed:
            self._index_pods()
        return self._indexed(ref)

    def _indexed(self, ref: Ref) -> Pod | None:
        pods = self.pods.get(self._clique_of_pod.get(ref, ""), ())
        return next((pod for pod in pods if pod.name == ref.name and pod.namespace == ref.namespace), None)

    def _index_pods(self) -> None:
        self._clique_of_pod = {pod.ref: uid for uid, pods in self.pods.items() for pod in pods}
        self._is_indexed = True

    def put_pod(self, pod: Pod) -> None:
        """Store a pod as it is, with a new version."""
        pods = self.pods[pod.owner_uid]
        place = next(place for place, other in enumerate(pods) if other.uid == pod.uid)
        pods[place] = replace(pod, resource_version=self._version_after(pod.resource_version))

    def end_pod_containers(self, ref: Ref) -> None:
        """Remove a pod: its containers have stopped."""
        pod = self.get_pod(ref)
        if pod is None:
            return
        left = [other for other in self.pods[pod.owner_uid] if other.uid != pod.uid]
        self._clique_of_pod.pop(ref, None)
        self.manifests.pop(ref, None)
        self.pods[pod.owner_uid] = left
        if self.has_object_with_uid(pod.owner_uid):
            self._finish_owner(pod.owner_uid)
        elif not left:
            del self.pods[pod.owner_uid]

    def delete_pod(self, pod: Pod) -> None:
        """Delete a pod; one that runs may linger."""
        if not self.lingering or not pod.node or pod.phase in FINISHED_PHASES:
            self.end_pod_containers(pod.ref)
        elif not pod.deleting:
            self.put_pod(replace(pod, deleting=True))

    def evict_pod(self, ref: Ref) -> None:
        """Delete a pod whose node does not answer: it is being deleted until the node ends it (GF-018)."""
        pod = self.get_pod(ref)
        if pod is not None and not pod.deleting:
            self.put_pod(replace(pod, deleting=True))

    def _keep(self, item: StoredObject) -> None:
        """Store an object; the version stays where nothing has changed."""
        if item != self.items[item.ref]:
            self.put_object(item)

    def _delete(self, item: StoredObject, *, foreground: bool) -> None:
        """Delete an object; of several deletions the last one decides between foreground and background."""
        deleted = self._marked(item)
        if not foreground:
            self._settle(without_finalizer(deleted, FOREGROUND))
        elif FOREGROUND not in item.finalizers:
            self.put_object(replace(deleted, finalizers=(*deleted.finalizers, FOREGROUND)))
            self._delete_in_foreground(item.ref)

    def _marked(self, item: StoredObject) -> StoredObject:
        """Return the object with a deletion timestamp."""
        if isinstance(item, ComputeDomain) and self.clock is not None and not item.deleting:
            return replace(item, deleting=True, deleted_at=self.clock().replace(microsecond=0))
        return object_after_deletion_request(item)

    def _finish_owner(self, uid: str) -> None:
        if uid in self._refs:
            self._delete_in_foreground(self._refs[uid])

    def _delete_in_foreground(self, ref: Ref) -> None:
        """Delete what an object in foreground deletion controls, and then the object."""
        item = self.items.get(ref)
        if item is None or FOREGROUND not in item.finalizers or item.uid in self._deleting_owned:
            return
        self._deleting_owned.add(item.uid)
        self._delete_owned(item.uid, foreground=True)
        self._deleting_owned.discard(item.uid)
        if not self._owned.get(item.uid) and not self.pods.get(item.uid):
            self._settle(without_finalizer(self.items[ref], FOREGROUND))

    def _delete_owned(self, uid: str, *, foreground: bool) -> None:
        for ref in sorted(self._owned.get(uid, ()), key=lambda ref: ref.sort_key):
            if not self.items[ref].deleting:
                self._delete(self.items[ref], foreground=foreground)
        for pod in tuple(self.pods.get(uid, ())):
            self.delete_pod(pod)

    def _settle(self, item: StoredObject) -> None:
        """Store an object; remove it and what it controls if it is deleted and has no finalizer."""
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
        self._finish_owner(item.owner_uid)

    def topologies_by_name(self) -> FrozenDict[str, ClusterTopology]:
        """Return name -> topology; of two kinds with one name the one that counts."""
        return effective_topologies(item for item in self.items.values() if isinstance(item, ClusterTopology))

    def snapshot_of_set(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set; None if it does not exist."""
        found = self.items.get(root)
        if not isinstance(found, PodCliqueSet):
            return None
        return replace(
            set_snapshot_without_pods(self.items.values(), found, now, attempts),
            pods_of=frozen_dict_of_tuples(self.pods),
            not_collected=self.not_collected,
            complete=self.complete or frozenset(),
            claim_templates=FrozenDict(self.claim_templates),
            configuration=self.configuration,
            served=self.served,
            foreign_owners=FrozenDict(self.foreign_owners),
            topologies=self.topologies_by_name(),
        )
