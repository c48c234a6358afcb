"""Rounds: observe, reconcile, act, again; each root by itself, woken by changes and by the clock, never by a poll."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import uniform
from typing import Final, Protocol
from uuid import uuid4

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.steps import Attempt, Create, Delete, Outcome, Step
from grove_core.plan.laws import problems_in
from grove_core.plan.plan import Plan
from grove_core.reconcile import let_go
from grove_core.snapshot.expectations import refused_so_far
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.client.api import Unreachable
from grove_shell.client.lists import NotListed
from grove_shell.controller.act_at_once import act_at_once
from grove_shell.controller.look import Following, Look
from grove_shell.operator.pace import Due, Pace
from grove_shell.world.homes import Home
from grove_shell.world.shelves import Shelves
from grove_shell.world.sights import Sight

_SHARE: Final = 4  # a set that took so long to think about rests so many times as long
_SHORTEST_REST: Final = 0.02
_FIRST_PATIENCE: Final = 0.25
_LONGEST_PATIENCE: Final = 60.0
_LONGEST_SLEEP: Final = 3600.0


class Acting(Protocol):
    """How steps are tried, and how the last look before an end is taken."""

    def trial(self) -> Callable[[Step], Awaitable[Attempt]]:
        """What tries the steps of one round."""
        ...

    async def refresh(self, home: Home) -> None:
        """Ask the server itself for everything of a set, caches apart. Raises Unreachable."""
        ...


@dataclass(slots=True)
class _Root:
    """One set or topology in the queue.

    Attributes:
        dirty: something changed since its last look.
        rest_until: of the loop's clock; no look before, so that a burst of changes is one look.
        refused: what the server would not have lately (PL-012), and until when that stands.
        again: the next look is the one that follows a refusal at once (OP-028).
        pace: which steps of a plan are tried now.
    """

    dirty: bool = False
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None
    rest_until: float = 0.0
    patience: float = _FIRST_PATIENCE
    refused: tuple[Attempt, ...] = ()
    refused_until: float = 0.0
    again: bool = False
    pace: Pace = field(default_factory=Pace)


@dataclass(slots=True)
class Counters:
    """What the queue did so far."""

    rounds: int = 0
    errors: int = 0


async def _at_once() -> None:
    """Nobody has to be told first."""


@dataclass(kw_only=True)
class Rounds:
    """The work queue of an operator: every root at most once, its rounds one after the other.

    Attributes:
        shelves: what is known of the cluster.
        acting: how to write; None to plan and never write.
        may: set while this process may act; rounds wait for it.
        workers: how many roots may be in a round at once.
        announced: waits until what was told of a plan is written; called before a gang is ended (OP-042).
    """

    shelves: Shelves
    acting: Acting | None
    decide: Callable[[Sight], Plan]
    followers: tuple[Following, ...] = ()
    workers: int = 16
    announced: Callable[[], Awaitable[None]] = _at_once
    may: asyncio.Event = field(default_factory=asyncio.Event)
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        self._roots: dict[Home, _Root] = {}
        self._slots = asyncio.Semaphore(self.workers)
        self._closing = False

    @property
    def depth(self) -> int:
        """How many roots wait for a look."""
        return sum(root.dirty for root in self._roots.values())

    def wake(self, home: Home) -> None:
        """A root is to be looked at; however often that is said, it is one look."""
        if self._closing:
            return
        root = self._roots.setdefault(home, _Root())
        root.dirty = True
        if root.task is None:
            root.task = asyncio.get_running_loop().create_task(self._work(home, root))

    async def close(self) -> None:
        """Begin no further round, and let those that run come to their end."""
        self._closing = True
        self.may.set()  # who waits for it only has to hear of the end
        for root in self._roots.values():
            if root.timer is not None:
                root.timer.cancel()
        tasks = [root.task for root in self._roots.values() if root.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, home: Home, root: _Root) -> None:
        loop = asyncio.get_running_loop()
        try:
            while root.dirty and not self._closing:
                pause = root.rest_until - loop.time()
                await asyncio.sleep(max(pause, 0))
                async with self._slots:
                    await self.may.wait()
                    if self._closing:
                        return
                    root.dirty = False
                    await self._guarded(home, root)
        finally:
            root.task = None
            if not self.shelves.holds(home) and not root.dirty:
                self._forget(home, root)

    def _forget(self, home: Home, root: _Root) -> None:
        """Nothing is left of a set that is gone (O10)."""
        if root.timer is not None:
            root.timer.cancel()
        self._roots.pop(home, None)
        for follower in self.followers:
            follower.gone(home)

    async def _guarded(self, home: Home, root: _Root) -> None:
        """One round; whatever goes wrong with one set delays no other (O11)."""
        self.counters.rounds += 1
        try:
            await self._round(home, root)
        except (Unreachable, NotListed) as fault:
            self._broke_off(home, root, str(fault))
        except BrokenInvariant as fault:
            self._broke_off(home, root, f"broken invariant: {fault}")
        except Exception as fault:  # noqa: BLE001 - a set that met a fault of ours is looked at again all the same (OP-027)
            self._broke_off(home, root, f"fault of ours: {type(fault).__name__}: {fault}")

    def _broke_off(self, home: Home, root: _Root, words: str) -> None:
        self.counters.errors += 1
        for follower in self.followers:
            follower.failed(home, words)
        self._retry(home, root)

    async def _round(self, home: Home, root: _Root) -> None:
        thought = time.perf_counter()
        again, root.again = root.again, False
        seen = self._look(home, root, again=again)
        if seen is None:
            await self._let_go(home, root, again=again)
            return
        plan = self._plan(seen)
        if self.acting is not None and _ends_something(plan.steps):
            await self.acting.refresh(home)
            seen = self._look(home, root, again=again)
            if seen is None:
                return
            plan = self._plan(seen)
        seconds = time.perf_counter() - thought
        root.rest_until = asyncio.get_running_loop().time() + max(seconds * _SHARE, _SHORTEST_REST)
        look = Look(home=home, name=uuid4().hex[:12], seen=seen, plan=plan, seconds=seconds)
        for follower in self.followers:
            follower.planned(look)
        self._wake_at(home, root, plan.wake_at)
        self._wake_for_refused(home, root, again=again)
        if self.acting is None or not plan.steps:
            self._went_well(root)
            return
        if _ends_something(plan.steps):
            await self.announced()
        due = _due(root.pace, plan, seen)
        if due.wait:
            self._set_timer(home, root, due.wait)
        attempts = await act_at_once(self.acting.trial(), due.steps)
        if any(isinstance(step.action, Create) for step in due.steps):
            root.rest_until = (
                asyncio.get_running_loop().time() + _SHORTEST_REST
            )  # what was made calls for what it needs
        for follower in self.followers:
            follower.answered(look, attempts)
        self._remember(home, root, attempts, again=again)

    def _look(self, home: Home, root: _Root, *, again: bool) -> Sight | None:
        if not again and asyncio.get_running_loop().time() >= root.refused_until:
            root.refused = ()  # it had its time, and is tried again now if anybody still wants it
        return self.shelves.sight(home, datetime.now(UTC), root.refused)

    def _plan(self, seen: Sight) -> Plan:
        plan = self.decide(seen)
        problems = problems_in(plan, seen)
        if problems:
            law = problems[0].expected.rpartition("(")[2].rstrip(")")  # each of them ends with it
            raise BrokenInvariant(law, "; ".join(map(str, problems[:3])))
        return plan

    async def _let_go(self, home: Home, root: _Root, *, again: bool) -> None:
        """Of a set that is gone: its last parts are let go of; nothing is left of a topology."""
        if self.acting is None:
            return
        stand = {attempt.step.target for attempt in root.refused}
        steps = [step for step in let_go(self.shelves.leftovers(home)) if step.target not in stand]
        self._wake_for_refused(home, root, again=again)
        if not steps:
            self._went_well(root)
            return
        attempts = await act_at_once(self.acting.trial(), steps)
        for follower in self.followers:
            follower.released(home, attempts)
        self._remember(home, root, attempts, again=again)

    def _went_well(self, root: _Root) -> None:
        """Patience begins anew, but not while a refusal stands: other writes of its set say nothing of it (OP-023)."""
        if not root.refused:
            root.patience = _FIRST_PATIENCE

    def _remember(self, home: Home, root: _Root, attempts: Iterable[Attempt], *, again: bool) -> None:
        """Refusals stand until their time is over; what failed is tried again, later each time.

        What is refused may be a reason to go another way (WL-088), which nothing else may be there to wake the set
        for; so one look follows at once, and what that one meets waits for the time that is set already (OP-028).
        """
        answers = tuple(attempts)
        root.refused = refused_so_far(root.refused, answers)
        root.pace.take(answers)
        if all(answer.outcome is Outcome.DONE for answer in answers):
            self._went_well(root)
            return
        if again:
            return
        self._retry(home, root)
        if any(answer.outcome is Outcome.REFUSED for answer in answers):
            root.again = True
            self.wake(home)

    def _retry(self, home: Home, root: _Root) -> None:
        loop = asyncio.get_running_loop()
        pause = root.patience * uniform(0.8, 1.0)  # noqa: S311 - no secret
        root.patience = min(root.patience * 2, _LONGEST_PATIENCE)
        root.refused_until = loop.time() + pause
        self._set_timer(home, root, pause)

    def _wake_at(self, home: Home, root: _Root, moment: datetime | None) -> None:
        """Look again when time alone may change something (PL-008)."""
        if moment is not None:
            self._set_timer(home, root, (moment - datetime.now(UTC)).total_seconds())

    def _wake_for_refused(self, home: Home, root: _Root, *, again: bool) -> None:
        """An earlier look may have taken the place of the one that tries again what was refused."""
        left = root.refused_until - asyncio.get_running_loop().time()
        if again or (root.refused and left > 0):
            self._set_timer(home, root, max(left, _SHORTEST_REST))

    def _set_timer(self, home: Home, root: _Root, seconds: float) -> None:
        """The earlier of two looks counts; the later one follows from the plan of the first."""
        loop = asyncio.get_running_loop()
        when = loop.time() + min(max(seconds, 0.0), _LONGEST_SLEEP)
        if root.timer is not None and not root.timer.cancelled() and loop.time() < root.timer.when() <= when:
            return
        if root.timer is not None:
            root.timer.cancel()
        root.timer = loop.call_at(when, self.wake, home)


def _due(pace: Pace, plan: Plan, seen: Sight) -> Due:
    """What is tried now; a topology has no status that could wait."""
    if isinstance(seen, Snapshot):
        return pace.due(plan.steps, seen, asyncio.get_running_loop().time())
    return Due(plan.steps, 0.0)


def _ends_something(steps: Iterable[Step]) -> bool:
    """Whether a gang is terminated: what cannot be taken back is decided on what the server itself says."""
    return any(isinstance(step.action, Delete) and step.action.rests_on for step in steps)
