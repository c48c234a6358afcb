"""The work queue by itself: a set that is only looked at, and never written."""

import asyncio
import io
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from grove_core.kernel.conditions import Condition, Truth
from grove_core.kernel.frozen import FrozenMap, freeze, thaw
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Attempt, Create, Outcome, SetStatus, Stage, Step
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.keys import CLIQUE_FINALIZER, SET_FINALIZER
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.client.api import Unreachable
from grove_shell.controller.deciding import decided
from grove_shell.controller.look import Following, Look
from grove_shell.operator.journal import Journal
from grove_shell.operator.pace import Pace
from grove_shell.operator.rounds import Rounds
from grove_shell.operator.telemetry import Telemetry
from grove_shell.world.homes import Home
from grove_shell.world.shelves import Shelves
from grove_shell.world.sights import Sight
from tests.property.resources.manifests import clique, owner
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

HOME: Home = ("ml", "llama")


class Waker(Following):
    """Wakes the set again and again in the midst of its first look."""

    def __init__(self) -> None:
        self.rounds: Rounds | None = None
        self.looks = 0
        self.seen_twice = asyncio.Event()

    def planned(self, look: Look) -> None:
        self.looks += 1
        if self.looks == 1 and self.rounds is not None:
            for _ in range(100):
                self.rounds.wake(look.home)
        if self.looks > 1:
            self.seen_twice.set()

    def answered(self, look: Look, attempts: tuple[Attempt, ...]) -> None:
        raise AssertionError("nothing is tried")

    def failed(self, home: Home, words: str) -> None:
        raise AssertionError(words)


