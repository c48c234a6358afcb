"""The PodCliques of a cluster in numbers: at the end of a run, and over time as lanes for the chart."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from grove_core.kernel.conditions import condition_of, is_condition_true
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED, POD_GANG
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live_pod


@dataclass(frozen=True, slots=True)
class PodCliqueState:
    """One PodClique, and the numbers of its live pods.

    Attributes:
        replicas: ``spec.replicas``.
        needed: ``spec.minAvailable``.
    """

    namespace: str
    name: str
    replicas: int
    needed: int
    pods: int
    placed: int
    ready: int


def pod_clique_states_of(cluster: SimulatedCluster) -> tuple[PodCliqueState, ...]:
    """Return the state of every PodClique, sorted by name."""
    found = []
    for clique in cluster.all_cliques():
        live = [pod for pod in cluster.server.pods.get(clique.uid, ()) if is_live_pod(pod)]
        found.append(
            PodCliqueState(
                namespace=clique.ref.namespace,
                name=clique.ref.name,
                replicas=clique.replicas,
                needed=clique.min_available,
                pods=len(live),
                placed=sum(pod.scheduled for pod in live),
                ready=sum(pod.ready for pod in live),
            )
        )
    return tuple(found)


STATES: Final = ("ready", "placed", "pending", "gated")


@dataclass(frozen=True, slots=True)
class PodCliqueStateSince:
    """The state of a PodClique from a time on.

    Attributes:
        replicas, needed: both 0 while the PodClique does not exist.
        counts: live pods by state, in the order of ``STATES``.
    """

    at: int
    replicas: int
    needed: int
    counts: tuple[int, int, int, int]


@dataclass(slots=True)
class PodCliqueTimeline:
    """One PodClique name over time, also across recreations.

    Attributes:
        gang: its PodGang.
        samples: its states in time order.
        breached, updating: intervals in which it was so; the end is None where it still is.
    """

    namespace: str
    name: str
    gang: str
    replica: int
    samples: list[PodCliqueStateSince] = field(default_factory=list)
    breached: list[tuple[int, int | None]] = field(default_factory=list)
    updating: list[tuple[int, int | None]] = field(default_factory=list)


def pod_clique_timelines(log: list[ObjectChange]) -> list[PodCliqueTimeline]:
    """Return a lane for every PodClique in a list of changes, sorted by replica, gang and name."""
    builder = _LaneBuilder()
    step: list[ObjectChange] = []
    for change in log:
        if step and change.at != step[0].at:
            builder.add(step)
            step = []
        step.append(change)
    builder.add(step)
    return sorted(builder.lanes.values(), key=lambda lane: (lane.namespace, lane.replica, lane.gang, lane.name))


class _LaneBuilder:
    """Builds the lanes from the changes of one time after the other."""

    def __init__(self) -> None:
        self.lanes: dict[tuple[str, str], PodCliqueTimeline] = {}
        self._cliques: dict[tuple[str, str], PodClique] = {}
        self._names: dict[str, tuple[str, str]] = {}
        self._pods: defaultdict[str, dict[str, Pod]] = defaultdict(dict)

    def add(self, step: list[ObjectChange]) -> None:
        """Add all changes of one time step."""
        touched: dict[tuple[str, str], None] = {}
        for change in step:
            item = change.latest_object
            if isinstance(item, PodClique):
                key = (item.ref.namespace, item.ref.name)
                self._names[item.uid] = key
                if isinstance(change.after, PodClique):
                    self._cliques[key] = change.after
                elif self._cliques.get(key) is change.before:
                    del self._cliques[key]
                touched[key] = None
            elif isinstance(item, Pod):
                if change.after is not None:
                    self._pods[item.owner_uid][item.uid] = item
                else:
                    self._pods[item.owner_uid].pop(item.uid, None)
                if item.owner_uid in self._names:
                    touched[self._names[item.owner_uid]] = None
        for key in touched:
            self._mark(step[0].at, key)

    def _mark(self, at: int, key: tuple[str, str]) -> None:
        clique = self._cliques.get(key)
        lane = self.lanes.get(key)
        if lane is None:
            if clique is None:
                return
            gang = str(clique.labels.get(POD_GANG, ""))
            lane = self.lanes[key] = PodCliqueTimeline(*key, gang, clique.replica_index)
        if clique is None:
            lane.samples.append(PodCliqueStateSince(at, 0, 0, (0, 0, 0, 0)))
        else:
            counts = Counter(map(_state, filter(is_live_pod, self._pods[clique.uid].values())))
            ready, placed, pending, gated = (counts[state] for state in STATES)
            lane.samples.append(
                PodCliqueStateSince(at, clique.replicas, clique.min_available, (ready, placed, pending, gated))
            )
        condition = condition_of(clique.status.conditions, MIN_AVAILABLE_BREACHED) if clique is not None else None
        _extend(lane.breached, at, holds=is_condition_true(condition))
        _extend(lane.updating, at, holds=clique is not None and clique.status.updating)


def _state(pod: Pod) -> str:
    if pod.ready:
        return "ready"
    if pod.scheduled:
        return "placed"
    return "gated" if pod.gated else "pending"


def _extend(spans: list[tuple[int, int | None]], at: int, *, holds: bool) -> None:
    is_open = bool(spans) and spans[-1][1] is None
    if holds and not is_open:
        spans.append((at, None))
    elif not holds and is_open:
        spans[-1] = (spans[-1][0], at)
