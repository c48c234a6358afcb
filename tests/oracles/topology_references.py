"""Checks which topologies sets may name, and that nothing changes under bound pods (TP2, TP3, TP4)."""

from collections import defaultdict
from collections.abc import Iterator

from grove_core.kernel.admission import Deny
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.labels import SET
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_shell.simulator.checks.simulation_check import ActualClusterState, Manifest, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from tests.oracles.topology_facts import (
    DEFAULT,
    constraints_of,
    topology_named_by,
    topology_used_by,
)


class TopologyReferenceCheck(SimulationCheck):
    """TP2, TP3, TP4: admitted writes, compared with what admission could know of topologies and bound pods."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self._bound: defaultdict[str, set[str]] = defaultdict(
            set
        )  # uid of a set -> uids of its cliques with bound pods
        self._bound_since: dict[str, int] = {}  # by uid of the set
        self._named_since: dict[str, int] = {}  # by uid of the set: since when it names its topology
        self._there: dict[str, str] = {}  # topology -> uid
        self._gone_since: dict[str, int] = {}
        self._leaving_since: dict[str, int] = {}

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Update deleted PodCliques, then the topologies, then check the sets that were admitted."""
        for change in changes:
            if isinstance(change.latest_object, PodClique) and change.after is None:
                self._clique(change.latest_object, None)
        for change in changes:
            if isinstance(change.latest_object, ClusterTopology):
                self._topology(change.latest_object.ref.name, change.before, change.after)
        for change in changes:
            if isinstance(change.latest_object, PodCliqueSet):
                self._set(change.before, change.after)
        for change in changes:
            if isinstance(change.latest_object, PodClique):
                self._clique(change.latest_object, change.after)

    def _topology(self, name: str, before: object, after: object) -> None:
        now = self.state.now
        if isinstance(after, ClusterTopology):
            self._there[name] = after.uid
            self._gone_since.pop(name, None)
            if not after.deleting:
                self._leaving_since.pop(name, None)
            else:
                self._leaving_since.setdefault(name, now)
            if isinstance(before, ClusterTopology) and before.levels != after.levels:
                for root in self._users(name):
                    since = self._bound_since.get(root.uid), self._named_since.get(root.uid, -1)
                    if all(map(self._has_been, since)):
                        message = f"levels of topology {name} change under pods of {root.ref.name}"
                        self.state.report_broken_promise("TP4", message, f"ClusterTopology/{name}", root.ref.short)
        elif self._there.pop(name, None) is not None:
            self._gone_since[name] = now
            self._leaving_since.pop(name, None)

    def _set(self, before: object, after: object) -> None:
        if not isinstance(after, PodCliqueSet) or after.deleting:
            return
        named, was = topology_named_by(after), topology_named_by(before) if isinstance(before, PodCliqueSet) else ""
        if named == was:
            return
        self._named_since[after.uid] = self.state.now
        short = after.ref.short
        if isinstance(before, PodCliqueSet) and self._has_been(self._bound_since.get(after.uid)):
            self.state.report_broken_promise(
                "TP3", f'{after.ref.name} changes from topology "{was}" to "{named}" with pods bound', short
            )
        if not named:
            return
        is_missing = named not in self._there and self._has_been(self._gone_since.get(named, -1))
        if (is_missing and named != DEFAULT) or self._has_been(self._leaving_since.get(named)):
            problem = "does not exist" if is_missing else "is being deleted"
            self.state.report_broken_promise(
                "TP2", f"{after.ref.name} is admitted with topology {named}, which {problem}", short
            )

    def on_user_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """Check that an admitted set names a topology only where this has an effect (TP2)."""
        del new
        if isinstance(stored, Deny):
            return
        after = podcliqueset_from_json(stored)
        named = topology_named_by(after)
        if not named or (old is not None and topology_named_by(podcliqueset_from_json(old)) == named):
            return
        if not constraints_of(after) or not self.state.cluster.server.configuration.topology.enabled:
            message = f"{after.ref.name} is admitted with topology {named} which has no effect there"
            self.state.report_broken_promise("TP2", message, after.ref.short)

    def _clique(self, clique: PodClique, after: object) -> None:
        root = self.state.root_of.get(clique.uid, "")
        known = self._bound[root]
        if isinstance(after, PodClique) and after.status.scheduled and _shows_its_set(after):
            known.add(clique.uid)
            self._bound_since.setdefault(root, self.state.now)
        else:
            known.discard(clique.uid)
            if not known:
                self._bound_since.pop(root, None)

    def _has_been(self, since: int | None) -> bool:
        """Return whether admission must have observed it by now."""
        return since is not None and since < self.state.now - self.state.cluster.admission_watch

    def _users(self, name: str) -> Iterator[PodCliqueSet]:
        return (root for root in self.state.cluster.all_sets() if topology_used_by(root) == name)


def _shows_its_set(clique: PodClique) -> bool:
    """Return whether a clique alone shows its set: a member of a scaling group without labels does not."""
    return clique.owner_kind == "PodCliqueSet" or any(key in clique.labels for key in SET.keys)
