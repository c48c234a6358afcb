"""Checks the expectations of a scenario against the cluster at their times."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grove_core.kernel.conditions import Condition, ConditionStatus, condition_of, is_condition_true
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED, TOPOLOGY_FINALIZER, TOPOLOGY_IN_SYNC
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, ClusterTopology
from grove_core.resources.domains_ready_condition import domain_failure_in_stored_conditions
from grove_core.resources.pod import UNSCHEDULABLE, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import (
    SimulatedCluster,
    first_container_image,
    is_live_pod,
    pod_claims_channel,
)
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode
from grove_shell.simulator.recording.simulation_history import SimulationHistory
from grove_shell.simulator.scenario.scenario import ScenarioExpectation
from grove_shell.simulator.virtual_time import go_duration_text


@dataclass(frozen=True, slots=True)
class UnmetExpectation:
    """An expectation that was not met.

    Attributes:
        at: milliseconds since the start.
        message: what was expected, and what was found.
    """

    at: int
    message: str


class ScenarioExpectationChecker:
    """Checks the expectations of a scenario during a run, and collects those not met in ``unmet``."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: Mapping[str, SimulatedNode],
        history: SimulationHistory,
        expected: tuple[ScenarioExpectation, ...],
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.history = history
        self.unmet: list[UnmetExpectation] = []
        timed = ((found.at, found) for found in expected if isinstance(found.at, int))
        self._timed = sorted(timed, key=lambda pair: pair[0])
        self._last = [found for found in expected if found.at == "end"]
        self._never = {found.never for found in expected if found.never is not None}
        self._seen: set[str] = set()

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Record what must never happen."""
        for change in changes if self._never - self._seen else ():
            after = change.after
            if isinstance(after, Pod):
                if after.trouble == UNSCHEDULABLE:
                    self._record("unschedulable", after.ref.short)
            elif isinstance(after, PodClique | ScalingGroup) and is_condition_true(
                condition_of(after.status.conditions, MIN_AVAILABLE_BREACHED)
            ):
                self._record("breached", after.ref.short)

    def check_expectations_before(self, end: int | None) -> None:
        """Check the expectations of all times before ``end``; all of them, also those at the end, for None."""
        if self.history.terminations:
            self._record("terminated", "a replica")
        if self.history.refused:
            self._record("refused", "a write")
        while self._timed and (end is None or self._timed[0][0] < end):
            at, expected = self._timed.pop(0)
            self._check(at, f"at {go_duration_text(at)}", expected)
        for expected in self._last if end is None else ():
            self._check(self.cluster.queue.now, "at the end", expected)

    def fail_expectations_after_stop(self) -> None:
        """Record the expectations of times after the stop of the run as not met."""
        stop = go_duration_text(self.cluster.queue.now)
        for at, _ in self._timed:
            self._add(at, f"at {go_duration_text(at)}: not reached, the run was stopped at {stop}")
        self._timed.clear()

    def _add(self, at: int, message: str) -> None:
        self.unmet.append(UnmetExpectation(at, message))

    def _record(self, what: str, subject: str) -> None:
        if what in self._never and what not in self._seen:
            self._seen.add(what)
            at = self.cluster.queue.now
            self._add(at, f"never {what}: {subject} was, at {go_duration_text(at)}")

    def _check(self, at: int, when: str, expected: ScenarioExpectation) -> None:
        for what, wanted, found in self._differences(expected):
            if wanted != found:
                self._add(at, f"{when}: expected {what} {wanted}, found {found}")

    def _differences(self, expected: ScenarioExpectation) -> Iterator[tuple[str, object, object]]:
        names = {item.uid: item.ref.name for item in self.cluster.server.items.values() if isinstance(item, PodClique)}
        live = [(names.get(pod.owner_uid, ""), pod) for pod in self.cluster.all_pods() if is_live_pod(pod)]
        counts = {
            "pods": Counter(name for name, _ in live),
            "scheduled": Counter(name for name, pod in live if pod.scheduled),
            "ready": Counter(name for name, pod in live if pod.ready),
            "gated": Counter(name for name, pod in live if pod.gated),
            "joined": Counter(name for name, pod in live if pod_claims_channel(self.cluster, pod)),
        }
        for what, count in counts.items():
            wanted = getattr(expected, what)
            if isinstance(wanted, dict):
                for clique, number in wanted.items():
                    yield f"{what} of {clique}", number, count[clique]
            elif wanted is not None:
                yield what, wanted, count.total()
        numbers = {
            "terminations": self.history.terminations,
            "refused": self.history.refused,
            "objects": len(self.cluster.server.items) + sum(1 for _ in self.cluster.all_pods()),
            "nodes": len({pod.node for _, pod in live if pod.node}),
        }
        for what, number in numbers.items():
            if getattr(expected, what) is not None:
                yield what, getattr(expected, what), number
        for name, replicas in expected.failed_domains.items():
            failed = domain_failure_in_stored_conditions(self._conditions_of_set(name)).replicas
            yield f"failed domains of {name}", list(replicas), list(failed)
        yield from self._of_topologies(expected, live)
        for clique, image in expected.images.items():
            images = {first_container_image(self.cluster, pod) for name, pod in live if name == clique}
            yield f"image of {clique}", image, ", ".join(sorted(images)) or "no pod"
        addresses = (*((name, "there") for name in expected.exists), *((name, "gone") for name in expected.gone))
        for name, wanted in addresses:
            kind, _, short = name.partition("/")
            yield name, wanted, "there" if self.cluster.find_object(kind, short) else "gone"

    def _of_topologies(
        self, expected: ScenarioExpectation, live: Iterable[tuple[str, Pod]]
    ) -> Iterator[tuple[str, object, object]]:
        """Yield what was expected and found of nodes and topologies."""
        pods = list(live)
        for clique, labels in expected.stands_on.items():
            nodes = [self.nodes.get(pod.node) for name, pod in pods if name == clique]
            for key, value in labels.items():
                values = {node.labels.get(key, "none") if node is not None else "nowhere" for node in nodes}
                yield f"{key} of {clique}", value, ", ".join(sorted(values)) or "no pod"
        for name, topology in expected.topologies.items():
            gang = self.cluster.find_object("PodGang", name)
            yield f"topology of {name}", topology, gang.placement.topology if isinstance(gang, PodGang) else "no gang"
        for name, holds in expected.in_sync.items():
            stored = condition_of(self._conditions_of_set(name), TOPOLOGY_IN_SYNC)
            yield f"in sync of {name}", holds, stored is None or stored.status is not ConditionStatus.FALSE
        for name, held in expected.held.items():
            found = self._topology(name)
            yield f"held {name}", held, TOPOLOGY_FINALIZER in found.finalizers if found is not None else "gone"
        for name, domains in expected.levels.items():
            found = self._topology(name)
            yield f"levels of {name}", domains, tuple(level.domain for level in found.levels) if found else "gone"

    def _conditions_of_set(self, name: str) -> tuple[Condition, ...]:
        root = self.cluster.find_object("PodCliqueSet", name)
        return root.status.conditions if isinstance(root, PodCliqueSet) else ()

    def _topology(self, name: str) -> ClusterTopology | None:
        found = next(filter(None, (self.cluster.find_object(kind, name) for kind in TOPOLOGY_KINDS)), None)
        return found if isinstance(found, ClusterTopology) else None
