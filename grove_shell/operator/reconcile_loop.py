"""Rounds: observe, reconcile, act, again; each root by itself, woken by changes and by the clock, never by a poll."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Protocol
from uuid import uuid4

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.steps import Attempt, Create, Delete, Outcome, Step
from grove_core.plan.laws import problems_in
from grove_core.plan.plan import Plan
from grove_core.reconcile import drop_finalizers
from grove_core.snapshot.snapshot import Snapshot
from grove_shell import internal_errors
from grove_shell.apply.pod_relist import Execute
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api import Unreachable
from grove_shell.client.lists import NotListed
from grove_shell.controller.execute_concurrently import execute_concurrently
from grove_shell.controller.round_listener import PlannedRound, RoundListener
from grove_shell.operator.requeue import Requeue
from grove_shell.operator.step_recheck import StepRecheck, terminated_by, unconfirmed
from grove_shell.operator.write_throttle import DueWrites, WriteThrottle


class Executing(Protocol):
    """How steps are tried, and how the last look before an end is taken."""

    def trial(self, unless: Callable[[Step], str | None] = ...) -> Execute:
        """What tries the steps of one round, unless somebody says why one is not to be done any more."""
        ...

    async def refresh(self, root_key: RootKey) -> None:
        """Ask the server itself for everything of a set, caches apart. Raises Unreachable."""
        ...


class _Judgement(NamedTuple):
    """What was seen, the plan of that, and what of earlier rounds stood for it (OP-103)."""

    seen: Observation
    plan: Plan
    stands: tuple[Attempt, ...]


async def _at_once() -> None:
    """Nobody has to be told first."""


@dataclass(kw_only=True)
class ReconcileLoop:
    """The work queue of an operator: every root at most once, its rounds one after the other.

    Attributes:
        shelves: what is known of the cluster.
        acting: how to write; None to plan and never write.
        workers: how many roots may be in a round at once.
        announced: waits until what was told of a plan is written; called before a gang is ended (OP-042).
    """

    cache: ClusterCache
    acting: Executing | None
    decide: Callable[[Observation], Plan]
    followers: tuple[RoundListener, ...] = ()
    workers: int = 16
    announced: Callable[[], Awaitable[None]] = _at_once

    def __post_init__(self) -> None:
        self._turns: dict[RootKey, Requeue] = {}
        self._slots = asyncio.Semaphore(self.workers)
        self._acts = False
        self._closing = asyncio.Event()

    @property
    def depth(self) -> int:
        """How many roots wait for a look."""
        return sum(turn.dirty for turn in self._turns.values())

    def wake(self, root_key: RootKey) -> None:
        """A root is to be looked at; however often that is said, it is one look, and none where nothing is done."""
        if not self._acts or self._closing.is_set():
            return
        turn = self._turns.setdefault(root_key, Requeue(partial(self.wake, root_key)))
        turn.dirty = True
        if turn.task is None:
            turn.task = asyncio.get_running_loop().create_task(self._work(root_key, turn))

    def begin(self) -> None:
        """This process may act from now on: everything is looked at (OP-037)."""
        self._acts = True
        for root_key in self.cache.root_keys():
            self.wake(root_key)

    def cease(self) -> None:
        """It may not act any more: nothing new begins."""
        self._acts = False

    async def close(self) -> None:
        """Begin no further round, and let those that run come to their end."""
        self._closing.set()
        for turn in self._turns.values():
            turn.stop()
        tasks = [turn.task for turn in self._turns.values() if turn.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, root_key: RootKey, turn: Requeue) -> None:
        try:
            while turn.dirty:
                await self._rested(turn)
                async with self._slots:
                    if not self._acts or self._closing.is_set():
                        return
                    turn.dirty = False
                    await self._guarded(root_key, turn)
        finally:
            turn.task = None
            if not self.cache.holds(root_key) and not turn.dirty:
                self._forget(root_key, turn)

    async def _rested(self, turn: Requeue) -> None:
        """As long as it rests, but not beyond the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(turn.rest_until):
                await self._closing.wait()

    def _forget(self, root_key: RootKey, turn: Requeue) -> None:
        """Nothing is left of a set that is gone (O10)."""
        turn.stop()
        self._turns.pop(root_key, None)
        for follower in self.followers:
            follower.gone(root_key)

    async def _guarded(self, root_key: RootKey, turn: Requeue) -> None:
        """One round; whatever goes wrong with one set delays no other (O11)."""
        try:
            await self._round(root_key, turn)
        except (Unreachable, NotListed) as fault:
            self._broke_off(root_key, turn, str(fault))
        except BrokenInvariant as fault:
            self._broke_off(root_key, turn, f"broken invariant: {fault}")
        except Exception as fault:  # noqa: BLE001 - a set that met a fault of ours is looked at again all the same (OP-027)
            self._broke_off(root_key, turn, f"fault of ours: {internal_errors.described(fault)}")

    def _broke_off(self, root_key: RootKey, turn: Requeue, words: str) -> None:
        turn.leave_alone()
        turn.retry(stood=bool(turn.refused))
        for follower in self.followers:
            follower.failed(root_key, words)

    async def _round(self, root_key: RootKey, turn: Requeue) -> None:
        loop = asyncio.get_running_loop()
        began, asked = loop.time(), 0.0
        again, turn.again = turn.again, False
        found = self._judge(root_key, turn.stands(again=again))
        if found is None:
            await self._release(root_key, turn, again=again)
            return
        if self.acting is not None and terminated_by(found.plan.steps):
            asking = loop.time()
            turn.rest(asking - began)
            found = await self._ask(root_key, turn, self.acting, found.stands)
            asked = loop.time() - asking
            if found is None:
                return
        seen, plan, stands = found
        if isinstance(seen, Snapshot):
            turn.forget_unwanted(plan, seen)
        seconds = loop.time() - began - asked  # only thinking is in the way of others
        turn.rest(seconds)
        look = PlannedRound(root_key=root_key, name=uuid4().hex[:12], seen=seen, plan=plan, seconds=seconds)
        for follower in self.followers:
            follower.planned(look)
        turn.look_at(plan.wake_at)
        turn.look_for_refused(again=again)
        if self.acting is None or not plan.steps:
            turn.went_well()
            return
        await self._carry_out(look, turn, self.acting.trial(self._last_look(look, stands).against), again=again)

    def _last_look(self, look: PlannedRound, stands: tuple[Attempt, ...]) -> StepRecheck:
        return StepRecheck(
            look.seen,
            look.plan.steps,
            look=partial(self._sight, look.root_key, stands),
            plan=self._plan,
            pods=partial(self.cache.pods_of, look.root_key),
        )

    async def _carry_out(self, look: PlannedRound, turn: Requeue, trial: Execute, *, again: bool) -> None:
        if terminated_by(look.plan.steps):
            await self.announced()
        due = _due(turn.pace, look.plan, look.seen)
        if due.wait:
            turn.look_in(due.wait)
        attempts = await execute_concurrently(trial, due.steps)
        if any(isinstance(step.action, Create) for step in due.steps):
            turn.rest()  # what was made calls for what it needs
        for follower in self.followers:
            follower.answered(look, attempts)
        turn.remember(attempts, again=again, moved=self._has_moved)

    def _has_moved(self, step: Step) -> bool:
        """Whether something that a deletion rests on is not known as it was judged (PL-015)."""
        rests_on = step.action.rests_on if isinstance(step.action, Delete) else ()
        found = ((self.cache.find(ref), guard) for ref, guard in rests_on)
        return any(one is None or one.guard != guard for one, guard in found)

    def _judge(self, root_key: RootKey, stands: tuple[Attempt, ...]) -> _Judgement | None:
        seen = self._sight(root_key, stands)
        return None if seen is None else _Judgement(seen, self._plan(seen), stands)

    async def _ask(
        self, root_key: RootKey, turn: Requeue, acting: Executing, stands: tuple[Attempt, ...]
    ) -> _Judgement | None:
        """The judgement once the server was asked; where it does not answer, ends wait, and nothing else (OP-104)."""
        fault: Exception | None = None
        try:
            await acting.refresh(root_key)
        except (Unreachable, NotListed) as silence:
            fault = silence
        found = self._judge(root_key, stands)
        if fault is None or found is None or not terminated_by(found.plan.steps):
            return found
        ends = unconfirmed(found.plan.steps, str(fault))
        turn.put_off(ends)
        stands += ends
        seen = replace(found.seen, attempts=stands)
        return _Judgement(seen, self._plan(seen), stands)

    def _sight(self, root_key: RootKey, stands: tuple[Attempt, ...]) -> Observation | None:
        """What is known by now, and what stood when the round began; None where the set is gone."""
        return self.cache.observation(root_key, datetime.now(UTC), stands)

    def _plan(self, seen: Observation) -> Plan:
        plan = self.decide(seen)
        problems = problems_in(plan, seen)
        if problems:
            law = problems[0].expected.rpartition("(")[2].rstrip(")")  # each of them ends with it
            raise BrokenInvariant(law, "; ".join(map(str, problems[:3])))
        return plan

    async def _release(self, root_key: RootKey, turn: Requeue, *, again: bool) -> None:
        """Of a set that is gone: its last parts are let go of; nothing is left of a topology."""
        if self.cache.is_gone(root_key):  # while parts of it stay, maybe for good: somebody orphaned them
            for follower in self.followers:
                follower.gone(root_key)
        if self.acting is None:
            return
        stand = {one.step.target for one in turn.refused if one.outcome is Outcome.REFUSED}
        steps = [step for step in drop_finalizers(self.cache.leftovers(root_key)) if step.target not in stand]
        turn.look_for_refused(again=again)
        if not steps:
            turn.went_well()
            return
        attempts = await execute_concurrently(self.acting.trial(), steps)
        for follower in self.followers:
            follower.released(root_key, attempts)
        turn.remember(attempts, again=again)


def _due(pace: WriteThrottle, plan: Plan, seen: Observation) -> DueWrites:
    """What is tried now; a topology has no status that could wait."""
    if isinstance(seen, Snapshot):
        return pace.due(plan.steps, seen, asyncio.get_running_loop().time())
    return DueWrites(plan.steps, 0.0)
