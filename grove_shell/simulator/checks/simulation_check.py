"""The base class of all checks, and the actual state of the cluster that they compare with."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias, assert_never

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.kernel.admission import Deny
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode
from grove_shell.simulator.promise_violation import PromiseViolated, PromiseViolation
from grove_shell.simulator.recording.simulation_history import SimulationActor

_PLANS: Final = 8
Manifest: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class ActualClusterState:
    """The actual state of the cluster, and parts of its past.

    Attributes:
        gang_aware: whether the scheduler reads PodGangs.
        clock_slack: largest difference of two offsets of the operator's clock so far, in milliseconds.
        cliques, groups, roots: last state of each object that ever existed, by uid.
        root_of: uid of an owned object -> uid of its set.
        available: uids of the cliques that once had ``minAvailable`` ready pods.
        plans: snapshots of the last few plans, with the time of each plan.
    """

    cluster: SimulatedCluster
    nodes: Mapping[str, SimulatedNode]
    start: datetime
    gang_aware: bool = True
    clock_slack: int = 0
    cliques: dict[str, PodClique] = field(default_factory=dict)
    groups: dict[str, ScalingGroup] = field(default_factory=dict)
    roots: dict[str, PodCliqueSet] = field(default_factory=dict)
    root_of: dict[str, str] = field(default_factory=dict)
    available: set[str] = field(default_factory=set)
    plans: deque[tuple[Snapshot, int]] = field(default_factory=lambda: deque(maxlen=_PLANS))

    @property
    def now(self) -> int:
        """Milliseconds since the start."""
        return self.cluster.queue.now

    def plan_time_of_snapshot(self, snapshot: Snapshot) -> int:
        """Return when the plan for a snapshot was made; its writes may arrive later."""
        return next((at for planned, at in self.plans if planned is snapshot), self.now)

    def apply_changes(self, changes: Iterable[ObjectChange]) -> None:
        """Apply the changes of one time step."""
        touched: dict[str, None] = {}
        for change in changes:
            item = change.latest_object
            match item:
                case Pod():
                    touched[item.owner_uid] = None
                    continue
                case PodClique():
                    self.cliques[item.uid] = item
                    touched[item.uid] = None
                case ScalingGroup():
                    self.groups[item.uid] = item
                case PodCliqueSet():
                    self.roots[item.uid] = item
                    self.root_of[item.uid] = item.uid
                    continue
                case PodGang() | OwnedObject() | ComputeDomain() | ClusterTopology():
                    pass
                case _:
                    assert_never(item)
            if change.before is None:
                self.root_of[item.uid] = self.root_of.get(item.owner_uid, "")
        for uid in touched:
            clique = self.cliques.get(uid)
            if clique is not None and self.ready_pod_count_of_clique(uid) >= clique.min_available:
                self.available.add(uid)

    def replica_index_of_clique(self, clique: PodClique) -> int:
        """Return the replica index of a clique by its name or that of its scaling group; labels may be edited."""
        group = self.groups.get(clique.owner_uid)
        return clique.replica_index if group is None else group.replica_index

    def pods_of_clique(self, uid: str) -> list[Pod]:
        """Return the pods of a clique by its uid."""
        return self.cluster.server.pods.get(uid, [])

    def live_pods_of_clique(self, uid: str) -> list[Pod]:
        """Return the live pods of a clique."""
        return [pod for pod in self.pods_of_clique(uid) if is_live_pod(pod)]

    def ready_pod_count_of_clique(self, uid: str) -> int:
        """Return the number of ready pods of a clique."""
        return sum(pod.ready for pod in self.pods_of_clique(uid))

    def report_broken_promise(self, code: str, message: str, *objects: str) -> None:
        """Report a broken promise. Raises PromiseViolated."""
        raise PromiseViolated(PromiseViolation(code, self.now, objects, message))


class SimulationCheck:
    """Checks one promise, or a few about the same objects; subclasses override the callbacks that they need."""

    def __init__(self, state: ActualClusterState) -> None:
        self.state = state

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Called with the changes of one time step."""

    def on_operator_plan(self, actor: SimulationActor, snapshot: Snapshot, plan: Plan) -> None:
        """Called with a plan before it is executed."""

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Called with a step of a set's plan after it was executed or failed."""

    def on_operator_topology_write(
        self, actor: SimulationActor, snapshot: ClusterTopologySnapshot, attempt: Attempt
    ) -> None:
        """Called with a step of a topology's plan after it was executed or failed."""

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, *, goes_on: bool) -> None:
        """Called when an operator process starts; ``goes_on`` is False where its preflight ended it."""

    def on_user_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """Called with a user's write of a set, and with what is stored of it or the denial."""

    def check_at_rest(self) -> None:
        """Called when no event is left."""
