"""Refused writes are retried with a backoff and delay no other set."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, Final

import pytest

from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLIQUE_FINALIZER, SET_FINALIZER
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import ReconcileRoundListener, plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api_session import NoServerResponse
from grove_shell.operator.json_log import OperatorJsonLog
from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.set_planner import ROOT_KEY, planning_sets
from tests.property.resources.manifests import clique, owner
from tests.property.workload.sets import clique_raw, set_raw
from tests.skipped_time import now, run_skipping_time

LONG: Final = 5 * 60.0
EVERY: Final = 0.5


class Refusing:
    """Has everything made but one object, and writes down what is tried."""

    def __init__(self, refused: str, awaited: str) -> None:
        self.tried: list[str] = []
        self.done = asyncio.Event()
        self._refused = refused
        self._awaited = awaited

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        self.tried.append(step.target.name)
        if step.target.name == self._awaited:
            self.done.set()
        refused = step.target.name == self._refused
        return Attempt(
            step, AttemptOutcome.REFUSED if refused else AttemptOutcome.DONE, "it is another's" if refused else ""
        )

    async def relist_set(self, root_key: RootKey) -> None:
        raise AssertionError("nothing is ended")


def test_op015_what_is_refused_delays_nothing() -> None:
    """Creations stop at the first one that is refused, and that one would be the first again."""

    async def scenario() -> list[str]:
        cache = ClusterCache()
        acting = Refusing("llama-0-first", awaited="llama-0-second")
        rounds = ReconcileLoop(cache=cache, writer=acting, decide=plan_for_root)
        raw = set_raw(clique_raw("first"), clique_raw("second"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        cache.put("PodCliqueSet", raw)
        rounds.start()
        rounds.enqueue(ROOT_KEY)
        async with asyncio.timeout(10):
            await acting.done.wait()
        await rounds.close()
        return acting.tried

    tried = run_skipping_time(scenario())
    assert tried[: tried.index("llama-0-second")].count("llama-0-first") == 1


class Making:
    """Makes what it is asked to make but PodGangs; records each request, whether it is gated, and when."""

    def __init__(self, cache: ClusterCache) -> None:
        self.tried: list[tuple[str, bool, float]] = []
        self.thrice = asyncio.Event()
        self._cache = cache

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        if not isinstance(step.action, Create):
            return Attempt(step, AttemptOutcome.DONE)
        kind, manifest = step.target.kind, thaw_json(step.action.manifest)
        self.tried.append((kind, bool(manifest.get("spec", {}).get("schedulingGates")), now()))
        if kind == "PodGang":
            if [kind for kind, _, _ in self.tried].count(kind) == 3:
                self.thrice.set()
            return Attempt(step, AttemptOutcome.REFUSED, "no gangs here")
        uid = f"uid of {step.target.short}"
        manifest["metadata"] |= {"uid": uid, "resourceVersion": str(len(self.tried) + 1), "generation": 1}
        self._cache.put(kind, manifest)
        return Attempt(step, AttemptOutcome.DONE)

    async def relist_set(self, root_key: RootKey) -> None:
        raise AssertionError("nothing is ended")


@pytest.mark.req("WL-088")
@pytest.mark.req("OP-020")
def test_op023_pods_come_at_once_where_their_gang_is_refused() -> None:
    """Nothing changes after the refusal; the gang is tried again later each time, and pods are there meanwhile."""

    async def scenario() -> list[tuple[str, bool, float]]:
        cache = ClusterCache()
        acting = Making(cache)
        rounds = ReconcileLoop(cache=cache, writer=acting, decide=plan_for_root)
        cache.changed = rounds.enqueue
        raw = set_raw(clique_raw("first"))
        raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
        raw["metadata"]["finalizers"] = [SET_FINALIZER]
        rounds.start()
        cache.put("PodCliqueSet", raw)
        async with asyncio.timeout(10):
            await acting.thrice.wait()
        await rounds.close()
        return acting.tried

    tried = run_skipping_time(scenario())
    first, second, third = (at for kind, _, at in tried if kind == "PodGang")
    ((gated, made),) = ((gated, at) for kind, gated, at in tried if kind == "Pod")
    assert gated
    assert first < made < second
    assert made - first < 0.1
    assert 0.2 <= second - first <= 0.3, "a refusal is not tried again before its time"
    assert 0.4 <= third - second <= 0.6


class Letting:
    """Answers each try with the next of these outcomes, and the last one for ever; writes down when each was."""

    def __init__(self, *outcomes: AttemptOutcome, done: Callable[[], None] = lambda: None) -> None:
        self.outcomes = list(outcomes)
        self.times: list[float] = []
        self.done = done

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        self.times.append(now())
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if outcome is AttemptOutcome.DONE:
            self.done()
        return Attempt(step, outcome, "" if outcome is AttemptOutcome.DONE else "the server is going down")

    async def relist_set(self, root_key: RootKey) -> None:
        raise AssertionError("nothing is ended")


class Releases(ReconcileRoundListener):
    """Hears what is let go of, and when nothing is left."""

    def __init__(self) -> None:
        self.heard: list[AttemptOutcome] = []
        self.over = asyncio.Event()

    def on_finalizers_dropped(self, root_key: RootKey, attempts: tuple[Attempt, ...]) -> None:
        assert root_key == ROOT_KEY
        self.heard += [attempt.outcome for attempt in attempts]

    def on_root_deleted(self, root_key: RootKey) -> None:
        if AttemptOutcome.DONE in self.heard:  # the set was gone before
            self.over.set()


def orphan() -> dict[str, Any]:
    """A clique that is being deleted, and whose set is gone."""
    raw = clique("llama-0-a", owned_by=owner("gone", kind="PodCliqueSet", name="llama"))
    leaving = {"deletionTimestamp": "2026-11-20T09:00:00Z", "finalizers": [CLIQUE_FINALIZER]}
    raw["metadata"] |= {"namespace": "ml", "uid": "a", "resourceVersion": "7", **leaving}
    return raw


@pytest.mark.parametrize(
    "trouble", [AttemptOutcome.UNREACHABLE, AttemptOutcome.CONFLICT, AttemptOutcome.REFUSED], ids=str
)
@pytest.mark.req("WL-001")
def test_op023_what_is_left_of_a_set_is_let_go_of_later_where_it_cannot_be_now(trouble: AttemptOutcome) -> None:
    """It fails twice and nothing changes; then it succeeds. All of it is reported, logged and counted."""
    out, telemetry = io.StringIO(), OperatorMetrics()

    async def scenario() -> tuple[list[float], list[AttemptOutcome]]:
        cache, listener = ClusterCache(), Releases()
        acting = Letting(trouble, trouble, AttemptOutcome.DONE, done=lambda: cache.drop("PodClique", orphan()))
        followers = (listener, OperatorJsonLog(out), telemetry)
        rounds = ReconcileLoop(cache=cache, writer=acting, decide=plan_for_root, listeners=followers)
        cache.changed = rounds.enqueue
        rounds.start()
        cache.put("PodClique", orphan())
        async with asyncio.timeout(10):
            await listener.over.wait()
        await rounds.close()
        return acting.times, listener.heard

    times, heard = run_skipping_time(scenario())
    assert heard == [trouble, trouble, AttemptOutcome.DONE]
    first, second, third = times
    assert 0.2 <= second - first <= 0.26
    assert 0.4 <= third - second <= 0.51
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["level"], line["set"], line["first"]) for line in lines] == [
        ("warning", "ml/llama", "llama-0-a"),
        ("warning", "ml/llama", "llama-0-a"),
        ("info", "ml/llama", "llama-0-a"),
    ]
    counted = 'grove_writes_total{action="DropFinalizer",kind="PodClique",outcome="done"} 1.0'
    assert counted in telemetry.as_prometheus_text().decode()


@pytest.mark.req("WL-001")
def test_op023_a_refusal_to_let_go_stands_however_often_what_is_left_changes() -> None:
    async def scenario() -> list[float]:
        cache, acting = ClusterCache(), Letting(AttemptOutcome.REFUSED)
        rounds = ReconcileLoop(cache=cache, writer=acting, decide=plan_for_root)
        rounds.start()
        cache.put("PodClique", orphan())
        for _ in range(40):
            rounds.enqueue(ROOT_KEY)
            await asyncio.sleep(0.05)
        await rounds.close()
        return acting.times

    times = run_skipping_time(scenario())
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert len(pauses) == 3
    assert all(0.2 * 2**number <= pause < 0.25 * 2**number + 0.1 for number, pause in enumerate(pauses)), pauses


class Refused:
    """Refuses every PodClique and does all else; writes down when it was asked for one."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return self._attempt

    async def _attempt(self, step: Step) -> Attempt:
        if step.target.kind != "PodClique":
            return Attempt(step, AttemptOutcome.DONE)
        self.times.append(now())
        return Attempt(step, AttemptOutcome.REFUSED, "exceeded quota")

    async def relist_set(self, root_key: RootKey) -> None:
        raise AssertionError("nothing is ended")


