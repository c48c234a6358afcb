"""Runs a scenario: sets up the cluster and the actors, and executes events until none is left."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.in_memory.planned_objects import creations_in_next_reconcile
from grove_core.kernel.errors import BrokenInvariant
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.resources.owned_object import OWNED_KINDS
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import IndexedCluster as Dump
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.simulator.actors.nvidia_dra_driver import SimulatedNvidiaDraDriver
from grove_shell.simulator.actors.simulated_kubelets import SimulatedKubelets
from grove_shell.simulator.actors.simulated_node_controller import SimulatedNodeController
from grove_shell.simulator.actors.simulated_scheduler import SimulatedScheduler
from grove_shell.simulator.actors.topology_actions import SimulatedTopologyActions
from grove_shell.simulator.actors.user_actions import SimulatedUserActions
from grove_shell.simulator.checks.all_checks import AllSimulationChecks
from grove_shell.simulator.checks.simulation_check import ActualClusterState
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.simulated_nodes import SimulatedNode, nodes_of_pool
from grove_shell.simulator.faults.configuration_faults import ConfigurationFaultInjector
from grove_shell.simulator.faults.fault_injection import FaultInjector
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator, SimulatedOperatorDecisions
from grove_shell.simulator.operator.simulated_operator_process import SimulatedOperatorObserver
from grove_shell.simulator.operator.simulated_watches import SimulatedListsAndWatches
from grove_shell.simulator.operator.status_recomputation import StatusRecomputation
from grove_shell.simulator.promise_violation import PromiseViolated, PromiseViolation
from grove_shell.simulator.recording.pod_clique_states import pod_clique_states_of
from grove_shell.simulator.recording.simulation_history import (
    NoteHistoryEntry,
    NoteKind,
    ScenarioEventWithoutEffect,
    SimulationActor,
    SimulationHistory,
)
from grove_shell.simulator.recording.timeline_recorder import TimelineRecorder
from grove_shell.simulator.scenario.scenario import Scenario, ScenarioSpec
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.scenario_event_handlers import handlers_by_scenario_event
from grove_shell.simulator.scenario_expectations import ScenarioExpectationChecker
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from grove_shell.simulator.virtual_time import MINUTE, VirtualTimeQueue, datetime_of_virtual_time

FAULTS_STOP_AFTER: Final = 5 * MINUTE
"""All faults stop this many milliseconds after the end of the last event (SM-040)."""
_LONGEST: Final = 30 * 24 * 60 * MINUTE
_MOST_STEPS: Final = 500_000


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
        spec = scenario.spec
        self.scenario, self.options = scenario, options or SimulationOptions()
        self.until = self.options.until if self.options.until is not None else spec.until
        self.queue = VirtualTimeQueue()
        self.history = SimulationHistory(self.queue, counts_only=self.options.counts_only)
        self.cluster = _cluster_of(spec, self.queue, self.options, dump)
        self.nodes = _nodes_of(spec, self.cluster)
        self.recorder = TimelineRecorder(self.history)
        self.checks = self._checks() if self.options.checks else None
        checks = () if self.checks is None else (self.checks,)
        self.operator = self._operator((self.recorder, *checks, *self.options.observers))
        self.scheduler = SimulatedScheduler(self.cluster, self.nodes, spec.scheduler, self.history)
        self.kubelet = SimulatedKubelets(self.cluster, self.nodes, spec.kubelet, self.history)
        self.driver = SimulatedNvidiaDraDriver(self.cluster, spec.driver)
        self.users = SimulatedUserActions(
            self.cluster,
            self.kubelet,
            self.history,
            spec.start,
            self.options.admission,
            self.options.rules,
            on_set_write=None if self.checks is None else self.checks.on_user_set_write,
            manifests=dict(manifests or {}),
        )
        self.topologies = SimulatedTopologyActions(self.cluster, self.history, self.options.admission)
        self.faults = FaultInjector(self.cluster, self.operator, self.history)
        self.configuration_faults = ConfigurationFaultInjector(self.cluster, self.operator, self.history)
        nodes = SimulatedNodeController(self.cluster, self.nodes, self.scheduler, self.kubelet, self.history)
        self._handlers = handlers_by_scenario_event(
            self.users, self.topologies, nodes, self.faults, self.configuration_faults
        )
        self.expectations = ScenarioExpectationChecker(self.cluster, self.nodes, self.history, spec.expect)
        actors = (self.scheduler, self.kubelet, self.driver, self.operator)
        self.cluster.listeners = [one.on_changes for one in (*checks, self.recorder, *actors, self.expectations)]

    def _checks(self) -> AllSimulationChecks:
        spec = self.scenario.spec
        state = ActualClusterState(self.cluster, self.nodes, spec.start, gang_aware=spec.scheduler.gang_aware)
        return AllSimulationChecks(state, self.options.checks)

    def _operator(self, observers: Iterable[SimulatedOperatorObserver]) -> SimulatedOperator:
        decide = self.options.decide or partial(reconcile, rules=self.options.rules)
        statuses = StatusRecomputation(decide)
        operator = SimulatedOperator(
            self.cluster,
            self.scenario.spec.start,
            self.scenario.spec.operator,
            SimulatedOperatorDecisions(
                decide if self.options.rules.computes_status_when_scheduled else statuses.plan,
                self.options.decide_topology,
                self.options.preflight,
                self.options.rules.delays_statuses,
            ),
            observers=observers,
        )
        operator.on_start = statuses.forget
        return operator

    def run(self) -> SimulationResult:
        """Run the scenario to its end, a violation, or its stop."""
        violation = None
        try:
            rested = self._run_events()
            if self.checks is not None and rested:
                self.checks.check_at_rest(self.operator)
        except PromiseViolated as found:
            violation, rested = found.violation, False
        except BrokenInvariant as broken:
            violation, rested = PromiseViolation("PL", self.queue.now, (), f"a law is broken: {broken}"), False
        finally:
            for operator in (self.operator, *self.faults.old):
                operator.stop_process()
        if violation is None:
            self.expectations.check_expectations_before(None)
        return SimulationResult(
            scenario=self.scenario,
            end=self.queue.now,
            history=self.history,
            changes=self.cluster.changes,
            violation=violation,
            unmet=tuple(self.expectations.unmet),
            rested=rested,
            writes=self.operator.connection.attempts,
            rounds=self.operator.round_count,
            clique_states=pod_clique_states_of(self.cluster),
            expected=len(self.scenario.spec.expect),
            rules=self.options.rules.name,
            unpredicted=self.recorder.unpredicted_sentences_by_set,
            unready_at_start=len(self.kubelet.unready_at_start),
        )

    def _schedule_events(self) -> int:
        """Store the sets and topologies of the start, and schedule all events; return the end of the last one."""
        spec = self.scenario.spec
        for topology in spec.topologies:
            self.topologies.store_admitted_topology(topology)
        for manifest in spec.sets:
            self.users.apply_initial_set(manifest)
        end = max((event.at + (getattr(event.arguments, "span", 0) or 0) for event in spec.events), default=0)
        for event in spec.events:
            self.queue.schedule(event.at, partial(self._execute, event))
        if any(self._handlers[event.kind][0] is SimulationActor.FAULT for event in spec.events):
            self.queue.schedule(end + FAULTS_STOP_AFTER, self.faults.stop_faults)
            self.queue.schedule(end + FAULTS_STOP_AFTER, self.configuration_faults.stop_faults)
        return end

    def _run_events(self) -> bool:
        """Run all time steps; return whether no event was left."""
        end = self._schedule_events()
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
            if step > end + _LONGEST:
                break
            self.queue.run_next()
            self._deliver_changes()
            if self.options.tick is not None:
                self.options.tick(step, goal)
        if self.checks is not None:
            message = f"the run does not come to rest, after {self.operator.round_count} rounds of the operator"
            raise PromiseViolated(PromiseViolation("O1", self.queue.now, (), message))
        return False

    def _deliver_changes(self) -> None:
        while self.cluster.deliver_changes():
            pass

    def _execute(self, event: ScenarioEvent) -> None:
        actor, handler = self._handlers[event.kind]
        try:
            handler(event.arguments)
        except ScenarioEventWithoutEffect as nothing:
            self.history.without_effect += 1
            message = f"{event.field_name} had no effect: {nothing}"
            self.history.record(actor, NoteHistoryEntry(NoteKind.NO_EFFECT, message))
        if self.checks is not None:
            self.checks.state.clock_slack = self.faults.clock_slack


def _cluster_of(
    spec: ScenarioSpec, queue: VirtualTimeQueue, options: SimulationOptions, dump: Dump | None
) -> SimulatedCluster:
    """Return the cluster at the start, with the objects of a dump, the configuration and the served kinds."""
    roots = () if dump is None else tuple(dump.snapshot_of(root, spec.start) for root in dump.sets)
    server = InMemoryCluster(roots, lingering=True, numbered=True)
    for topology in dump.topologies.values() if dump is not None else ():
        server.add_object(topology)
    server.complete = EVERY_KIND | {TOPOLOGY_KIND}
    settings = spec.operator
    server.configuration = Configuration(
        mnnvl=settings.mnnvl.as_configuration,
        topology=settings.topology_aware_scheduling.as_configuration,
        gang_backend=settings.scheduling.as_configuration,
    )
    server.served = ServedApis(without_domains=spec.driver.installed > 0)
    _add_uncollected_objects(server, roots, options.rules)
    server.clock = lambda: datetime_of_virtual_time(spec.start, queue.now)
    cluster = SimulatedCluster(server, queue, options.admission)
    if spec.admission.watch:
        cluster.admission_watch = spec.admission.watch
        cluster.delayed_topologies = SimulatedListsAndWatches(cluster, spec.admission.watch).topology_view
    return cluster


def _add_uncollected_objects(server: InMemoryCluster, roots: Iterable[Snapshot], rules: RuleSet) -> None:
    """Add the Roles, Services and the like that a dump has of no set, for each set that has PodCliques (SM-100)."""
    for root in roots:
        missing = OWNED_KINDS.keys() - root.complete
        seen = server.snapshot_of_set(root.root.ref, root.now) if missing and root.cliques else None
        for step in creations_in_next_reconcile(seen, rules, missing) if seen is not None else ():
            server.attempt_step(step)


def _nodes_of(spec: ScenarioSpec, cluster: SimulatedCluster) -> dict[str, SimulatedNode]:
    """Return the nodes of the scenario, and cordoned nodes of unknown capacity for the pods of a dump."""
    nodes = {node.name: node for pool in spec.nodes for node in nodes_of_pool(pool)}
    for pod in cluster.all_pods():
        if pod.node and pod.node not in nodes:
            nodes[pod.node] = SimulatedNode(pod.node, {}, {}, cordoned=True)
    return nodes
