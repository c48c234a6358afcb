"""An API server in memory: uids, resource versions, owners, finalizers, conflicts, garbage collection.

It models a real one. A write must name the uid and version of the stored object. An object with finalizers stays until
they are dropped. The objects that it controls are deleted with it, or before it in a foreground deletion. A write that
changes nothing keeps the version. What the model leaves out is in SM-080; tests/recorded_api_server compares it with a
real server. In a forecast a version after a write has the form ``<version>+<writes>``, which no real server uses.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeAlias, assert_never

from grove_core.in_memory.garbage_collection import FOREGROUND, GarbageCollectedStore, StoredObject
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, thaw_json
from grove_core.kernel.refs import Ref, placeholder_uid
from grove_core.kernel.steps import (
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    Make,
    SetStatus,
    Step,
    StepStage,
    UnexpectedTargetState,
)
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_core.resources.api_names import DOMAIN_KIND, GROUP_KIND, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import ClusterTopology, cluster_topology_from_json
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_from_json
from grove_core.resources.domain_and_claim_formats import refs_across_api_versions
from grove_core.resources.domain_sharing_labels import domain_user_in_manifest_labels, sharing_user_in_labels
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.object_after_write import Write, object_after_write
from grove_core.resources.owned_object import OwnedObject, owned_object_from_json
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podgang import PodGang, podgang_from_json
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_from_json
from grove_core.snapshot.snapshot import Snapshot, pods_may_belong_to_set

_NO_NEW_FINALIZERS: Final = "no new finalizers can be added if the object is being deleted"
_CreatedObject: TypeAlias = ScalingGroup | PodClique | PodGang | Pod | OwnedObject | ComputeDomain | ClusterTopology

_PROJECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any]], _CreatedObject]]] = MappingProxyType(
    {
        GROUP_KIND: scaling_group_from_json,
        "PodClique": podclique_from_json,
        "PodGang": podgang_from_json,
        DOMAIN_KIND: compute_domain_from_json,
        TOPOLOGY_KIND: cluster_topology_from_json,
        "Pod": lambda raw: pod_from_json(_admitted(raw), {}),
    }
)


class InMemoryCluster(GarbageCollectedStore):
    """Executes steps in memory. Without a clock an object is created at the time of the last snapshot."""

    def __init__(self, snapshots: Iterable[Snapshot], *, lingering: bool = False, numbered: bool = False) -> None:
        """Start with the objects of some snapshots.

        Args:
            snapshots: of the roots.
            lingering: whether a deleted pod that runs stays until :meth:`end_pod_containers`.
            numbered: whether versions are numbers, as on a server; if not they are ``<version>+<writes>``.
        """
        super().__init__(lingering=lingering, numbered=numbered)
        self._made: Counter[str] = Counter()  # how many objects of a kind and name were created; uids are made of these
        self._observed_at: datetime | None = None
        for snapshot in snapshots:
            self._add_snapshot(snapshot)

    def _add_snapshot(self, snapshot: Snapshot) -> None:
        self._observed_at = snapshot.now
        self.complete = snapshot.complete if self.complete is None else self.complete & snapshot.complete
        self.not_collected |= snapshot.not_collected
        self.claim_templates |= snapshot.claim_templates
        self.configuration, self.served = snapshot.configuration, snapshot.served
        self.foreign_owners |= snapshot.foreign_owners
        items: tuple[StoredObject, ...] = (snapshot.root, *snapshot.groups, *snapshot.gangs, *snapshot.others)
        named = (snapshot.named_domains, snapshot.named_claims, snapshot.topologies)
        for item in (*items, *(item for found in named for item in found.values())):
            self.add_object(item)
        for clique in (*snapshot.cliques, *snapshot.orphans):
            self.add_object(clique)
            self.pods[clique.uid] = list(snapshot.pods_of.get(clique.uid, ()))
        root = snapshot.root.ref  # pods of a deleted PodClique count as well (WL-231, MN-051)
        orphaned = (uid for uid, pods in snapshot.pods_of.items() if pods_may_belong_to_set(root, pods))
        self.pods |= {uid: list(snapshot.pods_of[uid]) for uid in orphaned if uid not in self.pods}
        if self.numbered:
            for pods in snapshot.pods_of.values():
                for pod in pods:
                    self._note_version(pod.resource_version)

    def snapshot_of_set(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set, None if it does not exist; later objects are created at ``now``."""
        self._observed_at = now
        return super().snapshot_of_set(root, now, attempts)

    def attempt_step(self, step: Step) -> Attempt:
        """Execute a step; a conflict where the object does not exist or is not in the version that was judged."""
        action = step.action
        if isinstance(action, Create):
            return self._create(step, action)
        if isinstance(action, Ensure):
            return self._ensure(step, action)
        item = self.get_pod(step.target) if step.target.kind == "Pod" else self._item(step.target)
        if item is None:
            return _unexpected(step, AttemptOutcome.CONFLICT, UnexpectedTargetState.ABSENT)
        refusal = _refusal_of(step, item, action)
        if refusal is not None:
            return refusal
        if isinstance(action, Delete) and step.stage is not StepStage.CAUSE:
            for ref, guard in action.rests_on:
                cause = self.items.get(ref)
                if cause is None or cause.guard != guard:
                    return Attempt(step, AttemptOutcome.CONFLICT, f"{ref.short}, the cause, has been modified")
        if isinstance(item, Pod):
            self._write_pod(item, action)
        else:
            self._write(item, action)
        return Attempt(step, AttemptOutcome.DONE)

    def _ensure(self, step: Step, action: Ensure) -> Attempt:
        """Create an object, or accept the one that serves the same user (PL-016)."""
        found = self._item(step.target)
        if found is None:
            return self._create(step, action)
        if not isinstance(found, OwnedObject | ComputeDomain) or sharing_user_in_labels(
            found.labels
        ) != domain_user_in_manifest_labels(action.manifest):
            return Attempt(step, AttemptOutcome.REFUSED, f"{step.target.short} already exists and serves another user")
        if found.deleting:
            return Attempt(step, AttemptOutcome.CONFLICT, "the one before is being deleted")
        return Attempt(step, AttemptOutcome.DONE)

    def _create(self, step: Step, action: Make) -> Attempt:
        ref = step.target
        try:
            item = _created_object(
                action.manifest,
                self._next_uid(ref),
                self.version_of_new_object(),
                self._observed_at if self.clock is None else self.clock(),
            )
        except MalformedObject as fault:
            return Attempt(step, AttemptOutcome.REFUSED, "; ".join(map(str, fault.problems)))
        there = self.pod_that_has_name(ref) if isinstance(item, Pod) else self._item(ref)
        if there is not None:
            return _as_found(step, there, item)
        self._made[ref.short] += 1
        self.manifests[ref] = action.manifest
        if isinstance(item, Pod):
            self.add_pod(item)
        else:
            self.add_object(item)
        if item.owner_uid and not self.has_object_with_uid(item.owner_uid):
            self.delete_object(ref)  # as the garbage collector does for an owner that does not exist
        return Attempt(step, AttemptOutcome.DONE)

    def _item(self, ref: Ref) -> StoredObject | None:
        """Return the object of a name, in any version of its API group (SM-080)."""
        return next((self.items[one] for one in refs_across_api_versions(ref) if one in self.items), None)

    def make_unique_uid(self, ref: Ref) -> str:
        """Return a uid for an object that is added by the caller; uids are unique in all namespaces (SM-080)."""
        uid = self._next_uid(ref)
        self._made[ref.short] += 1
        return uid

    def _next_uid(self, ref: Ref) -> str:
        return placeholder_uid(ref, self._made[ref.short] + 1)

    def _write_pod(self, pod: Pod, action: Write) -> None:
        if isinstance(action, Delete):
            self.delete_pod(pod)
            return
        written = object_after_write(pod, action)
        if written != pod:
            self.put_pod(written)

    def _write(self, item: StoredObject, action: Write) -> None:
        match action:
            case Delete(foreground=foreground):
                self._delete(item, foreground=foreground)
            case SetStatus():
                self._keep(object_after_write(item, action))
            case Apply() | DropFinalizer():
                self._settle(object_after_write(item, action))
            case _:
                assert_never(action)


