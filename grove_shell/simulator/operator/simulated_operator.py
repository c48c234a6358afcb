"""The simulated operator: its processes, one after the other, and the faults that end them."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.plan.plan import Plan
from grove_core.preflight import PreflightObjection, preflight_objections
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.configuration import Configuration, ServedApis
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.operator.simulated_api_connection import SimulatedApiConnection
from grove_shell.simulator.operator.simulated_operator_process import (
    SimulatedOperatorObserver,
    SimulatedOperatorProcess,
)
from grove_shell.simulator.operator.simulated_watches import SimulatedListsAndWatches
from grove_shell.simulator.recording.simulation_history import SimulationActor
from grove_shell.simulator.scenario.fault_events import CrashOperatorFault
from grove_shell.simulator.scenario.scenario import ScenarioOperatorSpec
from grove_shell.simulator.virtual_time import SECOND, datetime_of_virtual_time

Decide: TypeAlias = Callable[[Snapshot], Plan]
DecideTopology: TypeAlias = Callable[[ClusterTopologySnapshot], Plan]
Preflight: TypeAlias = Callable[[Configuration, ServedApis], tuple[PreflightObjection, ...]]


class SimulatedOperatorDecisions(NamedTuple):
    """How the simulated operator decides.

    Attributes:
        decide, decide_topology: make a plan for a set, or for a topology.
        preflight: returns why a process exits at its start; None if it does not.
        delays_statuses: whether statuses wait while objects are written (OP-024).
    """

    decide: Decide
    decide_topology: DecideTopology = reconcile_topology
    preflight: Preflight = preflight_objections
    delays_statuses: bool = True


_RESTART_AFTER: Final = 10 * SECOND


class SimulatedOperator:
    """The operator of a cluster, or an old leader.

    Attributes:
        configuration: the configuration at the start of its process.
        watches: feed the cache of its process.
        clock_offset: milliseconds that its clock is ahead.
        on_start: called before each process after the first one begins.
    """

    def __init__(
        self,
        cluster: SimulatedCluster,
        start: datetime,
        spec: ScenarioOperatorSpec,
        decisions: SimulatedOperatorDecisions,
        *,
        actor: SimulationActor = SimulationActor.OPERATOR,
        observers: Iterable[SimulatedOperatorObserver] = (),
    ) -> None:
        self.cluster = cluster
        self.start = start
        self.spec = spec
        self.decisions = decisions
        self.actor = actor
        self.observers = tuple(observers)
        self.on_start: Callable[[], None] | None = None
        self._process: SimulatedOperatorProcess | None = None
        self.watches = SimulatedListsAndWatches(cluster, spec.watch, self._enqueue)
        self.connection = SimulatedApiConnection(cluster, spec.write)
        self.clock_offset = 0
        self._crash_fault: CrashOperatorFault | None = None
        self._crashes_left = 0
        self.configuration = cluster.server.configuration
        self._down_until = cluster.queue.now
        self._earlier_rounds = 0
        self._start()

    @property
    def round_count(self) -> int:
        """The number of rounds so far, over all roots."""
        return self._earlier_rounds + (self._process.rounds if self._process is not None else 0)

    def on_changes(self, _changes: Iterable[ObjectChange]) -> None:
        """Let the changes arrive in the cache after the watch delay."""
        self.cluster.queue.schedule_after(self.spec.watch, self.watches.apply_arrived_changes)

    def enqueue_all(self) -> None:
        """Ask for a round of every root."""
        if self._process is not None:
            self._process.enqueue_all()

    def _enqueue(self, root_key: RootKey) -> None:
        if self._process is not None:
            self._process.enqueue(root_key)

    def crash_later(self, fault: CrashOperatorFault) -> None:
        """Crash at a later write or at once, as often as the fault requires."""
        self._crash_fault, self._crashes_left = fault, fault.times
        self._arm_crash()

    def stop_faults(self) -> None:
        """Remove all faults of the process and its connection."""
        self._crash_fault, self._crashes_left = None, 0
        self.connection.stop_faults()

    def stop_process(self) -> None:
        """End the process."""
        if self._process is not None:
            self._earlier_rounds += self._process.rounds
            self._process.stop_process()
            self._process = None

    def _arm_crash(self) -> None:
        fault, connection = self._crash_fault, self.connection
        if fault is None or not self._crashes_left:
            return
        if fault.write:
            connection.crash_at, connection.committed = connection.attempts + fault.write, fault.committed
        else:
            self._crash(0)

    def _crash(self, writes: int) -> None:
        """Lose all state of the process, and start another one after its down time."""
        for observer in self.observers:
            observer.on_operator_crash(self.actor, writes)
        fault = self._crash_fault
        if fault is None:
            return
        self.stop_process()
        self._crashes_left -= 1
        self.connection.crash_at = None
        self._start_at(self.cluster.queue.now + fault.down)

    def _start_at(self, at: int) -> None:
        self._down_until = at
        self.cluster.queue.schedule(at, self._start)

    def _start(self) -> None:
        now = self.cluster.queue.now
        if now != self._down_until:
            return
        self.configuration = self.cluster.server.configuration
        if self.actor is SimulationActor.OPERATOR and not self._passes_preflight():
            self._start_at(now + _RESTART_AFTER)
            return
        self.watches.list_into_empty_cache(self.configuration)
        if self.on_start is not None:
            self.on_start()
        self._process = SimulatedOperatorProcess(
            queue=self.cluster.queue,
            watches=self.watches,
            connection=self.connection,
            decide=self.plan_for_root,
            clock=lambda: datetime_of_virtual_time(self.start, self.cluster.queue.now + self.clock_offset),
            shortest_rest=self.spec.round,
            delays_statuses=self.decisions.delays_statuses,
            actor=self.actor,
            observers=self.observers,
            crash=self._crash,
        )
        self._arm_crash()

    def _passes_preflight(self) -> bool:
        """Return whether the process passes its preflight; Kubernetes restarts one that exits."""
        objections = self.decisions.preflight(self.configuration, self.cluster.server.served)
        for observer in self.observers:
            observer.on_operator_start(self.actor, self.configuration, objections[0].because if objections else None)
        return not objections

    def plan_for_root(self, observation: Observation) -> Plan:
        """Return the plan of a set or a topology."""
        return (
            self.decisions.decide_topology(observation)
            if isinstance(observation, ClusterTopologySnapshot)
            else self.decisions.decide(observation)
        )
