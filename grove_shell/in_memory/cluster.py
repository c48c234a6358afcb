"""An API server in memory: uids, resource versions, owners, finalizers, conflicts, garbage collection.

It models a real one. A write must name the uid and version of the stored object. An object with finalizers stays until
they are dropped. The objects that it controls are deleted with it, or before it in a foreground deletion. A write that
changes nothing keeps the version. What the model leaves out is in SM-081 to SM-084; tests/honesty compares it with a
real server. A version after a write has the form ``<version>+<writes>``, which no real server uses.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref, placeholder_uid
from grove_core.kernel.steps import (
    Attempt,
    Create,
    Delete,
    Ensure,
    Make,
    Outcome,
    SetStatus,
    Stage,
    Step,
)
from grove_core.resources.after_write import Write, after_write
from grove_core.resources.api_formats import refs_in_all_versions
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.sharing_labels import managed_user_in, managed_user_of
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.trim import may_belong_to
from grove_shell.in_memory.creation import created_object
from grove_shell.in_memory.garbage_collection import GarbageCollection
from grove_shell.in_memory.object_store import StoredObject
from grove_shell.in_memory.refusals import as_found, refusal_of


class InMemoryCluster(GarbageCollection):
    """Executes steps in memory. Without a clock an object is created at the time of the last snapshot."""

    def __init__(self, snapshots: Iterable[Snapshot], *, lingering: bool = False) -> None:
        """Start with the objects of some snapshots.

        Args:
            snapshots: of the roots.
            lingering: whether a deleted pod that runs stays until :meth:`end_pod`.
        """
        super().__init__(lingering=lingering)
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
            self.add(item)
        for clique in (*snapshot.cliques, *snapshot.orphans):
            self.add(clique)
            self.pods[clique.uid] = list(snapshot.pods_of.get(clique.uid, ()))
        root = snapshot.root.ref  # pods of a deleted PodClique count as well (WL-231, MN-051)
        orphaned = (uid for uid, pods in snapshot.pods_of.items() if may_belong_to(root, pods))
        self.pods |= {uid: list(snapshot.pods_of[uid]) for uid in orphaned if uid not in self.pods}

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """Return the snapshot of a set, None if it does not exist; later objects are created at ``now``."""
        self._observed_at = now
        return super().observe(root, now, attempts)

    def attempt(self, step: Step) -> Attempt:
        """Execute a step; a conflict where the object does not exist or is not in the version that was judged."""
        action = step.action
        if isinstance(action, Create):
            return self._create(step, action)
        if isinstance(action, Ensure):
            return self._ensure(step, action)
        item = self.pod(step.target) if step.target.kind == "Pod" else self._item(step.target)
        if item is None:
            return Attempt(step, Outcome.CONFLICT, "not found")
        refusal = refusal_of(step, item, action)
        if refusal is not None:
            return refusal
        if isinstance(action, Delete) and step.stage is not Stage.CAUSE:
            for ref, guard in action.rests_on:
                cause = self.items.get(ref)
                if cause is None or cause.guard != guard:
                    return Attempt(step, Outcome.CONFLICT, f"{ref.short}, the cause, has been modified")
        if isinstance(item, Pod):
            self._write_pod(item, action)
        else:
            self._write(item, action)
        return Attempt(step, Outcome.DONE)

    def _ensure(self, step: Step, action: Ensure) -> Attempt:
        """Create an object, or accept the one that serves the same user (PL-022)."""
        found = self._item(step.target)
        if found is None:
            return self._create(step, action)
        if not isinstance(found, OwnedObject | ComputeDomain) or managed_user_of(found.labels) != managed_user_in(
            action.manifest
        ):
            return Attempt(step, Outcome.REFUSED, f"{step.target.short} already exists and serves another user")
        if found.deleting:
            return Attempt(step, Outcome.CONFLICT, "the one before is being deleted")
        return Attempt(step, Outcome.DONE)

    def _create(self, step: Step, action: Make) -> Attempt:
        ref = step.target
        try:
            item = created_object(
                action.manifest, self._next_uid(ref), self._observed_at if self.clock is None else self.clock()
            )
        except MalformedObject as fault:
            return Attempt(step, Outcome.REFUSED, "; ".join(map(str, fault.problems)))
        there = self.pod_of_name(ref) if isinstance(item, Pod) else self._item(ref)
        if there is not None:
            return as_found(step, there, item)
        self._made[ref.short] += 1
        self.manifests[ref] = action.manifest
        if isinstance(item, Pod):
            self.add_pod(item)
        else:
            self.add(item)
        if item.owner_uid and not self.has(item.owner_uid):
            self.delete(ref)  # as the garbage collector does for an owner that does not exist
        return Attempt(step, Outcome.DONE)

    def _item(self, ref: Ref) -> StoredObject | None:
        """Return the object of a name, in any version of its API group (SM-095)."""
        return next((self.items[one] for one in refs_in_all_versions(ref) if one in self.items), None)

    def new_uid(self, ref: Ref) -> str:
        """Return a uid for an object that is added by the caller; uids are unique in all namespaces (SM-093)."""
        uid = self._next_uid(ref)
        self._made[ref.short] += 1
        return uid

    def _next_uid(self, ref: Ref) -> str:
        return placeholder_uid(ref, self._made[ref.short] + 1)

    def _write_pod(self, pod: Pod, action: Write) -> None:
        if isinstance(action, Delete):
            self.delete_pod(pod)
            return
        written = after_write(pod, action)
        if written != pod:
            self.put_pod(written)

    def _write(self, item: StoredObject, action: Write) -> None:
        if isinstance(action, Delete):
            self._delete(item, foreground=action.foreground)
        elif isinstance(action, SetStatus):
            self._keep(after_write(item, action))
        else:
            self._settle(after_write(item, action))