def _refusal_of(
    step: Step, item: StoredObject | Pod, action: Apply | SetStatus | Delete | DropFinalizer
) -> Attempt | None:
    """Return the failed attempt of a write that is not allowed on this object; None where it is."""
    if isinstance(item, Pod) and isinstance(action, Apply):  # in any version (specs/decisions/0010)
        words = "the uid of an object cannot be changed"
        return None if item.uid == action.guard.uid else Attempt(step, AttemptOutcome.REFUSED, words)
    if item.guard != action.guard:
        return Attempt(step, AttemptOutcome.CONFLICT, "the object has been modified")
    waits = not isinstance(item, Pod) and item.finalizers == (FOREGROUND,)
    if waits and isinstance(action, Delete) and not action.foreground:
        return Attempt(
            step, AttemptOutcome.CONFLICT, "a server drops that finalizer first, so the object has another version then"
        )
    if not isinstance(item, Pod) and isinstance(action, Apply) and item.deleting and _adds_to(item, action.fields):
        return Attempt(step, AttemptOutcome.REFUSED, _NO_NEW_FINALIZERS)
    return None


def _as_found(step: Step, there: StoredObject | Pod, wanted: StoredObject | Pod) -> Attempt:
    """Return the outcome of a creation whose name is taken, by an earlier try or by another owner."""
    if there.owner_uid != wanted.owner_uid:
        return Attempt(step, AttemptOutcome.REFUSED, f"{step.target.short} already exists; it belongs to another owner")
    if there.deleting:
        return Attempt(step, AttemptOutcome.CONFLICT, "the one before is being deleted")
    return _unexpected(step, AttemptOutcome.DONE, UnexpectedTargetState.PRESENT)


def _unexpected(step: Step, outcome: AttemptOutcome, target: UnexpectedTargetState) -> Attempt:
    return Attempt(step, outcome, target.value, unexpected=target)


def _adds_to(item: StoredObject, fields: FrozenMap) -> bool:
    wanted = JsonFieldReader(fields, "", []).inner_object("metadata").text_list("finalizers")
    return not set(wanted) <= set(item.finalizers)


def _created_object(manifest: FrozenMap, uid: str, version: str, at: datetime | None) -> _CreatedObject:
    """Return the object that a server stores for a manifest. Raises MalformedObject where a server would refuse it.

    Args:
        manifest: the whole object.
        uid, version: of the new object.
        at: its creationTimestamp; None for none.
    """
    raw = thaw_json(manifest)
    created = {} if at is None else {"creationTimestamp": format_time(truncated_to_seconds(at))}
    raw["metadata"] |= {"uid": uid, "resourceVersion": version, "generation": 1, **created}
    project = _PROJECTIONS.get(raw["kind"])
    if project is not None:
        return project(raw)
    return owned_object_from_json(raw)


def _admitted(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new pod as a server stores it: pending, and not schedulable while it has a gate."""
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    conditions = [gated] if raw["spec"].get("schedulingGates") else []
    return {**raw, "status": {"phase": "Pending", "conditions": conditions}}
