"""Faults: what goes wrong between the operator and the server, and what strangers do (F1 to F13)."""

from dataclasses import replace
from random import Random
from typing import Final

from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DropFinalizer, Stage, Step
from grove_core.resources.after_apply import with_applied_fields
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.faults.changed_hashes import other_hash, with_other_hashes
from grove_shell.simulator.operator.api_connection import WriteFault
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
from grove_shell.simulator.recording.history import Actor, EntryKind, History, NoEffect
from grove_shell.simulator.scenario.fault_events import (
    ChangeHashes,
    CrashOperator,
    EditLabels,
    EditStatus,
    GateForeign,
    HoldForeign,
    JumpClock,
    LagCache,
    LoseAnswers,
    PermuteLists,
    RefuseWrites,
    Relist,
    RemoveLabels,
    SecondLeader,
    SlowAnswers,
    Touch,
)
from grove_shell.simulator.scenario.field_types import KINDS
from grove_shell.simulator.virtual_time import span_text

_FOREIGN: Final = "example.com/held"
_NEVER: Final = 1 << 60


class FaultInjector:
    """Everything that goes wrong.

    Attributes:
        clocks: how far the operator's clock was off so far, at the least and at the most: what was noted by one may be
            judged by the other.
        old: the leaders that were replaced.
    """

    def __init__(self, cluster: SimulatedCluster, operator: SimulatedOperator, history: History) -> None:
        self.cluster = cluster
        self.operator = operator
        self.history = history
        self.clocks = (0, 0)
        self.old: list[SimulatedOperator] = []
        self._slow_until = 0

    def stop_faults(self) -> None:
        """All faults stop."""
        self.operator.stop_faults()
        self.operator.clock_offset = 0
        self.operator.informers.frozen.clear()
        self.operator.informers.shuffle = None
        for leader in self.old:
            leader.stopped = True
        self.operator.schedule_round(self._now)

    def crash_operator(self, fault: CrashOperator) -> None:
        """F1."""
        if fault.write:
            when = "after" if fault.committed else "before"
            self._tell(f"the operator will crash {when} write {fault.write} from now")
        self.operator.crash_later(fault)

    def lag_cache(self, fault: LagCache) -> None:
        """F2, F3."""
        self._tell(f"the operator's cache of {', '.join(fault.kinds)} stands still for {span_text(fault.span)}")
        for kind in fault.kinds:
            self.operator.informers.frozen[kind] = self._now + fault.span
        self.cluster.queue.schedule_after(fault.span, lambda: self.operator.schedule_round(self._now))

    def relist(self, fault: Relist) -> None:
        """F2, F3."""
        self._tell(f"the operator lists everything anew, as of {span_text(fault.back)} ago")
        self.operator.informers.relist(fault.back)
        for kind in KINDS if fault.back else ():  # the next look sees the past, the one after it the present
            frozen = self.operator.informers.frozen
            frozen[kind] = max(frozen.get(kind, 0), self._now + 1)
        self.operator.schedule_round(self._now)

    def touch(self, fault: Touch) -> None:
        """F4."""
        self._tell(f"somebody writes to a {fault.kind} just before each of the operator's next {fault.writes} writes")
        self.operator.connection.touches.append(WriteFault(fault.kind, fault.writes))

    def lose_answers(self, fault: LoseAnswers) -> None:
        """F5."""
        self._tell(f"the answers to the operator's next {fault.writes} writes are lost")
        self.operator.connection.losses.append(WriteFault(None, fault.writes))

    def refuse_writes(self, fault: RefuseWrites) -> None:
        """F6, F7."""
        self._tell(f"the server answers {fault.code} to the next {fault.writes} writes of {fault.kind or 'any kind'}")
        self.operator.connection.refusals.append(WriteFault(fault.kind, fault.writes, fault.code))

    def slow_answers(self, fault: SlowAnswers) -> None:
        """F6."""
        words = f"each write of the operator takes {span_text(fault.delay)} longer for {span_text(fault.span)}"
        self._tell(words)
        wire = self.operator.connection
        wire.extra_latency = fault.delay
        self._slow_until = self._now + fault.span

        def stop() -> None:
            if self._now >= self._slow_until:
                wire.extra_latency = 0

        self.cluster.queue.schedule_after(fault.span, stop)

    def change_hashes(self, fault: ChangeHashes) -> None:
        """F13: what is stored was hashed by another function than that of the operator that begins."""
        self._tell("a new release of the operator begins, with another hash function")
        for item in tuple(self.cluster.server.items.values()):
            other = with_other_hashes(item)
            if other is not item:
                self.cluster.put(other)
        for pod in tuple(self.cluster.pods()):
            if pod.template_hash:
                self.cluster.put_pod(replace(pod, template_hash=other_hash(pod.template_hash)))
        self.operator.crash_later(CrashOperator(down=fault.down))

    def second_leader(self, fault: SecondLeader) -> None:
        """F8: the old leader's caches stand still from now on."""
        self._tell(f"an old leader goes on for {span_text(fault.span)} on what it saw last")
        old = SimulatedOperator(
            self.cluster,
            self.operator.start,
            self.operator.spec,
            self.operator.decide,
            actor=Actor.SECOND,
            decide_topology=self.operator.decide_topology,
            observers=self.operator.observers,
        )
        old.informers.relist(self.operator.spec.watch)
        old.informers.frozen = dict.fromkeys(map(str, KINDS), _NEVER)
        self.old.append(old)
        for moment in range(fault.every, fault.span, fault.every):
            self.cluster.queue.schedule_after(moment, old.look)
        self.cluster.queue.schedule_after(fault.span, lambda: setattr(old, "retired", True))

    def jump_clock(self, fault: JumpClock) -> None:
        """F9."""
        off = fault.ahead - fault.back
        self._tell(f"the operator's clock is {span_text(abs(off))} {'ahead' if off >= 0 else 'behind'}")
        self.clocks = (min(off, *self.clocks), max(off, *self.clocks))
        self.operator.clock_offset = off
        self.operator.schedule_round(self._now)
        self.cluster.queue.schedule_after(fault.span, self._right_clock)

    def hold_foreign(self, fault: HoldForeign) -> None:
        """F10."""
        item = self.cluster.find(fault.kind, fault.name)
        if item is None:
            raise NoEffect(f"there is no {fault.kind} {fault.name}")
        if _FOREIGN in item.finalizers or item.deleting:
            raise NoEffect(f"{item.ref.short} is {'being deleted' if item.deleting else 'held'} already")
        self._tell(f"somebody else's finalizer is on {item.ref.short} for {span_text(fault.span)}")
        self.cluster.put(replace(item, finalizers=(*item.finalizers, _FOREIGN)))
        self.cluster.queue.schedule_after(fault.span, lambda: self._release(item.ref))

    def gate_foreign(self, fault: GateForeign) -> None:
        """F10."""
        pod = self.cluster.pod_at(fault.clique, fault.index)
        if pod is None:
            raise NoEffect(f"there is no pod {fault.index} of {fault.clique}")
        if pod.node or pod.deleting:
            raise NoEffect(f"pod {pod.name} is {'being deleted' if pod.deleting else 'placed'} already")
        self._tell(f"somebody else's gate is on {pod.ref.short} for {span_text(fault.span)}")
        self.cluster.gated.add(pod.uid)
        self.cluster.put_pod(replace(pod, gated=True))
        self.cluster.queue.schedule_after(fault.span, lambda: self._ungate(pod))

    def edit_status(self, fault: EditStatus) -> None:
        """F10."""
        clique = self.cluster.clique(fault.clique)
        if clique is None:
            raise NoEffect(f"there is no PodClique {fault.clique}")
        self._tell(f"somebody writes nonsense into the status of {clique.ref.short}")
        self.cluster.put(replace(clique, status=replace(clique.status, ready=7, replicas=0, scheduled=3)))

    def remove_labels(self, fault: RemoveLabels) -> None:
        """F10."""
        clique = self.cluster.clique(fault.clique)
        if clique is None:
            raise NoEffect(f"there is no PodClique {fault.clique}")
        self._tell(f"somebody takes all labels from {clique.ref.short}")
        self.cluster.put(replace(clique, labels=EMPTY, template_hash="", base_gang=""))

    def edit_labels(self, fault: EditLabels) -> None:
        """F10."""
        item = self.cluster.find(fault.kind, fault.name)
        if item is None:
            raise NoEffect(f"there is no {fault.kind} {fault.name}")
        assert isinstance(item, PodClique | PodGang | ComputeDomain | OwnedObject)  # noqa: S101 - the kinds of the event
        changed = with_applied_fields(item, FrozenMap({"metadata": FrozenMap({"labels": FrozenMap(fault.labels)})}))
        if changed == item:
            raise NoEffect(f"the labels of {item.ref.short} say so already")
        said = ", ".join(f"{key} {'goes' if text is None else f'is {text}'}" for key, text in fault.labels.items())
        self._tell(f"somebody edits labels of {item.ref.short}: {said}")
        self.cluster.put(changed)

    def permute_lists(self, fault: PermuteLists) -> None:
        """F12."""
        self._tell(f"the operator's lists come in any order for {span_text(fault.span)}")
        mine = self.operator.informers.shuffle = Random(fault.seed)  # noqa: S311 - an order is no secret

        def stop() -> None:
            if self.operator.informers.shuffle is mine:
                self.operator.informers.shuffle = None

        self.cluster.queue.schedule_after(fault.span, stop)

    @property
    def _now(self) -> int:
        return self.cluster.queue.now

    def _right_clock(self) -> None:
        self.operator.clock_offset = 0
        self.operator.schedule_round(self._now)

    def _release(self, ref: Ref) -> None:
        item = self.cluster.server.items.get(ref)
        if item is not None and _FOREIGN in item.finalizers:
            self.cluster.attempt(Step(Stage.CLEANUP, ref, DropFinalizer(_FOREIGN, item.guard), ()))

    def _ungate(self, before: Pod) -> None:
        self.cluster.gated.discard(before.uid)
        pod = self.cluster.server.pod(before.ref)
        if pod is not None and pod.uid == before.uid and pod.gated and not pod.has_grove_gate:
            self.cluster.put_pod(replace(pod, gated=False))

    def _tell(self, what: str) -> None:
        self.history.record(self._now, Actor.FAULT, EntryKind.FAULT, detail=what)
