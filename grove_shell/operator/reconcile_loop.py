"""The reconcile loop: read the cache, plan, write, and repeat for each root on changes and timers, never by polling."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.steps import Attempt, Create, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import finalizer_steps_for_orphans
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.execute_concurrently import Execute, execute_steps_concurrently
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api_session import NoServerResponse
from grove_shell.client.paged_lists import KindNotListed
from grove_shell.log_lines import error_on_one_line
from grove_shell.operator.reconcile_loop_interfaces import ReconcileLoopCache, ReconcileLoopWriter
from grove_shell.operator.reconcile_schedule import RootReconcileSchedule, SetWriteThrottle, StepsDueNow
from grove_shell.operator.step_check_before_send import (
    StepCheckBeforeSend,
    attempt_of_deferred_termination,
    objects_terminated_by,
)


class _Planned(NamedTuple):
    """A plan, what it was made of, and the earlier attempts that it got (OP-103)."""

    observation: Observation
    plan: Plan
    attempts: tuple[Attempt, ...]


def _time_of_day() -> datetime:
    return datetime.now(UTC)


async def _no_events() -> None:
    return


@dataclass(kw_only=True)
class ReconcileLoop:
    """The work queue of an operator: every root at most once, its rounds one after the other.

    Attributes:
        cache: of the cluster.
        writer: writes to the cluster; None to plan and never write.
        decide: makes a plan.
        listeners: get every round.
        workers: how many roots may be in a round at once.
        flush_events: waits until the Events about a plan are written; called before a gang is terminated (OP-042).
        clock: returns the time of day.
        new_schedule: returns the schedule of a new root, given what enqueues it.
    """

    cache: ReconcileLoopCache
    writer: ReconcileLoopWriter | None
    decide: Callable[[Observation], Plan]
    listeners: tuple[ReconcileRoundListener, ...] = ()
    workers: int = 16
    flush_events: Callable[[], Awaitable[None]] = _no_events
    clock: Callable[[], datetime] = _time_of_day
    new_schedule: Callable[[Callable[[], None]], RootReconcileSchedule] = RootReconcileSchedule

    def __post_init__(self) -> None:
        self._queue: dict[RootKey, RootReconcileSchedule] = {}
        self._slots = asyncio.Semaphore(self.workers)
        self._is_active = False
        self._closing = asyncio.Event()

    @property
    def queue_depth(self) -> int:
        """How many roots wait for a round."""
        return sum(schedule.is_dirty for schedule in self._queue.values())

    def enqueue(self, root_key: RootKey) -> None:
        """Ask for a round of a root. Several calls make one round; before ``start`` and after ``close`` none."""
        if not self._is_active or self._closing.is_set():
            return
        schedule = self._queue.get(root_key)
        if schedule is None:
            schedule = self._queue[root_key] = self.new_schedule(partial(self.enqueue, root_key))
        schedule.is_dirty = True
        if schedule.task is None:
            schedule.task = asyncio.get_running_loop().create_task(self._work(root_key, schedule))

    def start(self) -> None:
        """Begin rounds, with one of every root in the cache (OP-030)."""
        self._is_active = True
        for root_key in self.cache.root_keys():
            self.enqueue(root_key)

    def pause(self) -> None:
        """Begin no round until ``start`` is called again."""
        self._is_active = False

    async def close(self) -> None:
        """Begin no further round, and wait until those that run have ended."""
        self._closing.set()
        for schedule in self._queue.values():
            schedule.cancel_scheduled_round()
        tasks = [schedule.task for schedule in self._queue.values() if schedule.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, root_key: RootKey, schedule: RootReconcileSchedule) -> None:
        try:
            while schedule.is_dirty:
                await self._rested(schedule)
                async with self._slots:
                    if not self._is_active or self._closing.is_set():
                        return
                    schedule.is_dirty = False
                    await self._guarded_round(root_key, schedule)
        finally:
            schedule.task = None
            if not self.cache.has_anything_of_root(root_key) and not schedule.is_dirty:
                self._forget(root_key, schedule)

    async def _rested(self, schedule: RootReconcileSchedule) -> None:
        """Wait until the root may have a round, or the loop is closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(schedule.not_before):
                await self._closing.wait()

    def _forget(self, root_key: RootKey, schedule: RootReconcileSchedule) -> None:
        """Keep nothing of a root that is gone (OP-041)."""
        schedule.cancel_scheduled_round()
        self._queue.pop(root_key, None)
        for listener in self.listeners:
            listener.on_root_deleted(root_key)

    async def _guarded_round(self, root_key: RootKey, schedule: RootReconcileSchedule) -> None:
        """Run one round; an error of one root delays no other (OP-020)."""
        try:
            await self._round(root_key, schedule)
        except (NoServerResponse, KindNotListed) as fault:
            self._round_failed(root_key, schedule, str(fault))
        except BrokenInvariant as fault:
            self._round_failed(root_key, schedule, f"broken invariant: {fault}")
        except Exception as fault:  # noqa: BLE001 - the root gets its next round after an internal error too (OP-023)
            self._round_failed(root_key, schedule, f"internal error: {error_on_one_line(fault)}")

    def _round_failed(self, root_key: RootKey, schedule: RootReconcileSchedule, words: str) -> None:
        schedule.schedule_retry_of_failed_round()
        for listener in self.listeners:
            listener.on_round_failed(root_key, words)

    async def _round(self, root_key: RootKey, schedule: RootReconcileSchedule) -> None:
        loop = asyncio.get_running_loop()
        began, relisting = loop.time(), 0.0
        immediate, schedule.is_immediate = schedule.is_immediate, False
        planned = self._plan_root(root_key, schedule.attempts_for_next_round(immediate=immediate))
        if planned is None:
            await self._drop_finalizers(root_key, schedule, immediate=immediate)
            return
        if self.writer is not None and objects_terminated_by(planned.plan.steps):
            relist_began = loop.time()
            schedule.pause_after_round(relist_began - began)
            planned = await self._plan_after_relist(root_key, schedule, self.writer, planned.attempts)
            relisting = loop.time() - relist_began
            if planned is None:
                return
        observation, plan, attempts = planned
        if isinstance(observation, Snapshot):
            schedule.forget_unwanted_writes(plan, observation)
        seconds = loop.time() - began - relisting  # other roots wait for planning, and for nothing else
        schedule.pause_after_round(seconds)
        planned_round = PlannedReconcileRound(
            root_key=root_key, plan_name=uuid4().hex[:12], observation=observation, plan=plan, planning_seconds=seconds
        )
        for listener in self.listeners:
            listener.on_round_planned(planned_round)
        schedule.schedule_round_at(plan.wake_at, self.clock())
        schedule.schedule_withheld_retry(immediate=immediate)
        if self.writer is None or not plan.steps:
            schedule.reset_backoff()
            return
        recheck = self._recheck(planned_round, attempts)
        execute = self.writer.step_executor(recheck.withdrawn_because)
        await self._execute(planned_round, schedule, execute, immediate=immediate)

    def _recheck(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> StepCheckBeforeSend:
        return StepCheckBeforeSend(
            planned_round.observation,
            planned_round.plan.steps,
            observe=partial(self._observe, planned_round.root_key, attempts),
            plan=self._checked_plan,
            pods=partial(self.cache.pod_uids_of_clique, planned_round.root_key),
        )

    async def _execute(
        self,
        planned_round: PlannedReconcileRound,
        schedule: RootReconcileSchedule,
        execute: Execute,
        *,
        immediate: bool,
    ) -> None:
        if objects_terminated_by(planned_round.plan.steps):
            await self.flush_events()
        due = _due(schedule.throttle, planned_round.plan, planned_round.observation)
        if due.wait:
            schedule.schedule_round_in(due.wait)
        attempts = await execute_steps_concurrently(execute, due.steps)
        if any(isinstance(step.action, Create) for step in due.steps):
            schedule.pause_after_round()  # a new object causes events, and one round is enough for all of them
        for listener in self.listeners:
            listener.on_steps_executed(planned_round, attempts)
        schedule.record_attempts(attempts, immediate=immediate, has_moved=self._has_moved)

    def _has_moved(self, step: Step) -> bool:
        """Return whether an object that a deletion depends on is not cached as it was judged (PL-015)."""
        rests_on = step.action.rests_on if isinstance(step.action, Delete) else ()
        found = ((self.cache.find_object(ref), guard) for ref, guard in rests_on)
        return any(one is None or one.guard != guard for one, guard in found)

    def _plan_root(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> _Planned | None:
        observation = self._observe(root_key, attempts)
        return None if observation is None else _Planned(observation, self._checked_plan(observation), attempts)

    async def _plan_after_relist(
        self,
        root_key: RootKey,
        schedule: RootReconcileSchedule,
        writer: ReconcileLoopWriter,
        attempts: tuple[Attempt, ...],
    ) -> _Planned | None:
        """Plan on what the server shows; where it does not answer, defer terminations and nothing else (OP-013)."""
        fault: Exception | None = None
        try:
            await writer.relist_set(root_key)
        except (NoServerResponse, KindNotListed) as silence:
            fault = silence
        planned = self._plan_root(root_key, attempts)
        if fault is None or planned is None or not objects_terminated_by(planned.plan.steps):
            return planned
        deferred = attempt_of_deferred_termination(planned.plan.steps, str(fault))
        schedule.withhold_terminations(deferred)
        attempts += deferred
        observation = replace(planned.observation, attempts=attempts)
        return _Planned(observation, self._checked_plan(observation), attempts)

    def _observe(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> Observation | None:
        """Return the snapshot of a root at this moment; None where it is gone."""
        return self.cache.snapshot_of_root(root_key, self.clock(), attempts)

    def _checked_plan(self, observation: Observation) -> Plan:
        """Raise BrokenInvariant where the plan breaks a law of planning (OP-052)."""
        plan = self.decide(observation)
        problems = broken_laws_in_plan(plan, observation)
        if problems:
            raise BrokenInvariant(problems[0].law, "; ".join(map(str, problems[:3])))
        return plan

    async def _drop_finalizers(self, root_key: RootKey, schedule: RootReconcileSchedule, *, immediate: bool) -> None:
        """Drop the finalizers of what a deleted set left behind (WL-001); a topology leaves nothing."""
        if self.cache.is_set_known_absent(root_key):  # its parts may stay for good, after a deletion that orphans them
            for listener in self.listeners:
                listener.on_root_deleted(root_key)
        if self.writer is None:
            return
        withheld = schedule.backlog.withheld_targets
        steps = [
            step
            for step in finalizer_steps_for_orphans(self.cache.leftovers_of_deleted_set(root_key))
            if step.target not in withheld
        ]
        schedule.schedule_withheld_retry(immediate=immediate)
        if not steps:
            schedule.reset_backoff()
            return
        attempts = await execute_steps_concurrently(self.writer.step_executor(), steps)
        for listener in self.listeners:
            listener.on_finalizers_dropped(root_key, attempts)
        schedule.record_attempts(attempts, immediate=immediate)


def _due(throttle: SetWriteThrottle, plan: Plan, observation: Observation) -> StepsDueNow:
    """Return the steps that are tried now; a topology has no status that could wait."""
    if isinstance(observation, Snapshot):
        return throttle.steps_to_try_now(plan.steps, observation, asyncio.get_running_loop().time())
    return StepsDueNow(plan.steps, 0.0)