def test_op020_however_often_a_set_changes_one_look_more_follows() -> None:
    async def scenario() -> int:
        waker = Waker()
        shelves = Shelves()
        rounds = waker.rounds = Rounds(shelves=shelves, acting=None, decide=decided, followers=(waker,))
        raw = set_raw(clique_raw("worker"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        shelves.put("PodCliqueSet", raw)
        for _ in range(100):
            rounds.wake(HOME)
        assert rounds.depth == 1
        await asyncio.sleep(0)
        assert waker.looks == 0, "nobody may act yet"
        rounds.may.set()
        await waker.seen_twice.wait()
        assert rounds.depth == 0
        await rounds.close()
        return waker.looks

    assert asyncio.run(scenario()) == 2


def of_set(decide: Callable[[Snapshot], Plan]) -> Callable[[Sight], Plan]:
    """Where nobody looks at topologies."""

    def asked(seen: Sight) -> Plan:
        assert isinstance(seen, Snapshot)
        return decide(seen)

    return asked


class Listener(Following):
    """Hears of one look, or of its end before anything was done."""

    def __init__(self) -> None:
        self.heard = asyncio.Event()
        self.words = ""

    def planned(self, look: Look) -> None:
        raise AssertionError(f"{look.plan} is carried out")

    def answered(self, look: Look, attempts: tuple[Attempt, ...]) -> None:
        raise AssertionError("nothing is tried")

    def failed(self, home: Home, words: str) -> None:
        self.words = words
        self.heard.set()


@pytest.mark.parametrize(
    ("version", "times", "law"), [("of last year", 1, "PL-004"), ("1", 2, "PL-005"), ("of last year", 2, "PL-005")]
)
def test_op025_an_illegal_plan_is_told_and_not_carried_out(version: str, times: int, law: str) -> None:
    """A planner that aims at what is not there any more, or at one object twice; the law that it broke is named."""

    def decide(snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot)
        stale = SetStatus(FrozenMap({"replicas": 9}), Guard(snapshot.root.uid, version))
        return replace(plan, steps=(Step(Stage.STATUS, snapshot.root.ref, stale, plan.steps[0].because),) * times)

    async def scenario() -> str:
        listener, shelves = Listener(), Shelves()
        rounds = Rounds(shelves=shelves, acting=None, decide=of_set(decide), followers=(listener,))
        rounds.may.set()
        raw = set_raw(clique_raw("worker"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        shelves.put("PodCliqueSet", raw)
        rounds.wake(HOME)
        await listener.heard.wait()
        await rounds.close()
        assert rounds.counters.errors == 1
        return listener.words

    words = asyncio.run(scenario())
    assert words.startswith(f"broken invariant: {law}: ")
    assert (version == "1") or "of last year" in words


class Refusing:
    """Has everything made but one object, and writes down what is tried."""

    def __init__(self, refused: str, awaited: str) -> None:
        self.tried: list[str] = []
        self.done = asyncio.Event()
        self._refused = refused
        self._awaited = awaited

    def trial(self) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        self.tried.append(step.target.name)
        if step.target.name == self._awaited:
            self.done.set()
        refused = step.target.name == self._refused
        return Attempt(step, Outcome.REFUSED if refused else Outcome.DONE, "it is another's" if refused else "")

    async def refresh(self, home: Home) -> None:
        raise AssertionError("nothing is ended")


def test_op017_what_is_refused_holds_up_nobody() -> None:
    """Creations stop at the first one that is refused, and that one would be the first again."""

    async def scenario() -> list[str]:
        shelves = Shelves()
        acting = Refusing("llama-0-first", awaited="llama-0-second")
        rounds = Rounds(shelves=shelves, acting=acting, decide=decided)
        raw = set_raw(clique_raw("first"), clique_raw("second"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        shelves.put("PodCliqueSet", raw)
        rounds.may.set()
        rounds.wake(HOME)
        async with asyncio.timeout(10):
            await acting.done.wait()
        await rounds.close()
        return acting.tried

    tried = asyncio.run(scenario())
    assert tried[: tried.index("llama-0-second")].count("llama-0-first") == 1


class Making:
    """Makes what it is told to but PodGangs; writes down what it is asked for, whether it is gated, and when."""

    def __init__(self, shelves: Shelves) -> None:
        self.tried: list[tuple[str, bool, float]] = []
        self.thrice = asyncio.Event()
        self._shelves = shelves

    def trial(self) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        if not isinstance(step.action, Create):
            return Attempt(step, Outcome.DONE)
        kind, manifest = step.target.kind, thaw(step.action.manifest)
        self.tried.append((kind, bool(manifest.get("spec", {}).get("schedulingGates")), time.monotonic()))
        if kind == "PodGang":
            if [kind for kind, _, _ in self.tried].count(kind) == 3:
                self.thrice.set()
            return Attempt(step, Outcome.REFUSED, "no gangs here")
        uid = f"uid of {step.target.short}"
        manifest["metadata"] |= {"uid": uid, "resourceVersion": str(len(self.tried) + 1), "generation": 1}
        self._shelves.put(kind, manifest)
        return Attempt(step, Outcome.DONE)

    async def refresh(self, home: Home) -> None:
        raise AssertionError("nothing is ended")


@pytest.mark.req("WL-088")
@pytest.mark.req("OP-026")
def test_op028_pods_come_at_once_where_their_gang_is_refused() -> None:
    """Nothing changes after the refusal; the gang is tried again later each time, and pods are there meanwhile."""

    async def scenario() -> list[tuple[str, bool, float]]:
        shelves = Shelves()
        acting = Making(shelves)
        rounds = Rounds(shelves=shelves, acting=acting, decide=decided)
        shelves.changed = rounds.wake
        raw = set_raw(clique_raw("first"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        raw["metadata"]["finalizers"] = [SET_FINALIZER]
        rounds.may.set()
        shelves.put("PodCliqueSet", raw)
        async with asyncio.timeout(10):
            await acting.thrice.wait()
        await rounds.close()
        return acting.tried

    tried = asyncio.run(scenario())
    first, second, third = (at for kind, _, at in tried if kind == "PodGang")
    ((gated, made),) = ((gated, at) for kind, gated, at in tried if kind == "Pod")
    assert gated
    assert first < made < second
    assert second - first > 0.19, "a refusal is not tried again before its time"
    assert third - second > 0.19


class Recording:
    """Has every step done, and writes down which."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.done = asyncio.Event()

    def trial(self) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        self.steps.append(step)
        self.done.set()
        return Attempt(step, Outcome.DONE)

    async def refresh(self, home: Home) -> None:
        raise AssertionError("nothing is ended")


@pytest.mark.parametrize(
    ("record", "waits"),
    [
        ({"readyReplicas": 1}, True),
        ({"wasAvailable": False}, True),
        ({"wasAvailable": True}, False),
        ({"conditions": ({"type": "MinAvailableBreached", "status": "False"},)}, True),
        ({"conditions": ({"type": "MinAvailableBreached", "status": "True"},)}, False),
    ],
)
def test_op024_what_must_not_be_missed_does_not_wait(record: dict[str, object], waits: bool) -> None:
    """A round that makes objects a moment after one that wrote statuses, and has another status to write."""

    def decide(snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot)
        because = plan.steps[0].because
        fields = freeze(record if acting.steps else {"replicas": 1})
        assert isinstance(fields, FrozenMap)
        status = Step(Stage.STATUS, snapshot.root.ref, SetStatus(fields, snapshot.root.guard), because)
        made = [step for step in plan.steps if isinstance(step.action, Create)]
        return replace(plan, steps=(*made, status) if acting.steps else (status,))

    acting = Recording()

    async def scenario() -> list[str]:
        shelves = Shelves()
        rounds = Rounds(shelves=shelves, acting=acting, decide=of_set(decide))
        raw = set_raw(clique_raw("first"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        shelves.put("PodCliqueSet", raw)
        rounds.may.set()
        for _ in range(2):
            acting.done.clear()
            rounds.wake(HOME)
            async with asyncio.timeout(10):
                await acting.done.wait()
        await rounds.close()
        return [type(step.action).__name__ for step in acting.steps]

    first, *rest = asyncio.run(scenario())
    assert first == "SetStatus"
    assert "Create" in rest
    assert ("SetStatus" not in rest) is waits


def some_statuses(status: Mapping[str, object], *, ready: bool) -> tuple[tuple[Step, ...], Snapshot]:
    """A status for each of twelve cliques, the pods of which are there."""
    start = at_rest(applied(set_raw(*(clique_raw(f"c{number}") for number in range(12)))))
    pods = {uid: [replace(pod, ready=ready) for pod in found] for uid, found in start.pods_of.items()}
    seen = replace(start, pods_of=pods)
    because = reconcile(applied(set_raw(clique_raw("a")))).steps[0].because
    fields = freeze(status)
    assert isinstance(fields, FrozenMap)
    return tuple(
        Step(Stage.STATUS, clique.ref, SetStatus(fields, clique.guard), because) for clique in seen.cliques
    ), seen


@pytest.mark.parametrize(("ready", "pause"), [(True, 1.0), (False, 15.0)])
def test_op024_many_statuses_wait_longer_while_pods_come(ready: bool, pause: float) -> None:
    steps, seen = some_statuses({"readyReplicas": 1}, ready=ready)
    pace = Pace()
    assert pace.due(steps, seen, 100.0) == (steps, 0.0)
    assert pace.due(steps, seen, 100.0 + pause - 0.5) == ((), 0.5)
    assert pace.due(steps[:3], seen, 100.0) == (steps[:3], 0.0), "few are written at once"
    assert pace.due(steps, seen, 100.0 + pause) == (steps, 0.0)


def test_op024_the_end_of_a_breach_does_not_wait() -> None:
    """One clique stands as breached: what is written of it now is that it is so no more."""
    over = {"conditions": ({"type": "MinAvailableBreached", "status": "False"},)}
    steps, seen = some_statuses(over, ready=False)
    breach = Condition(
        "MinAvailableBreached", Truth.TRUE, "InsufficientReadyPods", "", datetime(2026, 11, 20, 9, tzinfo=UTC)
    )
    first, *others = seen.cliques
    breached = replace(first, status=replace(first.status, conditions=(breach,)))
    pace = Pace(told_at=100.0)
    assert pace.due(steps, seen, 101.0).steps == ()
    assert pace.due(steps, replace(seen, cliques=(breached, *others)), 101.0).steps == steps[:1]


def test_op027_a_set_that_met_a_fault_of_ours_is_looked_at_again() -> None:
    """The first look ends in an exception that nobody thought of; the second one is as ever."""
    looks: list[Snapshot] = []

    def decide(snapshot: Snapshot) -> Plan:
        looks.append(snapshot)
        if len(looks) == 1:
            raise KeyError("nobody thought of it")
        return reconcile(snapshot)

    class Hearing(Listener):
        def planned(self, look: Look) -> None:
            self.heard.set()

        def failed(self, home: Home, words: str) -> None:
            self.words = words

    async def scenario() -> str:
        listener, shelves = Hearing(), Shelves()
        rounds = Rounds(shelves=shelves, acting=None, decide=of_set(decide), followers=(listener,))
        rounds.may.set()
        raw = set_raw(clique_raw("worker"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        shelves.put("PodCliqueSet", raw)
        rounds.wake(HOME)
        async with asyncio.timeout(10):
            await listener.heard.wait()
        await rounds.close()
        return listener.words

    assert asyncio.run(scenario()) == "fault of ours: KeyError: 'nobody thought of it'"


def test_op033_who_never_led_ends_at_once() -> None:
    """Sets wait for leadership; the end comes first, and none of them is looked at."""

    async def scenario() -> int:
        listener, shelves = Listener(), Shelves()
        rounds = Rounds(shelves=shelves, acting=None, decide=decided, followers=(listener,))
        rounds.wake(HOME)
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            await rounds.close()
        return rounds.counters.rounds

    assert asyncio.run(scenario()) == 0


class Letting:
    """Answers each try with the next of these outcomes, and the last one for ever; writes down when each was."""

    def __init__(self, *outcomes: Outcome, done: Callable[[], None] = lambda: None) -> None:
        self.outcomes = list(outcomes)
        self.times: list[float] = []
        self.done = done

    def trial(self) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        self.times.append(time.monotonic())
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if outcome is Outcome.DONE:
            self.done()
        return Attempt(step, outcome, "" if outcome is Outcome.DONE else "the server is going down")

    async def refresh(self, home: Home) -> None:
        raise AssertionError("nothing is ended")


class Releases(Following):
    """Hears what is let go of, and when nothing is left."""

    def __init__(self) -> None:
        self.heard: list[Outcome] = []
        self.over = asyncio.Event()

    def released(self, home: Home, attempts: tuple[Attempt, ...]) -> None:
        assert home == HOME
        self.heard += [attempt.outcome for attempt in attempts]

    def gone(self, home: Home) -> None:
        self.over.set()


def orphan() -> dict[str, Any]:
    """A clique that is being deleted, and whose set is gone."""
    raw = clique("llama-0-a", owned_by=owner("gone", kind="PodCliqueSet", name="llama"))
    leaving = {"deletionTimestamp": "2026-11-20T09:00:00Z", "finalizers": [CLIQUE_FINALIZER]}
    raw["metadata"] |= {"namespace": "ml", "uid": "a", "resourceVersion": "7", **leaving}
    return raw


@pytest.mark.parametrize("trouble", [Outcome.UNREACHABLE, Outcome.CONFLICT, Outcome.REFUSED], ids=str)
@pytest.mark.req("WL-233")
def test_op067_what_is_left_of_a_set_is_let_go_of_later_where_it_cannot_be_now(trouble: Outcome) -> None:
    """Twice it does not work and nothing changes; then it does. All of it is told, and the log and metrics hear it."""
    out, telemetry = io.StringIO(), Telemetry()

    async def scenario() -> tuple[list[float], list[Outcome]]:
        shelves, listener = Shelves(), Releases()
        acting = Letting(trouble, trouble, Outcome.DONE, done=lambda: shelves.drop("PodClique", orphan()))
        followers = (listener, Journal(out), telemetry)
        rounds = Rounds(shelves=shelves, acting=acting, decide=decided, followers=followers)
        shelves.changed = rounds.wake
        rounds.may.set()
        shelves.put("PodClique", orphan())
        async with asyncio.timeout(10):
            await listener.over.wait()
        await rounds.close()
        return acting.times, listener.heard

    times, heard = asyncio.run(scenario())
    assert heard == [trouble, trouble, Outcome.DONE]
    first, second, third = times
    assert 0.19 < second - first < third - second
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["level"], line["set"], line["first"]) for line in lines] == [
        ("warning", "ml/llama", "llama-0-a"),
        ("warning", "ml/llama", "llama-0-a"),
        ("info", "ml/llama", "llama-0-a"),
    ]
    counted = 'grove_writes_total{action="DropFinalizer",kind="PodClique",outcome="done"} 1.0'
    assert counted in telemetry.page().decode()


@pytest.mark.req("WL-233")
def test_op067_a_refusal_to_let_go_stands_however_often_what_is_left_changes() -> None:
    async def scenario() -> list[float]:
        shelves, acting = Shelves(), Letting(Outcome.REFUSED)
        rounds = Rounds(shelves=shelves, acting=acting, decide=decided)
        rounds.may.set()
        shelves.put("PodClique", orphan())
        for _ in range(40):
            rounds.wake(HOME)
            await asyncio.sleep(0.05)
        await rounds.close()
        return acting.times

    times = asyncio.run(scenario())
    assert all(later - sooner > 0.19 for sooner, later in pairwise(times))
    assert 3 <= len(times) <= 5


class Refused:
    """Refuses every PodClique and does all else; writes down when it was asked for one."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def trial(self) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        if step.target.kind != "PodClique":
            return Attempt(step, Outcome.DONE)
        self.times.append(time.monotonic())
        return Attempt(step, Outcome.REFUSED, "exceeded quota")

    async def refresh(self, home: Home) -> None:
        raise AssertionError("nothing is ended")


def a_set() -> dict[str, Any]:
    raw = set_raw(clique_raw("first"))
    raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
    raw["metadata"]["finalizers"] = [SET_FINALIZER]
    return raw


@pytest.mark.parametrize("busy", [False, True])
def test_op023_a_refusal_is_tried_later_each_time_also_while_other_writes_go_well(busy: bool) -> None:
    """Nothing that is made is ever seen, so each look makes all else once more; a busy set is woken all the time."""

    async def scenario() -> list[float]:
        shelves, acting = Shelves(), Refused()
        rounds = Rounds(shelves=shelves, acting=acting, decide=decided)
        rounds.may.set()
        shelves.put("PodCliqueSet", a_set())
        rounds.wake(HOME)
        for _ in range(70):
            await asyncio.sleep(0.05)
            if busy:
                rounds.wake(HOME)
        await rounds.close()
        return acting.times

    times = asyncio.run(scenario())
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert 3 <= len(pauses) <= 4, pauses
    assert all(later > 1.3 * sooner for sooner, later in pairwise(pauses)), pauses


@pytest.mark.parametrize("work", [True, False], ids=["writes", "nothing to do"])
def test_op023_patience_begins_anew_when_a_round_succeeds(work: bool) -> None:
    """The server is away for a while and comes back; the next trouble is tried again soon, as the first one was."""
    broken: list[float] = []
    heard = asyncio.Semaphore(0)

    class Hearing(Following):
        def failed(self, home: Home, words: str) -> None:
            broken.append(time.monotonic())
            heard.release()

    def decide(snapshot: Snapshot) -> Plan:
        if away:
            raise Unreachable("away")
        return reconcile(snapshot) if work else replace(reconcile(snapshot), steps=())

    away = True

    async def scenario() -> None:
        nonlocal away
        shelves = Shelves()
        rounds = Rounds(shelves=shelves, acting=Letting(Outcome.DONE), decide=of_set(decide), followers=(Hearing(),))
        rounds.may.set()
        shelves.put("PodCliqueSet", a_set())
        rounds.wake(HOME)
        for _ in range(4):
            await heard.acquire()
        away = False
        rounds.wake(HOME)
        await asyncio.sleep(0.1)
        away = True
        rounds.wake(HOME)
        for _ in range(2):
            await heard.acquire()
        await rounds.close()

    asyncio.run(asyncio.wait_for(scenario(), 10))
    assert broken[5] - broken[4] < 0.5, broken
