"""Checks what operators write to topologies, and their finalizers and levels at rest (TP6, TP7)."""

from collections import defaultdict

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Make
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.simulator.checks.simulation_check import SimulationCheck
from grove_shell.simulator.recording.simulation_history import SimulationActor
from tests.oracles.topology_facts import (
    DEFAULT,
    FINALIZER,
    foreign_finalizers,
    topology_used_by,
)


class TopologyLifecycleCheck(SimulationCheck):
    """TP6, TP7: only the default topology gets levels, and only used topologies have Grove's finalizer."""

    def on_operator_topology_write(
        self, actor: SimulationActor, snapshot: ClusterTopologySnapshot, attempt: Attempt
    ) -> None:
        """Check one write to a topology."""
        step = attempt.step
        if attempt.outcome is not AttemptOutcome.DONE:
            return
        name = step.target.short
        writes_levels = isinstance(step.action, Create) or (
            isinstance(step.action, Apply) and "spec" in step.action.fields
        )
        if writes_levels and step.target.name != DEFAULT:
            self.state.report_broken_promise("TP7", f"an operator writes levels of {name}, which is a user's", name)
        if isinstance(step.action, Delete):
            self.state.report_broken_promise("TP7", f"an operator deletes {name}", name)
        if isinstance(step.action, Make):
            return  # a creation writes no foreign finalizers; an existing object may have new ones
        before = snapshot.topology.finalizers if snapshot.topology is not None else ()
        found = self.state.cluster.server.items.get(step.target)
        after = found.finalizers if found is not None else ()
        if foreign_finalizers(before) != foreign_finalizers(after):
            self.state.report_broken_promise(
                "TP6",
                f"finalizers of others on {name} were {foreign_finalizers(before)} and are {foreign_finalizers(after)}",
                name,
            )
        is_off = step.target.name == DEFAULT and not snapshot.settings.enabled
        if FINALIZER in before and FINALIZER not in after and not is_off and snapshot.users:
            self.state.report_broken_promise(
                "TP6", f"{name} loses Grove's finalizer, and {snapshot.users[0].namespace_and_name} uses it", name
            )
        del actor

    def check_at_rest(self) -> None:
        """Check that exactly the used topologies have the finalizer, and that the default one is as configured."""
        settings = self.state.cluster.server.configuration.topology
        users: defaultdict[str, list[PodCliqueSet]] = defaultdict(list)
        for root in self.state.cluster.all_sets():
            users[topology_used_by(root)].append(root)
        for name, topology in self.state.cluster.server.topologies_by_name().items():
            held = FINALIZER in topology.finalizers
            wanted = bool(users[name]) and (name != DEFAULT or settings.enabled)
            if held != wanted and not (wanted and topology.deleting):
                message = f"topology {name} is {'held' if held else 'not held'}, and used by {len(users[name])} sets"
                self.state.report_broken_promise("TP6", message, topology.ref.short)
            if topology.deleting and not topology.finalizers:
                self.state.report_broken_promise(
                    "TP6", f"topology {name} is being deleted and never disappears", topology.ref.short
                )
        if settings.enabled:
            self._default(users[DEFAULT])

    def _default(self, users: list[PodCliqueSet]) -> None:
        settings = self.state.cluster.server.configuration.topology
        found = self.state.cluster.server.topologies_by_name().get(DEFAULT)
        if found is None:
            self.state.report_broken_promise("TP7", "there is no default topology")
        elif found.levels != settings.levels and not found.deleting and found.ref.kind == "ClusterTopology":
            uids = {root.uid for root in users}
            bound = any(pod.node for uid in self.state.cliques for pod in self._pods_in(uids, uid))
            stored = any(
                clique.status.scheduled
                for clique in self.state.cluster.all_cliques()
                if self.state.root_of.get(clique.uid) in uids
            )
            if not bound and not stored:
                self.state.report_broken_promise(
                    "TP7", "the default topology has other levels than configured", found.ref.short
                )

    def _pods_in(self, roots: set[str], clique: str) -> list[Pod]:
        return self.state.pods_of_clique(clique) if self.state.root_of.get(clique) in roots else []
