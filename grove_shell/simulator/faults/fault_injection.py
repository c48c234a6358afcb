"""Injects faults of the operator, of its caches and its connection, and writes of other clients (F1 to F13)."""

from random import Random
from typing import Final

from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DropFinalizer, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.object_after_write import object_after_merge_patch
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.operator.simulated_api_connection import InjectedWriteFault
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
from grove_shell.simulator.recording.simulation_history import (
    ScenarioEventWithoutEffect,
    SimulationActor,
    SimulationHistory,
)
from grove_shell.simulator.scenario.fault_events import (
    CrashOperatorFault,
    EditLabelsFault,
    EditStatusFault,
    ForeignFinalizerFault,
    ForeignSchedulingGateFault,
    JumpClockFault,
    LagCacheFault,
    LoseAnswersFault,
    PermuteListsFault,
    RefuseWritesFault,
    RelistFault,
    RemoveLabelsFault,
    SecondLeaderFault,
    SlowAnswersFault,
    TouchFault,
)
from grove_shell.simulator.scenario.scenario_field_types import KINDS
from grove_shell.simulator.virtual_time import go_duration_text

_FOREIGN: Final = "example.com/held"
_NEVER: Final = 1 << 60


class FaultInjector:
    """Injects the faults of a scenario.

    Attributes:
        clock_slack: the largest difference of two offsets of the operator's clock so far, in milliseconds; times
            recorded with either of them may be compared.
        old: the replaced leaders.
    """

    def __init__(self, cluster: SimulatedCluster, operator: SimulatedOperator, history: SimulationHistory) -> None:
        self.cluster = cluster
        self.operator = operator
        self.history = history
        self.clock_slack = 0
        self._clock_offsets = [0]
        self.old: list[SimulatedOperator] = []
        self._slow_until = 0

    def stop_faults(self) -> None:
        """Stop all faults."""
        self.operator.stop_faults()
        self.operator.clock_offset = 0
        self.operator.watches.frozen.clear()
        self.operator.watches.shuffle = None
        for leader in self.old:
            leader.stop_process()
        self.operator.watches.apply_arrived_changes()

    def crash_operator(self, fault: CrashOperatorFault) -> None:
        """Crash the operator (F1)."""
        if fault.write:
            when = "after" if fault.committed else "before"
            self.history.record_fault(f"the operator will crash {when} write {fault.write} from now")
        self.operator.crash_later(fault)

    def freeze_cache(self, fault: LagCacheFault) -> None:
        """Freeze the operator's cache of some kinds (F2, F3)."""
        self.history.record_fault(
            f"the operator's cache of {', '.join(fault.kinds)} is frozen for {go_duration_text(fault.span)}"
        )
        for kind in fault.kinds:
            self.operator.watches.frozen[kind] = self._now + fault.span
        self.cluster.queue.schedule_after(fault.span, self.operator.watches.apply_arrived_changes)

    def relist_all_kinds(self, fault: RelistFault) -> None:
        """Relist all kinds (F2, F3)."""
        self.history.record_fault(f"the operator relists everything, as of {go_duration_text(fault.back)} ago")
        self.operator.watches.relist(fault.back)
        for kind in KINDS if fault.back else ():  # the next round sees the past, the one after it the present
            frozen = self.operator.watches.frozen
            frozen[kind] = max(frozen.get(kind, 0), self._now + 1)
        self.cluster.queue.schedule_after(1, self.operator.watches.apply_arrived_changes)
        self.operator.enqueue_all()

    def write_before_operator(self, fault: TouchFault) -> None:
        """Let another client write first (F4)."""
        self.history.record_fault(
            f"another client writes to a {fault.kind} just before each of the operator's next {fault.writes} writes"
        )
        self.operator.connection.touches.append(InjectedWriteFault(fault.kind, fault.writes))

    def lose_responses(self, fault: LoseAnswersFault) -> None:
        """Lose responses (F5)."""
        self.history.record_fault(f"the responses to the operator's next {fault.writes} writes are lost")
        self.operator.connection.losses.append(InjectedWriteFault(None, fault.writes))

    def refuse_writes(self, fault: RefuseWritesFault) -> None:
        """Refuse writes (F6, F7)."""
        self.history.record_fault(
            f"the API server responds with {fault.code} to the next {fault.writes} writes of {fault.kind or 'any kind'}"
        )
        self.operator.connection.refusals.append(InjectedWriteFault(fault.kind, fault.writes, fault.code))

    def delay_writes(self, fault: SlowAnswersFault) -> None:
        """Delay writes (F6)."""
        delay, span = go_duration_text(fault.delay), go_duration_text(fault.span)
        self.history.record_fault(f"each write of the operator takes {delay} longer for {span}")
        wire = self.operator.connection
        wire.extra_latency = fault.delay
        self._slow_until = self._now + fault.span

        def stop() -> None:
            if self._now >= self._slow_until:
                wire.extra_latency = 0

        self.cluster.queue.schedule_after(fault.span, stop)

    def run_second_leader(self, fault: SecondLeaderFault) -> None:
        """Run a second operator whose caches are frozen from now on (F8)."""
        self.history.record_fault(f"an old leader goes on for {go_duration_text(fault.span)} with its last cache")
        old = SimulatedOperator(
            self.cluster,
            self.operator.start,
            self.operator.spec,
            self.operator.decisions,
            actor=SimulationActor.SECOND,
            observers=self.operator.observers,
        )
        old.watches.relist(self.operator.spec.watch)
        old.watches.frozen = dict.fromkeys(map(str, KINDS), _NEVER)
        self.old.append(old)
        for at in range(fault.every, fault.span, fault.every):
            self.cluster.queue.schedule_after(at, old.enqueue_all)
        self.cluster.queue.schedule_after(fault.span, old.stop_process)

    def jump_clock(self, fault: JumpClockFault) -> None:
        """Move the operator's clock (F9)."""
        off = fault.ahead - fault.back
        self.history.record_fault(
            f"the operator's clock is {go_duration_text(abs(off))} {'ahead' if off >= 0 else 'behind'}"
        )
        self._clock_offsets.append(off)
        self.clock_slack = max(self._clock_offsets) - min(self._clock_offsets)
        self.operator.clock_offset = off
        self.cluster.queue.schedule_after(fault.span, self._right_clock)

    def add_foreign_finalizer(self, fault: ForeignFinalizerFault) -> None:
        """Add a foreign finalizer to an object (F10). Raises ScenarioEventWithoutEffect if that is not possible."""
        item = self._found(fault.kind, fault.name)
        if _FOREIGN in item.finalizers or item.deleting:
            raise ScenarioEventWithoutEffect(
                f"{item.ref.short} is {'being deleted' if item.deleting else 'held'} already"
            )
        self.history.record_fault(f"{item.ref.short} has a foreign finalizer for {go_duration_text(fault.span)}")
        self.cluster.put_object(replace(item, finalizers=(*item.finalizers, _FOREIGN)))
        self.cluster.queue.schedule_after(fault.span, lambda: self._release(item.ref))

    def add_foreign_scheduling_gate(self, fault: ForeignSchedulingGateFault) -> None:
        """Add a foreign scheduling gate to a pod (F10). Raises ScenarioEventWithoutEffect if that is not possible."""
        pod = self.cluster.pod_with_index(fault.clique, fault.index)
        if pod is None:
            raise ScenarioEventWithoutEffect(f"there is no pod {fault.index} of {fault.clique}")
        if pod.node or pod.deleting:
            raise ScenarioEventWithoutEffect(
                f"pod {pod.name} is {'being deleted' if pod.deleting else 'placed'} already"
            )
        self.history.record_fault(f"{pod.ref.short} has a foreign gate for {go_duration_text(fault.span)}")
        self.cluster.gated.add(pod.uid)
        self.cluster.put_pod(replace(pod, gated=True))
        self.cluster.queue.schedule_after(fault.span, lambda: self._ungate(pod))

    def write_wrong_clique_status(self, fault: EditStatusFault) -> None:
        """Write wrong counts into the status of a PodClique (F10)."""
        clique = self._found("PodClique", fault.clique)
        assert isinstance(clique, PodClique)  # noqa: S101 - its kind
        self.history.record_fault(f"another client writes wrong counts into the status of {clique.ref.short}")
        self.cluster.put_object(replace(clique, status=replace(clique.status, ready=7, replicas=0, scheduled=3)))

    def remove_labels_of_clique(self, fault: RemoveLabelsFault) -> None:
        """Remove all labels of a PodClique (F10)."""
        clique = self._found("PodClique", fault.clique)
        assert isinstance(clique, PodClique)  # noqa: S101 - its kind
        self.history.record_fault(f"another client removes all labels of {clique.ref.short}")
        self.cluster.put_object(replace(clique, labels=EMPTY, template_hash="", base_gang=""))

    def edit_labels_of_object(self, fault: EditLabelsFault) -> None:
        """Edit labels of an object (F10). Raises ScenarioEventWithoutEffect where that changes nothing."""
        item = self._found(fault.kind, fault.name)
        assert isinstance(item, PodClique | PodGang | ComputeDomain | OwnedObject)  # noqa: S101 - the kinds that the event allows
        changed = object_after_merge_patch(
            item, FrozenMap({"metadata": FrozenMap({"labels": FrozenMap(fault.labels)})})
        )
        if changed == item:
            raise ScenarioEventWithoutEffect(f"{item.ref.short} has these labels already")
        edits = ", ".join(
            f"{key} {'removed' if text is None else f'set to {text}'}" for key, text in fault.labels.items()
        )
        self.history.record_fault(f"a user edits labels of {item.ref.short}: {edits}")
        self.cluster.put_object(changed)

    def randomize_list_order(self, fault: PermuteListsFault) -> None:
        """Put the operator's lists in random order (F12)."""
        self.history.record_fault(f"the operator's lists come in random order for {go_duration_text(fault.span)}")
        mine = self.operator.watches.shuffle = Random(fault.seed)  # noqa: S311 - an order is no secret

        def stop() -> None:
            if self.operator.watches.shuffle is mine:
                self.operator.watches.shuffle = None

        self.cluster.queue.schedule_after(fault.span, stop)

    def _found(self, kind: str, name: str) -> StoredObject:
        item = self.cluster.find_object(kind, name)
        if item is None:
            raise ScenarioEventWithoutEffect(f"there is no {kind} {name}")
        return item

    @property
    def _now(self) -> int:
        return self.cluster.queue.now

    def _right_clock(self) -> None:
        self.operator.clock_offset = 0

    def _release(self, ref: Ref) -> None:
        item = self.cluster.server.items.get(ref)
        if item is not None and _FOREIGN in item.finalizers:
            self.cluster.attempt_step(Step(StepStage.CLEANUP, ref, DropFinalizer(_FOREIGN, item.guard), ()))

    def _ungate(self, before: Pod) -> None:
        self.cluster.gated.discard(before.uid)
        pod = self.cluster.server.get_pod(before.ref)
        if pod is not None and pod.uid == before.uid and pod.gated and not pod.has_grove_gate:
            self.cluster.put_pod(replace(pod, gated=False))
