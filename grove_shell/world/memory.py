"""An API server in memory: uids, resource versions, owners, finalizers, conflicts, garbage collection.

It is the model of a real one: a write must find the object as it was judged, an object with finalizers stays until
they are dropped, and what it controlled goes with it. Versions after a write are written ``<version>+<writes>``, so
nobody takes them for real ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias, assert_never

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Attempt, Create, Delete, DropFinalizer, Outcome, SetStatus, Stage, Step
from grove_core.resources.meta import Resource
from grove_core.resources.names import index_from
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang, with_groups
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import with_status
from grove_core.snapshot.cluster import cluster_of
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.world.made import made_of

Stored: TypeAlias = PodCliqueSet | ScalingGroup | PodClique | PodGang | Resource


class MemoryWorld:
    """Objects by address; mutable on purpose, unlike everything in the core."""

    def __init__(self, snapshots: Iterable[Snapshot]) -> None:
        """Start from what some roots can see."""
        self.items: dict[Ref, Stored] = {}
        self.pods: dict[str, list[Pod]] = {}
        self.homes: dict[Ref, str] = {}  # a pod -> uid of its clique; made again where somebody is not found
        self.owned: defaultdict[str, set[Ref]] = defaultdict(set)
        self.not_collected: frozenset[str] = frozenset()
        self.whole = True
        self.made: Counter[Ref] = Counter()
        for snapshot in snapshots:
            self.whole &= snapshot.whole
            self.not_collected |= snapshot.not_collected
            self.add(snapshot.root)
            for owned in (*snapshot.groups, *snapshot.gangs, *snapshot.others):
                self.add(owned)
            for clique in snapshot.cliques:
                self.add(clique)
                self.pods[clique.uid] = list(snapshot.pods_of.get(clique.uid, ()))

    def roots(self) -> list[Ref]:
        """Every PodCliqueSet, sorted."""
        return sorted(
            (ref for ref, item in self.items.items() if isinstance(item, PodCliqueSet)), key=lambda ref: ref.sort_key
        )

    def observe(self, root: Ref, now: datetime, attempts: tuple[Attempt, ...] = ()) -> Snapshot | None:
        """What the root can see; None if it is gone."""
        found = self.items.get(root)
        if not isinstance(found, PodCliqueSet):
            return None
        cluster = cluster_of(
            sets=(found,),
            groups=(item for item in self.items.values() if isinstance(item, ScalingGroup)),
            cliques=(item for item in self.items.values() if isinstance(item, PodClique)),
            gangs=(item for item in self.items.values() if isinstance(item, PodGang)),
            others=(item for item in self.items.values() if type(item) is Resource),
        )
        snapshot = cluster.snapshot_of(found, now, attempts)
        return replace(snapshot, pods_of=dict(self.pods), not_collected=self.not_collected, whole=self.whole)

    def attempt(self, step: Step) -> Attempt:
        """Try one write: refused as a conflict where the object is gone or not the one that was judged."""
        if isinstance(step.action, Create):
            return self._create(step, step.action)
        if isinstance(step.action, Apply) and step.target.kind == "Pod":
            return self._open_gate(step, step.action)
        item = self.items.get(step.target)
        if item is None:
            return Attempt(step, Outcome.CONFLICT, "not found")
        if item.guard != step.action.guard:
            return Attempt(step, Outcome.CONFLICT, "the object has been modified")
        if isinstance(step.action, Delete) and step.stage is not Stage.CAUSE:
            for ref, guard in step.action.rests_on:
                cause = self.items.get(ref)
                if cause is None or cause.guard != guard:
                    return Attempt(step, Outcome.CONFLICT, f"{ref.short}, the cause, has been modified")
        self._write(item, step.action)
        return Attempt(step, Outcome.DONE)

    def _create(self, step: Step, action: Create) -> Attempt:
        ref = step.target
        self.made[ref] += 1
        serial = self.made[ref]
        try:
            item = made_of(action.manifest, f"(uid of {ref.short}{f' no. {serial}' if serial > 1 else ''})")
        except MalformedObject as fault:
            return Attempt(step, Outcome.REFUSED, "; ".join(map(str, fault.problems)))
        if not isinstance(item, Pod):
            if ref in self.items:
                return Attempt(step, Outcome.CONFLICT, "already exists")
            self.add(item)
            if isinstance(item, PodClique):
                self.pods[item.uid] = []
            return Attempt(step, Outcome.DONE)
        siblings = self.pods.setdefault(item.owner_uid, [])
        if any(pod.name == item.name for pod in siblings):
            return Attempt(step, Outcome.CONFLICT, "already exists")
        siblings.append(item)
        return Attempt(step, Outcome.DONE)

    def _open_gate(self, step: Step, action: Apply) -> Attempt:
        """The one change that pods see so far: Grove's gate goes, and with it the word that the pod is gated."""
        if step.target not in self.homes:
            self.homes = {pod.ref: uid for uid, pods in self.pods.items() for pod in pods}
        pods = self.pods.get(self.homes.get(step.target, ""), [])
        for place, pod in enumerate(pods):
            if pod.ref == step.target and pod.guard == action.guard:
                pods[place] = replace(pod, held=False, gated=False, resource_version=bumped(pod.resource_version))
                return Attempt(step, Outcome.DONE)
        return Attempt(step, Outcome.CONFLICT, "the object has been modified, or is gone")

    def add(self, item: Stored) -> None:
        """Take in an object as it is."""
        self.items[item.ref] = item
        self.owned[item.owner_uid].add(item.ref)

    def put(self, item: Stored) -> None:
        """Write an object as somebody else would: stored as given, with a version of its own."""
        self.items[item.ref] = replace(item, resource_version=bumped(item.resource_version))

    def delete(self, ref: Ref) -> None:
        """Delete an object as somebody else would; finalizers are waited for, what it controlled goes with it."""
        item = self.items.get(ref)
        if item is not None:
            self._write(item, Delete(item.guard))

    def _write(self, item: Stored, action: Apply | SetStatus | Delete | DropFinalizer) -> None:
        match action:
            case Apply(fields):
                if isinstance(item, PodGang):
                    self.put(with_groups(item, fields))
            case SetStatus(fields):
                if isinstance(item, PodCliqueSet | ScalingGroup | PodClique):
                    self.put(with_status(item, fields))
            case Delete():
                self._settle(replace(item, deleting=True))
            case DropFinalizer(finalizer):
                left = tuple(name for name in item.finalizers if name != finalizer)
                self._settle(replace(item, finalizers=left))
            case _:
                assert_never(action)

    def _settle(self, item: Stored) -> None:
        """Keep an object, or let it and everything it controls go."""
        if not item.deleting or item.finalizers:
            self.put(item)
            return
        del self.items[item.ref]
        self.pods.pop(item.uid, None)
        self.owned[item.owner_uid].discard(item.ref)
        for ref in sorted(self.owned.pop(item.uid, ()), key=lambda ref: ref.sort_key):
            self.delete(ref)


def bumped(resource_version: str) -> str:
    """The version after one more write."""
    version, plus, writes = resource_version.rpartition("+")
    if not plus or index_from(writes) is None:
        version, writes = resource_version, "0"
    return f"{version}+{int(writes) + 1}"
