"""When the reconcile loop runs a round, and which plans it rejects."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from grove_core.kernel.frozen import FrozenMap, freeze, frozen_dict_of_tuples
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, SetStatus, Step, StepStage, TerminationStatusReport
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener, plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.operator.reconcile_loop import ReconcileLoop
from grove_shell.operator.reconcile_schedule import SetWriteThrottle
from tests.operator.set_planner import ROOT_KEY, planning_sets
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw


class Waker(ReconcileRoundListener):
    """Requeues the set again and again during its first round."""

    def __init__(self) -> None:
        self.rounds: ReconcileLoop | None = None
        self.looks = 0
        self.seen_twice = asyncio.Event()

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        self.looks += 1
        if self.looks == 1 and self.rounds is not None:
            for _ in range(100):
                self.rounds.enqueue(planned_round.root_key)
        if self.looks > 1:
            self.seen_twice.set()

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        raise AssertionError("nothing is tried")

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        raise AssertionError(words)


def test_op020_however_often_a_set_changes_one_more_round_follows() -> None:
    async def scenario() -> int:
        waker = Waker()
        cache = ClusterCache()
        rounds = waker.rounds = ReconcileLoop(cache=cache, writer=None, decide=plan_for_root, listeners=(waker,))
        raw = set_raw(clique_raw("worker"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        cache.put("PodCliqueSet", raw)
        rounds.enqueue(ROOT_KEY)
        assert rounds.queue_depth == 0, "writes are not allowed yet"
        rounds.start()
        for _ in range(100):
            rounds.enqueue(ROOT_KEY)
        assert rounds.queue_depth == 1
        await waker.seen_twice.wait()
        assert rounds.queue_depth == 0
        await rounds.close()
        return waker.looks

    assert asyncio.run(scenario()) == 2


def cached() -> ClusterCache:
    """What is known of a cluster with one set."""
    cache, raw = ClusterCache(), set_raw(clique_raw("worker"))
    raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
    cache.put("PodCliqueSet", raw)
    return cache


class Listener(ReconcileRoundListener):
    """Receives one round, or its end before a step."""

    def __init__(self) -> None:
        self.heard = asyncio.Event()
        self.reported: list[str] = []

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        raise AssertionError(f"{planned_round.plan} is carried out")

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        raise AssertionError("nothing is tried")

    def on_round_failed(self, root_key: RootKey, words: str) -> None:
        self.reported.append(words)
        self.heard.set()


@pytest.mark.parametrize(
    ("version", "times", "law"), [("of last year", 1, "PL-004"), ("1", 2, "PL-013"), ("of last year", 2, "PL-013")]
)
def test_op052_an_illegal_plan_is_reported_and_not_carried_out(version: str, times: int, law: str) -> None:
    """A planner that aims at what is not there any more, or at one object twice; the law that it broke is named."""

    def decide(snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot)
        stale = SetStatus(FrozenMap({"replicas": 9}), Guard(snapshot.root.uid, version))
        return replace(plan, steps=(Step(StepStage.STATUS, snapshot.root.ref, stale, plan.steps[0].because),) * times)

    async def scenario() -> list[str]:
        listener, cache = Listener(), cached()
        rounds = ReconcileLoop(cache=cache, writer=None, decide=planning_sets(decide), listeners=(listener,))
        rounds.start()
        rounds.enqueue(ROOT_KEY)
        await listener.heard.wait()
        await rounds.close()
        return listener.reported

    (words,) = asyncio.run(scenario())
    assert words.startswith(f"broken invariant: {law}: ")
    assert (version == "1") or "of last year" in words


class Recording:
    """Has every step done, and writes down which."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.done = asyncio.Event()

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        self.steps.append(step)
        self.done.set()
        return Attempt(step, AttemptOutcome.DONE)

    async def relist_set(self, root_key: RootKey) -> None:
        raise AssertionError("nothing is ended")


