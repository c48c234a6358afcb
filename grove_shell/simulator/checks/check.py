"""What every check is, and what checks share: the truth of the cluster, told in few words."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.kernel.admission import Deny
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.nodes import Node
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live
from grove_shell.simulator.recording.history import Actor
from grove_shell.simulator.violation import Violated, Violation

_PLANS: Final = 8
Manifest: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class ActualState:
    """The cluster as it is, and what has to be remembered of it.

    Attributes:
        gang_aware: whether the scheduler reads PodGangs.
        clock_slack: between which two states of the operator's clock so far the most milliseconds lie.
        cliques, groups, roots: every one that ever was, by uid, as it was last.
        root_of: uid of a clique, a group or anything else owned -> uid of its set.
        available: uids of cliques that had ``minAvailable`` ready pods at some moment.
        plans: the last few that operators began to carry out, by their snapshots, with the moment.
    """

    cluster: SimulatedCluster
    nodes: Mapping[str, Node]
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

    def planned_at(self, snapshot: Snapshot) -> int:
        """When the plan was made whose write arrives now: writes may take their time."""
        return next((at for planned, at in self.plans if planned is snapshot), self.now)

    def take(self, changes: Iterable[Change]) -> None:
        """Remember what changed."""
        touched: dict[str, None] = {}
        for change in changes:
            item = change.object
            if isinstance(item, Pod):
                touched[item.owner_uid] = None
                continue
            if isinstance(item, PodClique):
                self.cliques[item.uid] = item
                touched[item.uid] = None
            elif isinstance(item, ScalingGroup):
                self.groups[item.uid] = item
            elif isinstance(item, PodCliqueSet):
                self.roots[item.uid] = item
                self.root_of[item.uid] = item.uid
                continue
            if change.before is None:
                self.root_of[item.uid] = self.root_of.get(item.owner_uid, "")
        for uid in touched:
            clique = self.cliques.get(uid)
            if clique is not None and self.ready(uid) >= clique.min_available:
                self.available.add(uid)

    def replica_of(self, clique: PodClique) -> int:
        """Of its set: what it is called says so, or what its scaling group is called; a label may be edited."""
        group = self.groups.get(clique.owner_uid)
        return clique.replica_index if group is None else group.replica_index

    def pods(self, uid: str) -> list[Pod]:
        """The pods of a clique."""
        return self.cluster.server.pods.get(uid, [])

    def live(self, uid: str) -> list[Pod]:
        """Those of them that count."""
        return [pod for pod in self.pods(uid) if is_live(pod)]

    def ready(self, uid: str) -> int:
        """How many of them are ready."""
        return sum(pod.ready for pod in self.pods(uid))

    def fail(self, code: str, message: str, *objects: str) -> None:
        """Something happened that may not. Raises Violated."""
        raise Violated(Violation(code, self.now, objects, message))


class Check:
    """One promise, or a few that look at the same things; what it does not override it does not look at."""

    def __init__(self, state: ActualState) -> None:
        self.state = state

    def on_changes(self, changes: list[Change]) -> None:
        """The cluster changed."""

    def on_plan(self, actor: Actor, snapshot: Snapshot, plan: Plan) -> None:
        """An operator made a plan and will try it."""

    def on_write(self, actor: Actor, snapshot: Snapshot, attempt: Attempt) -> None:
        """An operator tried a step."""

    def on_topology_write(self, actor: Actor, moment: TopologySnapshot, attempt: Attempt) -> None:
        """An operator tried a step about a topology."""

    def on_start(self, actor: Actor, configuration: Configuration, *, goes_on: bool) -> None:
        """An operator process began, and goes on or ended at once."""

    def on_set_write(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """A user wrote a set; it is stored so, or refused."""

    def at_rest(self) -> None:
        """Nothing is left to happen."""
