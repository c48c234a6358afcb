"""Runs a scenario: sets up the cluster and the actors, and executes events until none is left."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from grove_core.areas.mnnvl.admit import preflight_objection
from grove_core.document.plan_document import RulesSource
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.refs import Ref
from grove_core.reconcile import reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.cluster import Cluster as Dump
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.in_memory.in_memory_cluster import InMemoryCluster
from grove_shell.simulator.actors.kubelet import Kubelet
from grove_shell.simulator.actors.node_controller import NodeController
from grove_shell.simulator.actors.nvidia_dra_driver import NvidiaDraDriver
from grove_shell.simulator.actors.scheduler import Scheduler
from grove_shell.simulator.actors.topology_actions import TopologyActions
from grove_shell.simulator.actors.user_actions import UserActions
from grove_shell.simulator.checks.all_checks import AllChecks
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.nodes import Node, nodes_of_pool
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_admission import AdmissionDecisions
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.event_handlers import FAULTS, actor_of_event_kind, handlers_by_event
from grove_shell.simulator.event_queue import EventQueue
from grove_shell.simulator.expectations import ExpectationChecker, UnmetExpectation
from grove_shell.simulator.faults.domain_faults import DomainFaults
from grove_shell.simulator.faults.fault_injection import FaultInjector
from grove_shell.simulator.operator.informers import DelayedTopologyCache
from grove_shell.simulator.operator.simulated_operator import Decide, DecideTopology, Preflight, SimulatedOperator
from grove_shell.simulator.operator.simulated_operator_process import OperatorObserver
from grove_shell.simulator.recording.pod_clique_states import PodCliqueState, pod_clique_states_of
from grove_shell.simulator.recording.run_history import EventWithoutEffect, NoteEntry, NoteKind, RunHistory
from grove_shell.simulator.recording.timeline_recorder import TimelineRecorder
from grove_shell.simulator.scenario.scenario import Scenario, ScenarioSpec
from grove_shell.simulator.scenario.scenario_events import Event
from grove_shell.simulator.violation import Violation, ViolationFound
from grove_shell.simulator.virtual_time import MINUTE, clock_time_at

FAULTS_STOP_AFTER: Final = 5 * MINUTE
"""All faults stop this many milliseconds after the end of the last event (SM-040)."""
_LONGEST: Final = 30 * 24 * 60 * MINUTE
_MOST_STEPS: Final = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """How a scenario is run.

    Attributes:
        rules: rule set of the operator.
        decide: makes the plan of a set; None for ``reconcile`` with these rules.
        decide_topology: makes the plan of a topology.
        check: whether the promises are checked.
        further_checks: of the caller, beside those of the promises.
        counts_only: keep no history entries, only counts.
        until: when to stop, in milliseconds; None for ``until`` of the scenario.
        admission: the admission decisions.
        preflight: returns why an operator process must exit at its start; None where it may go on.
        observers: get the actions of the operators.
        tick: called after each time step with its time and the earliest possible end, both in milliseconds.
    """

    rules: RuleSet = DESIGN
    decide: Decide | None = None
    decide_topology: DecideTopology = reconcile_topology
    check: bool = False
    further_checks: tuple[type[SimulationCheck], ...] = ()
    counts_only: bool = False
    until: int | None = None
    admission: AdmissionDecisions = field(default_factory=AdmissionDecisions)
    preflight: Preflight = preflight_objection
    observers: tuple[OperatorObserver, ...] = ()
    tick: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRun:
    """The result of a run.

    Attributes:
        end: time of the last event, in milliseconds.
        changes: all changes of the cluster.
        violation: the broken promise that ended the run, if any.
        unmet: expectations that were not met.
        rested: whether the run ended because no event was left.
        writes: number of writes of the operator, successful or not.
        rounds: number of rounds of the operator.
        clique_states: the PodCliques at the end.
        expected: number of expectations.
        rules: name of the rule set of the operator.
        unpredicted: set -> what the rules do not predict of it, as sentences (GF-130 to GF-134).
        rules_from: what chose the rule set; None where a program chose it.
    """

    scenario: Scenario
    end: int
    history: RunHistory
    changes: list[ObjectChange]
    violation: Violation | None
    unmet: tuple[UnmetExpectation, ...]
    rested: bool
    writes: int
    rounds: int
    clique_states: tuple[PodCliqueState, ...]
    expected: int
    rules: str
    unpredicted: Mapping[Ref, tuple[str, ...]]
    rules_from: RulesSource | None = None

    @property
    def succeeded(self) -> bool:
        """Whether no promise was broken and all expectations were met."""
        return self.violation is None and not self.unmet


class Simulation:
    """One run of a scenario.

    Args:
        scenario: the scenario; its sets are admitted.
        options: how it is run.
        dump: the dump that it starts from, if any.
        manifests: namespace and name -> manifest of each set of the dump.
    """

    def __init__(
        self,
        scenario: Scenario,
        options: SimulationOptions | None = None,
        *,
        dump: Dump | None = None,
        manifests: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
    ) -> None:
        options = options or SimulationOptions()
        spec = scenario.spec
        self.scenario, self.options = scenario, options
        self.until = options.until if options.until is not None else spec.until
        self.queue = EventQueue()
        self.history = RunHistory(self.queue, counts_only=options.counts_only)
        server = _server_of(spec, dump)
        server.clock = lambda: clock_time_at(spec.start, self.queue.now)
        self.cluster = SimulatedCluster(server, self.queue, options.admission)
        self.cluster.admission_watch = spec.admission.watch
        if spec.admission.watch:
            self.cluster.delayed_topologies = DelayedTopologyCache(self.cluster, spec.admission.watch)
        self.nodes = _nodes_of(spec, self.cluster)
        self.scheduler = Scheduler(self.cluster, self.nodes, spec.scheduler, self.history)
        self.kubelet = Kubelet(self.cluster, self.nodes, spec.kubelet, self.history)
        self.controller = NodeController(self.cluster, self.nodes, self.scheduler, self.kubelet, self.history)
        self.recorder = TimelineRecorder(self.history)
        state = ActualClusterState(self.cluster, self.nodes, spec.start, gang_aware=spec.scheduler.gang_aware)
        self.checks = AllChecks(state, options.further_checks) if options.check else None
        watching = (self.checks,) if self.checks is not None else ()
        observers = (self.recorder, *watching, *options.observers)
        self.operator = self._new_operator(observers)
        self.user_actions = UserActions(self.cluster, self.kubelet, self.history, spec.start)
        self.user_actions.admission, self.user_actions.rules = options.admission, options.rules
        self.topology_actions = TopologyActions(self.cluster, self.history, options.admission)
        self.user_actions.on_set_write = self.checks.on_set_write if self.checks is not None else None
        self.user_actions.manifests.update(manifests or {})
        self.faults = FaultInjector(self.cluster, self.operator, self.history)
        self.domain_faults = DomainFaults(self.cluster, self.operator, self.history)
        self.driver = NvidiaDraDriver(self.cluster, spec.driver)
        self.expectations = ExpectationChecker(self.cluster, self.nodes, self.history, spec.expect)
        self._handlers = handlers_by_event(
            self.user_actions, self.topology_actions, self.faults, self.domain_faults, self.controller
        )
        listening = (self.recorder, self.scheduler, self.kubelet, self.driver, self.operator, self.expectations)
        self.cluster.listeners = [one.on_changes for one in (*watching, *listening)]

    def _new_operator(self, observers: Iterable[OperatorObserver]) -> SimulatedOperator:
        return SimulatedOperator(
            self.cluster,
            self.scenario.spec.start,
            self.scenario.spec.operator,
            self.options.decide or partial(reconcile, rules=self.options.rules),
            decide_topology=self.options.decide_topology,
            preflight=self.options.preflight,
            observers=observers,
        )

    def run(self) -> SimulationRun:
        """Run the scenario to its end, a violation, or its stop."""
        violation = None
        try:
            rested = self._run_events()
            if self.checks is not None and rested:
                self.checks.at_rest(self.operator)
        except ViolationFound as found:
            violation, rested = found.violation, False
        except BrokenInvariant as broken:
            violation, rested = Violation("PL", self.queue.now, (), f"a law is broken: {broken}"), False
        finally:
            for operator in (self.operator, *self.faults.old):
                operator.stop()
        if violation is None:
            self.expectations.check_expectations_before(None)
        return SimulationRun(
            scenario=self.scenario,
            end=self.queue.now,
            history=self.history,
            changes=self.cluster.changes,
            violation=violation,
            unmet=tuple(self.expectations.unmet),
            rested=rested,
            writes=self.operator.connection.attempts,
            rounds=self.operator.rounds,
            clique_states=pod_clique_states_of(self.cluster),
            expected=len(self.scenario.spec.expect),
            rules=self.options.rules.name,
            unpredicted=self.recorder.unpredicted_by_set,
        )

    def _run_events(self) -> bool:
        """Run all time steps; return whether no event was left."""
        for topology in self.scenario.spec.topologies:
            self.topology_actions.store_admitted(topology)
        for manifest in self.scenario.spec.sets:
            self.user_actions.apply_at_start(manifest)
        end = 0
        for event in self.scenario.spec.events:
            end = max(end, event.at + (getattr(event.arguments, "span", 0) or 0))
            self.queue.schedule(event.at, self._handler_of(event))
        if any(event.kind in FAULTS for event in self.scenario.spec.events):
            self.queue.schedule(end + FAULTS_STOP_AFTER, self.faults.stop_faults)
            self.queue.schedule(end + FAULTS_STOP_AFTER, self.domain_faults.stop_faults)
        limit, tick = end + _LONGEST, self.options.tick
        goal = end if self.until is None else self.until
        self._deliver_changes()
        for _ in range(_MOST_STEPS):
            step = self.queue.next_callback_time
            if step is None:
                return True
            if self.until is not None and step > self.until:
                self.expectations.check_expectations_before(self.until + 1)
                self.queue.now = self.until
                self.expectations.fail_expectations_after_stop()
                return False
            self.expectations.check_expectations_before(step)
            if step > limit:
                break
            self.queue.run_next()
            self._deliver_changes()
            if tick is not None:
                tick(step, goal)
        self._fail_to_rest()
        return False

    def _deliver_changes(self) -> None:
        while self.cluster.deliver_changes():
            pass

    def _fail_to_rest(self) -> None:
        if self.checks is not None:
            message = f"the run does not come to rest, after {self.operator.rounds} rounds of the operator"
            raise ViolationFound(Violation("O1", self.queue.now, (), message))

    def _handler_of(self, event: Event) -> Callable[[], None]:
        handler, arguments = self._handlers[event.kind], event.arguments

        def execute() -> None:
            try:
                handler(arguments)
            except EventWithoutEffect as nothing:
                self.history.without_effect += 1
                message = f"{event.field_name} had no effect: {nothing}"
                self.history.record(actor_of_event_kind(event.kind), NoteEntry(NoteKind.NO_EFFECT, message))
            if self.checks is not None:
                least, most = self.faults.clocks
                self.checks.state.clock_slack = most - least

        return execute


def _server_of(spec: ScenarioSpec, dump: Dump | None) -> InMemoryCluster:
    """Return the API server at the start, with its objects, the configuration and the served kinds."""
    roots = () if dump is None else tuple(dump.snapshot_of(root, spec.start) for root in dump.sets)
    server = InMemoryCluster(roots, lingering=True)
    for topology in dump.topologies.values() if dump is not None else ():
        server.add(topology)
    server.complete = EVERY_KIND | {TOPOLOGY_KIND}
    settings = spec.operator
    server.configuration = Configuration(
        mnnvl=settings.mnnvl.as_configuration, topology=settings.topology_aware_scheduling.as_configuration
    )
    server.served = ServedApis(without_domains=spec.driver.installed > 0)
    return server


def _nodes_of(spec: ScenarioSpec, cluster: SimulatedCluster) -> dict[str, Node]:
    """Return the nodes of the scenario, and cordoned nodes of unknown capacity for the pods of a dump."""
    nodes = {node.name: node for pool in spec.nodes for node in nodes_of_pool(pool)}
    for pod in cluster.pods():
        if pod.node and pod.node not in nodes:
            nodes[pod.node] = Node(pod.node, {}, {}, cordoned=True)
    return nodes
