"""An API server in memory: uids, resource versions, owners, finalizers, conflicts, garbage collection.

It is the model of a real one: a write must find the object as it was judged, an object with finalizers stays until
they are dropped, and what it controlled goes with it, or before it where it is deleted in the foreground; a write that
changes nothing leaves the version as it is. What it leaves out are rules (SM-081 to SM-084), and a real server is asked
the same (tests/honesty). Versions after a write are written ``<version>+<writes>``, so nobody takes them for real ones.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref, invented_uid
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
from grove_core.resources.cluster_topology import ClusterTopology, preferred_of
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration, Served
from grove_core.resources.labels import set_named_by
from grove_core.resources.membership import user_in, user_of
from grove_core.resources.owned import CLAIM_KIND, Owned
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.written import Write, after, leaving, without
from grove_core.snapshot.cluster import cluster_of, with_domains
from grove_core.snapshot.narrow import may_be_of
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.world.made import made_of
from grove_shell.world.refusals import FOREGROUND, as_found, refusal_of
from grove_shell.world.stored import Stored, bumped

_ENDED: Final = frozenset({"Succeeded", "Failed"})


class MemoryWorld:
    """Objects by address; mutable on purpose, unlike everything in the core.

    Attributes:
        items: everything but pods.
        pods: uid of a clique -> its pods, those that outlive it included.
        manifests: of what was created here.
        clock: tells when an object was made, and a ComputeDomain deleted. Without one the former is right after the
            last look, and of the latter nobody knows.
    """

    def __init__(self, snapshots: Iterable[Snapshot], *, lingering: bool = False) -> None:
        """Start from what some roots can see.

        Args:
            snapshots: of the roots.
            lingering: a deleted pod stays, being deleted, until somebody says that it ended (:meth:`end_pod`).
        """
        self.items: dict[Ref, Stored] = {}
        self.pods: dict[str, list[Pod]] = {}
        self.manifests: dict[Ref, FrozenMap] = {}
        self.lingering = lingering
        self.claim_templates: dict[tuple[str, str], FrozenMap] = {}
        self.strangers: dict[tuple[str, str, str], str] = {}
        self.not_collected: frozenset[str] = frozenset()
        self.complete: frozenset[str] | None = None
        self.configuration, self.served = Configuration(), Served()
        self._made: Counter[str] = Counter()  # by the words of their uids, which have no namespace
        self.clock: Callable[[], datetime] | None = None
        self._looked_at: datetime | None = None
        self._homes: dict[Ref, str] = {}  # a pod -> uid of its clique; made again where somebody is not found
        self._all_housed = False
        self._owned: defaultdict[str, set[Ref]] = defaultdict(set)
        self._refs: dict[str, Ref] = {}  # by uid
        self._ending: set[str] = set()  # uids of those whose parts are being deleted right now
        for snapshot in snapshots:
            self._looked_at = snapshot.now
            self.complete = snapshot.complete if self.complete is None else self.complete & snapshot.complete
            self.not_collected |= snapshot.not_collected
            self.claim_templates |= snapshot.claim_templates
            self.configuration, self.served = snapshot.configuration, snapshot.served
            self.strangers |= snapshot.strangers
            items: tuple[Stored, ...] = (snapshot.root, *snapshot.groups, *snapshot.gangs, *snapshot.others)
            named = (snapshot.named_domains, snapshot.named_claims, snapshot.topologies)
            for item in (*items, *(item for found in named for item in found.values())):
                self.add(item)
            for clique in snapshot.cliques:
                self.add(clique)
                self.pods[clique.uid] = list(snapshot.pods_of.get(clique.uid, ()))
            root = snapshot.root.ref  # pods that outlived their clique count as well (WL-231, MN-051)
            outlived = (uid for uid, pods in snapshot.pods_of.items() if may_be_of(root, pods))
            self.pods |= {uid: list(snapshot.pods_of[uid]) for uid in outlived if uid not in self.pods}

    def roots(self) -> list[Ref]:
        """Every PodCliqueSet, sorted."""
        return sorted(
            (ref for ref, item in self.items.items() if isinstance(item, PodCliqueSet)), key=lambda ref: ref.sort_key
        )

    def topologies(self) -> dict[str, ClusterTopology]:
        """Those that count, by name."""
        return preferred_of(item for item in self.items.values() if isinstance(item, ClusterTopology))

    def leftovers(self) -> list[ScalingGroup | PodClique]:
        """Parts that are being deleted, whose owner is gone and of whose set there is none any more; sorted."""
        names = {(root.namespace, root.name) for root in self.roots()}
        found: list[ScalingGroup | PodClique] = []
        for item in self.items.values():
            if isinstance(item, ScalingGroup | PodClique) and item.deleting and item.owner_uid not in self._refs:
                of_set = item.owner_name if isinstance(item, ScalingGroup) else set_named_by(item.labels)
                if (item.ref.namespace, of_set) not in names:
                    found.append(item)
        return sorted(found, key=lambda item: item.ref.sort_key)

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """What the root can see; None if it is gone."""
        self._looked_at = now
        found = self.items.get(root)
        if not isinstance(found, PodCliqueSet):
            return None
        cluster = cluster_of(
            sets=(found,),
            groups=(item for item in self.items.values() if isinstance(item, ScalingGroup)),
            cliques=(item for item in self.items.values() if isinstance(item, PodClique)),
            gangs=(item for item in self.items.values() if isinstance(item, PodGang)),
            others=(item for item in self.items.values() if isinstance(item, Owned)),
        )
        domains = (item for item in self.items.values() if isinstance(item, ComputeDomain))
        claims = (item for item in self.items.values() if isinstance(item, Owned) and item.ref.kind == CLAIM_KIND)
        return replace(
            with_domains(cluster, domains, claims).snapshot_of(found, now, attempts),
            pods_of={uid: tuple(pods) for uid, pods in self.pods.items()},
            not_collected=self.not_collected,
            complete=self.complete or frozenset(),
            claim_templates=dict(self.claim_templates),
            configuration=self.configuration,
            served=self.served,
            strangers=self.strangers,
            topologies=self.topologies(),
        )

    def attempt(self, step: Step) -> Attempt:
        """Try one write: refused as a conflict where the object is gone or not the one that was judged."""
        action = step.action
        if isinstance(action, Create):
            return self._create(step, action)
        if isinstance(action, Ensure):
            return self._ensure(step, action)
        item = self.pod(step.target) if step.target.kind == "Pod" else self.items.get(step.target)
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
        """Create, or be content with what serves the same user (PL-022)."""
        found = self.items.get(step.target)
        if found is None:
            return self._create(step, action)
        if not isinstance(found, Owned | ComputeDomain) or user_of(found.labels) != user_in(action.manifest):
            return Attempt(step, Outcome.REFUSED, f"{step.target.short} already exists and serves somebody else")
        if found.deleting:
            return Attempt(step, Outcome.CONFLICT, "the one before is being deleted")
        return Attempt(step, Outcome.DONE)

    def _create(self, step: Step, action: Make) -> Attempt:
        ref = step.target
        try:
            item = made_of(
                action.manifest, self._next_uid(ref), self._looked_at if self.clock is None else self.clock()
            )
        except MalformedObject as fault:
            return Attempt(step, Outcome.REFUSED, "; ".join(map(str, fault.problems)))
        there = self._pod_of_name(ref) if isinstance(item, Pod) else self.items.get(ref)
        if there is not None:
            return as_found(step, there, item)
        self._made[ref.short] += 1
        self.manifests[ref] = action.manifest
        if isinstance(item, Pod):
            self.pods.setdefault(item.owner_uid, []).append(item)
            self._homes[ref] = item.owner_uid
        else:
            self.add(item)
        if item.owner_uid and item.owner_uid not in self._refs:
            self.delete(ref)  # the garbage collector does, as soon as it sees that there is no such owner
        return Attempt(step, Outcome.DONE)

    # as somebody else would

    def new_uid(self, ref: Ref) -> str:
        """For an object that is put there now: no two have the same, in whatever namespaces (SM-093)."""
        uid = self._next_uid(ref)
        self._made[ref.short] += 1
        return uid

    def _next_uid(self, ref: Ref) -> str:
        return invented_uid(ref, self._made[ref.short] + 1)

    def add(self, item: Stored) -> None:
        """Take in an object as it is."""
        self.items[item.ref] = item
        self._refs[item.uid] = item.ref
        self._owned[item.owner_uid].add(item.ref)
        if isinstance(item, PodClique):
            self.pods.setdefault(item.uid, [])

    def put(self, item: Stored) -> None:
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
                self._delete_pod(pod)
        elif ref in self.items:
            self._delete(self.items[ref], foreground=False)

    def pod(self, ref: Ref) -> Pod | None:
        """The pod of that address; None if there is none."""
        for attempt in (1, 2):
            pods = self.pods.get(self._homes.get(ref, ""), ())
            for pod in pods:
                if pod.name == ref.name and pod.namespace == ref.namespace:
                    return pod
            if attempt == 1 and ref not in self._homes and ref not in self.manifests:
                self._find_homes()
        return None

    def _pod_of_name(self, ref: Ref) -> Pod | None:
        """The pod that a new one would meet; most names are free, so nobody is searched for twice."""
        if not self._all_housed:
            self._find_homes()
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
        if pod.owner_uid in self._refs:
            self._let_go_of_owner(pod.owner_uid)
        elif not left:
            del self.pods[pod.owner_uid]

    # what writes do

    def _write_pod(self, pod: Pod, action: Write) -> None:
        if isinstance(action, Delete):
            self._delete_pod(pod)
            return
        written = after(pod, action)
        if written != pod:
            self.put_pod(written)

    def _delete_pod(self, pod: Pod) -> None:
        if not self.lingering or not pod.node or pod.phase in _ENDED:
            self.end_pod(pod.ref)
        elif not pod.deleting:
            self.put_pod(replace(pod, deleting=True))

    def _write(self, item: Stored, action: Write) -> None:
        if isinstance(action, Delete):
            self._delete(item, foreground=action.foreground)
        elif isinstance(action, SetStatus):
            self._keep(after(item, action))
        else:
            self._settle(after(item, action))

    def _keep(self, item: Stored) -> None:
        """Store an object; where nothing of it changed nothing is written, and its version stays."""
        if item != self.items[item.ref]:
            self.put(item)

    def _delete(self, item: Stored, *, foreground: bool) -> None:
        """Accept a deletion; the last one of several says whether parts are waited for."""
        doomed = self._marked(item)
        if not foreground:
            self._settle(without(doomed, FOREGROUND))
        elif FOREGROUND not in item.finalizers:
            self.put(replace(doomed, finalizers=(*doomed.finalizers, FOREGROUND)))
            self._let_go(item.ref)

    def _marked(self, item: Stored) -> Stored:
        """The object, being deleted."""
        if isinstance(item, ComputeDomain) and self.clock is not None and not item.deleting:
            return replace(item, deleting=True, deleted_at=self.clock().replace(microsecond=0))
        return leaving(item)

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
            self._settle(without(self.items[ref], FOREGROUND))

    def _delete_owned(self, uid: str, *, foreground: bool) -> None:
        for ref in sorted(self._owned.get(uid, ()), key=lambda ref: ref.sort_key):
            if not self.items[ref].deleting:
                self._delete(self.items[ref], foreground=foreground)
        for pod in tuple(self.pods.get(uid, ())):
            self._delete_pod(pod)

    def _settle(self, item: Stored) -> None:
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
