"""Of topologies: who may name them, who holds them, what gangs are told, and where pods are put (TP2 to TP8, B6)."""

from collections import defaultdict
from collections.abc import Iterator

from grove_core.areas.topology.moment import TopologyMoment
from grove_core.kernel.admission import Deny
from grove_core.kernel.conditions import Truth as Said
from grove_core.kernel.conditions import condition_of
from grove_core.kernel.frozen import thaw
from grove_core.kernel.steps import Apply, Attempt, Create, Delete, Make, Outcome
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.configuration import Configuration
from grove_core.resources.keys import SET
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.podgang import PodGang, podgang_of
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.changes import Change
from grove_shell.simulator.checks.base import Check, Manifest, Truth
from grove_shell.simulator.checks.nearness import (
    DEFAULT,
    FINALIZER,
    constraints_of,
    foreign,
    named_by,
    required_of,
    resolved,
    told_of,
    used_by,
)
from grove_shell.simulator.cluster import is_live
from grove_shell.simulator.history import Actor


class References(Check):
    """TP2, TP3, TP4: what users and operators wrote, held against what those who admit could know."""

    def __init__(self, truth: Truth) -> None:
        super().__init__(truth)
        self._bound: defaultdict[str, set[str]] = defaultdict(set)  # uid of a set -> of its cliques with bound pods
        self._bound_since: dict[str, int] = {}  # by uid of the set
        self._there: dict[str, str] = {}  # topology -> uid
        self._gone_since: dict[str, int] = {}
        self._leaving_since: dict[str, int] = {}

    def hear(self, changes: list[Change]) -> None:
        """First what there is now, then who was let in."""
        for change in changes:
            if isinstance(change.object, ClusterTopology):
                self._topology(change.object.ref.name, change.before, change.after)
        for change in changes:
            if isinstance(change.object, PodCliqueSet):
                self._set(change.before, change.after)
        for change in changes:
            if isinstance(change.object, PodClique):
                self._clique(change.object, change.after)

    def _topology(self, name: str, before: object, after: object) -> None:
        now = self.truth.now
        if isinstance(after, ClusterTopology):
            self._there[name] = after.uid
            self._gone_since.pop(name, None)
            if not after.deleting:
                self._leaving_since.pop(name, None)
            else:
                self._leaving_since.setdefault(name, now)
            if isinstance(before, ClusterTopology) and before.levels != after.levels:
                for root in self._users(name):
                    if self._has_been(self._bound_since.get(root.uid)):
                        says = f"levels of topology {name} change under pods of {root.ref.name}"
                        self.truth.fail("TP4", says, f"ClusterTopology/{name}", root.ref.short)
        elif self._there.pop(name, None) is not None:
            self._gone_since[name] = now
            self._leaving_since.pop(name, None)

    def _set(self, before: object, after: object) -> None:
        if not isinstance(after, PodCliqueSet) or after.deleting:
            return
        named, was = named_by(after), named_by(before) if isinstance(before, PodCliqueSet) else ""
        if named == was:
            return
        who = after.ref.short
        if isinstance(before, PodCliqueSet) and self._has_been(self._bound_since.get(after.uid)):
            self.truth.fail("TP3", f'{after.ref.name} goes from topology "{was}" to "{named}" with pods bound', who)
        if not named:
            return
        is_missing = named not in self._there and self._has_been(self._gone_since.get(named, -1))
        if (is_missing and named != DEFAULT) or self._has_been(self._leaving_since.get(named)):
            words = "is not there" if is_missing else "is being deleted"
            self.truth.fail("TP2", f"{after.ref.name} is let in with topology {named}, which {words}", who)

    def asked(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """A name must mean something by the configuration of this moment, which may change within it."""
        del new
        if isinstance(stored, Deny):
            return
        after = podcliqueset_of(stored)
        named = named_by(after)
        if not named or (old is not None and named_by(podcliqueset_of(old)) == named):
            return
        if not constraints_of(after) or not self.truth.cluster.world.configuration.topology.enabled:
            says = f"{after.ref.name} is let in with topology {named} and without a meaning"
            self.truth.fail("TP2", says, after.ref.short)

    def _clique(self, clique: PodClique, after: object) -> None:
        root = self.truth.root_of.get(clique.uid, "")
        known = self._bound[root]
        if isinstance(after, PodClique) and after.status.scheduled and _says_whose_it_is(after):
            known.add(clique.uid)
            self._bound_since.setdefault(root, self.truth.now)
        else:
            known.discard(clique.uid)
            if not known:
                self._bound_since.pop(root, None)

    def _has_been(self, since: int | None) -> bool:
        """Whether those who admit must have known by now."""
        return since is not None and since < self.truth.now - self.truth.cluster.admission_watch

    def _users(self, name: str) -> Iterator[PodCliqueSet]:
        return (root for root in self.truth.cluster.sets() if used_by(root) == name)


def _says_whose_it_is(clique: PodClique) -> bool:
    """Whether whoever sees it alone can tell its set: a member of a group without labels does not show it."""
    return clique.owner_kind == "PodCliqueSet" or any(key in clique.labels for key in SET)


class Keeping(Check):
    """TP6, TP7: what an operator does to topologies, and what is so at rest."""

    def kept(self, actor: Actor, moment: TopologyMoment, attempt: Attempt) -> None:
        """One write to a topology."""
        step = attempt.step
        if attempt.outcome is not Outcome.DONE:
            return
        name = step.target.short
        writes_levels = isinstance(step.action, Create) or (
            isinstance(step.action, Apply) and "spec" in step.action.fields
        )
        if writes_levels and step.target.name != DEFAULT:
            self.truth.fail("TP7", f"an operator writes levels of {name}, which is a user's", name)
        if isinstance(step.action, Delete):
            self.truth.fail("TP7", f"an operator deletes {name}", name)
        if isinstance(step.action, Make):
            return  # it writes no finalizers of others, and what is there already may have some that nobody saw yet
        before = moment.topology.finalizers if moment.topology is not None else ()
        found = self.truth.cluster.world.items.get(step.target)
        after = found.finalizers if found is not None else ()
        if foreign(before) != foreign(after):
            self.truth.fail(
                "TP6", f"finalizers of others on {name} were {foreign(before)} and are {foreign(after)}", name
            )
        is_off = step.target.name == DEFAULT and not moment.told.enabled
        if FINALIZER in before and FINALIZER not in after and not is_off and moment.users:
            self.truth.fail("TP6", f"{name} is let go of, and {moment.users[0].text} uses it", name)
        del actor

    def at_rest(self) -> None:
        """A finalizer where somebody uses it, and only there; the default one as it is configured."""
        told = self.truth.cluster.world.configuration.topology
        users: defaultdict[str, list[PodCliqueSet]] = defaultdict(list)
        for root in self.truth.cluster.sets():
            users[used_by(root)].append(root)
        for name, topology in self.truth.cluster.world.topologies().items():
            held = FINALIZER in topology.finalizers
            wanted = bool(users[name]) and (name != DEFAULT or told.enabled)
            if held != wanted and not (wanted and topology.deleting):
                says = f"topology {name} is {'held' if held else 'not held'}, and used by {len(users[name])} sets"
                self.truth.fail("TP6", says, topology.ref.short)
            if topology.deleting and not topology.finalizers:
                self.truth.fail("TP6", f"topology {name} is being deleted and never goes", topology.ref.short)
        if told.enabled:
            self._default(users[DEFAULT])

    def _default(self, users: list[PodCliqueSet]) -> None:
        told = self.truth.cluster.world.configuration.topology
        found = self.truth.cluster.world.topologies().get(DEFAULT)
        if found is None:
            self.truth.fail("TP7", "there is no default topology")
        elif found.levels != told.levels and not found.deleting and found.ref.kind == "ClusterTopology":
            uids = {root.uid for root in users}
            bound = any(pod.node for uid in self.truth.cliques for pod in self._pods_in(uids, uid))
            stored = any(
                clique.status.scheduled
                for clique in self.truth.cluster.cliques()
                if self.truth.root_of.get(clique.uid) in uids
            )
            if not bound and not stored:
                self.truth.fail("TP7", "the default topology has other levels than configured", found.ref.short)

    def _pods_in(self, roots: set[str], clique: str) -> list[Pod]:
        return self.truth.pods(clique) if self.truth.root_of.get(clique) in roots else []


class Gangs(Check):
    """TP3, TP5, TP8 and B6: what gangs are told, who says that something is wrong, and where pods are put."""

    def __init__(self, truth: Truth) -> None:
        super().__init__(truth)
        self._told = Configuration()  # of the operator that runs

    def began(self, actor: Actor, configuration: Configuration, *, goes_on: bool) -> None:
        """What it is told counts until the next one begins."""
        self._told = configuration
        del actor, goes_on

    def hear(self, changes: list[Change]) -> None:
        """Whoever is bound is bound near those whom its gang requires (B6)."""
        if not self.truth.gang_aware:
            return
        moved = {change.object.ref for change in changes if change.kind == "PodGang"}
        bound = {
            (change.after.namespace, change.after.gang)
            for change in changes
            if isinstance(change.after, Pod)
            and change.after.node
            and not (isinstance(change.before, Pod) and change.before.node)
        }
        for namespace, name in sorted(bound):
            gang = self.truth.cluster.named("PodGang", f"{namespace}/{name}")
            if isinstance(gang, PodGang) and gang.ref not in moved:
                self._near(gang)

    def wrote(self, actor: Actor, snapshot: Snapshot, attempt: Attempt) -> None:
        """A gang that is made says what its topology says; one of whom a pod is placed says what it said."""
        step = attempt.step
        if step.target.kind != "PodGang" or attempt.outcome is not Outcome.DONE:
            return
        root = snapshot.root
        if isinstance(step.action, Create):
            made = podgang_of(thaw(step.action.manifest))
            keys, trouble = resolved(root, snapshot.topologies, snapshot.configuration)
            if trouble:
                self.truth.fail("TP8", f"{made.ref.name} is made, and {trouble}", made.ref.short)
            wanted = told_of(root, made, used_by(root) if snapshot.configuration.topology.enabled else "", keys)
            if made.placement != wanted:
                says = f"{made.ref.name} is made, and says otherwise than topology {wanted.topology or 'none'}"
                self.truth.fail("TP8", says, made.ref.short)
        elif isinstance(step.action, Apply):
            before = next((gang for gang in snapshot.gangs if gang.ref == step.target), None)
            after = self.truth.cluster.world.items.get(step.target)
            placed = any(pod.node for _, pod in snapshot.pods())
            if placed and isinstance(after, PodGang) and before is not None and before.placement != after.placement:
                says = f"{after.ref.name} is placed, and told another topology or constraint"
                self.truth.fail("TP3", says, after.ref.short)
        elif isinstance(step.action, Delete) and not root.deleting:
            replica = step.target.name.removeprefix(f"{root.ref.name}-")
            if replica.isdigit() and int(replica) < root.spec.replicas:
                self.truth.fail("TP3", f"{step.target.name} is deleted, and its set wants it", step.target.short)
        del actor

    def at_rest(self) -> None:
        """A set whose topology does not hold says so, and no other does (TP5)."""
        for root in self.truth.cluster.sets():
            if root.deleting:
                continue
            trouble = self._trouble(root) if self._told.topology.enabled else ""
            condition = condition_of(root.status.conditions, "TopologyInSync")
            told = condition is not None and condition.status is Said.FALSE
            if trouble and not told:
                self.truth.fail("TP5", f"{root.ref.name} says nothing, and {trouble}", root.ref.short)
            if condition is not None and not trouble:
                self.truth.fail(
                    "TP5", f"{root.ref.name} has a condition about its topology, which holds", root.ref.short
                )

    def _trouble(self, root: PodCliqueSet) -> str:
        """What is wrong with the topology of a set; empty where nothing is."""
        world = self.truth.cluster.world
        keys, trouble = resolved(root, world.topologies(), self._told)
        if trouble:
            return trouble
        gangs = [gang for gang in world.items.values() if isinstance(gang, PodGang) and gang.owner_uid == root.uid]
        for gang in gangs if used_by(root) else ():
            if gang.placement != told_of(root, gang, used_by(root), keys) and not gang.deleting:
                says = f"{gang.ref.name} says otherwise than topology {used_by(root)}"
                if not self._is_placed(root):
                    self.truth.fail("TP5", f"{says}, and nothing is placed", gang.ref.short)
                return says
        return ""

    def _is_placed(self, root: PodCliqueSet) -> bool:
        cliques = [one for one in self.truth.cluster.cliques() if self.truth.root_of.get(one.uid) == root.uid]
        return any(one.status.scheduled or any(pod.node for pod in self.truth.pods(one.uid)) for one in cliques)

    def _near(self, gang: PodGang) -> None:
        there = {clique.uid: clique.ref.name for clique in self.truth.cluster.cliques()}
        pods = [
            (there.get(pod.owner_uid, ""), pod)
            for pod in self.truth.cluster.pods()
            if pod.namespace == gang.ref.namespace and pod.gang == gang.ref.name and is_live(pod)
        ]
        for key, cliques in required_of(gang):
            nodes = [self.truth.nodes.get(pod.node) for name, pod in pods if cliques is None or name in cliques]
            values = {node.labels.get(key) for node in nodes if node is not None}
            if len(values) > 1 or None in values:
                shown = ", ".join(sorted(map(str, values)))
                self.truth.fail("B6", f"pods of {gang.ref.name} must share {key}, and have {shown}", gang.ref.short)