@pytest.mark.parametrize("is_urgent", [False, True])
def test_op024_what_must_not_be_missed_does_not_wait(is_urgent: bool) -> None:
    """A round that makes objects a moment after one that wrote statuses, and has another status to write."""

    def decide(snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot)
        because = plan.steps[0].because
        action = SetStatus(FrozenMap({"replicas": 1}), snapshot.root.guard, is_urgent=is_urgent)
        status = Step(StepStage.STATUS, snapshot.root.ref, action, because)
        made = [step for step in plan.steps if isinstance(step.action, Create)]
        return replace(plan, steps=(*made, status) if acting.steps else (status,))

    acting = Recording()

    async def scenario() -> list[str]:
        cache = ClusterCache()
        rounds = ReconcileLoop(cache=cache, writer=acting, decide=planning_sets(decide))
        raw = set_raw(clique_raw("first"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        cache.put("PodCliqueSet", raw)
        rounds.start()
        for _ in range(2):
            acting.done.clear()
            rounds.enqueue(ROOT_KEY)
            async with asyncio.timeout(10):
                await acting.done.wait()
        await rounds.close()
        return [type(step.action).__name__ for step in acting.steps]

    first, *rest = asyncio.run(scenario())
    assert first == "SetStatus"
    assert "Create" in rest
    assert ("SetStatus" in rest) is is_urgent


def some_statuses(status: Mapping[str, object], *, ready: bool) -> tuple[tuple[Step, ...], Snapshot]:
    """A status for each of twelve cliques, the pods of which are there."""
    start = at_rest(applied(set_raw(*(clique_raw(f"c{number}") for number in range(12)))))
    pods = {uid: [replace(pod, ready=ready) for pod in found] for uid, found in start.pods_of.items()}
    seen = replace(start, pods_of=frozen_dict_of_tuples(pods))
    because = reconcile(applied(set_raw(clique_raw("a")))).steps[0].because
    fields = freeze(status)
    assert isinstance(fields, FrozenMap)
    return tuple(
        Step(StepStage.STATUS, clique.ref, SetStatus(fields, clique.guard), because) for clique in seen.cliques
    ), seen


@pytest.mark.parametrize(("ready", "pause"), [(True, 1.0), (False, 15.0)])
def test_op024_many_statuses_wait_longer_while_pods_come(ready: bool, pause: float) -> None:
    steps, seen = some_statuses({"readyReplicas": 1}, ready=ready)
    pace = SetWriteThrottle()
    assert pace.steps_to_try_now(steps, seen, 100.0) == (steps, 0.0)
    assert pace.steps_to_try_now(steps, seen, 100.0 + pause - 0.5) == ((), 0.5)
    assert pace.steps_to_try_now(steps[:3], seen, 100.0) == (steps[:3], 0.0), "few are written at once"
    assert pace.steps_to_try_now(steps, seen, 100.0 + pause) == (steps, 0.0)


@pytest.mark.req("PL-028")
def test_op024_a_termination_status_is_written_with_it() -> None:
    """By the next round the termination is over, and nothing would report it any more."""
    steps, seen = some_statuses({"conditions": ({"type": "GangTerminationInProgress", "status": "True"},)}, ready=False)
    first, *others = steps
    assert isinstance(first.action, SetStatus)
    reporting = replace(first, action=replace(first.action, report=TerminationStatusReport((first.target,))))
    assert SetWriteThrottle(statuses_at=100.0).steps_to_try_now((reporting, *others), seen, 101.0).steps == (reporting,)


def test_op023_a_set_that_met_a_fault_of_ours_is_looked_at_again() -> None:
    """The first round ends in an unforeseen exception; the second one is as ever."""
    looks: list[Snapshot] = []

    def decide(snapshot: Snapshot) -> Plan:
        looks.append(snapshot)
        if len(looks) == 1:
            raise KeyError("unforeseen")
        return reconcile(snapshot)

    class Hearing(Listener):
        def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
            self.heard.set()

        def on_round_failed(self, root_key: RootKey, words: str) -> None:
            self.reported.append(words)

    async def scenario() -> list[str]:
        listener, cache = Hearing(), cached()
        rounds = ReconcileLoop(cache=cache, writer=None, decide=planning_sets(decide), listeners=(listener,))
        rounds.start()
        rounds.enqueue(ROOT_KEY)
        async with asyncio.timeout(10):
            await listener.heard.wait()
        await rounds.close()
        return listener.reported

    (words,) = asyncio.run(scenario())
    assert words.startswith("internal error: KeyError: 'unforeseen' (at grove_shell/operator/")


def test_op033_a_client_that_never_led_ends_at_once() -> None:
    """Sets wait for leadership; the end comes first, and none of them is looked at."""

    async def scenario() -> list[str]:
        listener, cache = Listener(), cached()
        rounds = ReconcileLoop(cache=cache, writer=None, decide=plan_for_root, listeners=(listener,))
        rounds.enqueue(ROOT_KEY)
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            await rounds.close()
        return listener.reported

    assert asyncio.run(scenario()) == []