def a_set() -> dict[str, Any]:
    raw = set_raw(clique_raw("first"))
    raw["metadata"] |= {"name": "llama", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
    raw["metadata"]["finalizers"] = [SET_FINALIZER]
    return raw


@pytest.mark.parametrize("busy", [False, True])
def test_op023_a_refusal_is_tried_later_each_time_also_while_other_writes_go_well(busy: bool) -> None:
    """No created object is ever seen, so each round makes all else once more; a busy set is requeued all the time."""

    async def scenario() -> list[float]:
        cache, acting = ClusterCache(), Refused()
        rounds = ReconcileLoop(cache=cache, writer=acting, decide=plan_for_root)
        rounds.start()
        cache.put("PodCliqueSet", a_set())
        rounds.enqueue(ROOT_KEY)
        while now() < LONG:
            await asyncio.sleep(EVERY if busy else LONG)
            rounds.enqueue(ROOT_KEY)
        await rounds.close()
        return acting.times

    pauses = [later - sooner for sooner, later in pairwise(run_skipping_time(scenario()))]
    doubled = [min(0.25 * 2**number, 60) for number in range(len(pauses))]
    assert doubled.count(60) > 1
    late = EVERY if busy else 0.1
    assert all(0.8 * whole <= pause <= whole + late for pause, whole in zip(pauses, doubled, strict=True)), pauses


@pytest.mark.parametrize("work", [True, False], ids=["writes", "nothing to do"])
@pytest.mark.parametrize("calm", [0.3, 10.0])
def test_op023_patience_begins_anew_when_nothing_failed_for_long_enough(work: bool, calm: float) -> None:
    """The server is away for a while and comes back; the next trouble is tried again soon, as the first one was.

    Not after a single round that went well: it may have made only what the next try ends again.
    """
    broken: list[float] = []
    heard = asyncio.Semaphore(0)

    class Hearing(ReconcileRoundListener):
        def on_round_failed(self, root_key: RootKey, words: str) -> None:
            broken.append(now())
            heard.release()

    def decide(snapshot: Snapshot) -> Plan:
        if away:
            raise NoServerResponse("away")
        return reconcile(snapshot) if work else replace(reconcile(snapshot), steps=())

    away = True

    async def scenario() -> None:
        nonlocal away
        cache = ClusterCache()
        rounds = ReconcileLoop(
            cache=cache, writer=Letting(AttemptOutcome.DONE), decide=planning_sets(decide), listeners=(Hearing(),)
        )
        rounds.start()
        cache.put("PodCliqueSet", a_set())
        rounds.enqueue(ROOT_KEY)
        for _ in range(4):
            await heard.acquire()
        away = False
        rounds.enqueue(ROOT_KEY)
        await asyncio.sleep(calm)
        rounds.enqueue(ROOT_KEY)
        await asyncio.sleep(0.3)  # what is not answered is left alone for the first pause
        away = True
        rounds.enqueue(ROOT_KEY)
        for _ in range(2):
            await heard.acquire()
        await rounds.close()

    run_skipping_time(scenario())
    assert broken[3] - broken[2] >= 0.8, broken
    is_short = broken[5] - broken[4] < 0.3
    assert is_short == (calm > 4), broken
