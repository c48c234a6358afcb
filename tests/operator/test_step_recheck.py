"""Pods that become ready between the plan that terminates their gang and the first deletion."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from aiohttp import web

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import GROVE
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener, plan_for_root
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api_session import ApiSession
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.stub_server import api_with, not_found
from tests.property.termination_bases import basis_of

GIVEN: Final = (
    Path(__file__)
    .parents[1]
    .joinpath("golden", "gang_termination", "gt033_delay_expired_terminates_whole_replica", "given.yaml")
)
KINDS: Final = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod", "Service", "ServiceAccount")
KINDS_OF_ACCESS: Final = ("Secret", "Role", "RoleBinding")


class Cluster:
    """A copy of a gang that is to end, whose steps are all done; it recovers at some moment, or never."""

    def __init__(self, recovers: str, given: Path = GIVEN) -> None:
        self.items = yaml.load(given.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
        self.recovers = recovers
        self.cache = ClusterCache()
        self.tried: list[Step] = []
        for kind in (*KINDS, *KINDS_OF_ACCESS):
            self.cache.replace_all_of_kind(kind, [deepcopy(one) for one in self.items if one["kind"] == kind], "1")
        (raw,) = (one for one in self.items if one["kind"] == "PodCliqueSet")
        self.root_key: RootKey = (raw["metadata"]["namespace"], raw["metadata"]["name"])

    def recover(self, *cliques: str) -> None:
        """Pods of these, of all of them where none is named."""
        for raw in deepcopy(self.items):
            owners = {owner["name"] for owner in raw["metadata"].get("ownerReferences", ())}
            if raw["kind"] == "Pod" and (not cliques or owners.intersection(cliques)):
                raw["metadata"]["resourceVersion"] = "99999999"
                raw["status"] = {
                    "phase": "Running",
                    "conditions": [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready")],
                }
                self.cache.put("Pod", raw)

    async def relist_set(self, _home: RootKey) -> None:
        """The server has what the copy has."""

    async def announced(self) -> None:
        if self.recovers == "while it is reported":
            self.recover()

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        async def attempt(step: Step) -> Attempt:
            if isinstance(step.action, Create) and self.recovers == "while others are made":
                self.recover()
            words = unless(step)
            if words is not None:
                return Attempt(step, AttemptOutcome.CONFLICT, words)
            self.tried.append(step)
            return Attempt(step, AttemptOutcome.DONE)

        return attempt


class Hearer(ReconcileRoundListener):
    """Hears of the first round."""

    def __init__(self) -> None:
        self.attempts: tuple[Attempt, ...] = ()
        self.heard = asyncio.Event()

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: tuple[Attempt, ...]) -> None:
        self.attempts = self.attempts or attempts
        self.heard.set()


def played(cluster: Cluster, decide: Callable[[Observation], Plan] = plan_for_root) -> tuple[Attempt, ...]:
    hearer = Hearer()

    async def scenario() -> None:
        rounds = ReconcileLoop(
            cache=cluster.cache, writer=cluster, decide=decide, listeners=(hearer,), flush_events=cluster.announced
        )
        rounds.start()
        rounds.enqueue(cluster.root_key)
        await asyncio.wait_for(hearer.heard.wait(), 20)
        await rounds.close()

    asyncio.run(scenario())
    return hearer.attempts


def ends(attempts: tuple[Attempt, ...]) -> dict[str, Any]:
    return {one.step.target.name: (one.outcome, one.detail) for one in attempts if isinstance(one.step.action, Delete)}


@pytest.mark.req("OP-013")
def test_op074_a_clique_that_does_not_recover_is_ended() -> None:
    cluster = Cluster("never")
    found = ends(played(cluster))
    assert len(found) == 3
    assert set(found.values()) == {(AttemptOutcome.DONE, "")}
    assert sum(isinstance(step.action, Delete) for step in cluster.tried) == 3


@pytest.mark.parametrize("moment", ["while it is reported", "while others are made"])
def test_op074_a_clique_that_recovers_meanwhile_is_spared(moment: str) -> None:
    cluster = Cluster(moment)
    if moment == "while others are made":  # a service of the set is missing, and is made in the same round
        cluster.cache.replace_all_of_kind("Service", [], "2")
    found = ends(played(cluster))
    assert found
    assert {outcome for outcome, _ in found.values()} == {AttemptOutcome.CONFLICT}
    assert {words for _, words in found.values()} == {"its gang is not to be terminated any more"}
    assert not any(isinstance(step.action, Delete) for step in cluster.tried)


@pytest.mark.req("OP-023")
def test_op074_a_fault_of_ours_in_the_fresh_read_terminates_nothing() -> None:
    """And what became of the round is heard of all the same."""
    cluster, looks = Cluster("never"), list[int]()

    def decide(seen: Observation) -> Plan:
        looks.append(1)
        if len(looks) == 3:  # planned, planned again on what the server says, and then the fresh read
            raise ZeroDivisionError
        return plan_for_root(seen)

    found = ends(played(cluster, decide))
    assert {outcome for outcome, _ in found.values()} == {AttemptOutcome.CONFLICT}
    assert all(words.startswith("internal error: ZeroDivisionError") for _, words in found.values())


class Impatient(Cluster):
    """A real server, which wants to be left alone before the first deletion; meanwhile the gang recovers, or not."""

    def __init__(self, recovers: str, api: ApiSession) -> None:
        super().__init__(recovers)
        self.api = api
        self.asked: list[str] = []

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        return StepExecutor(FreshReader(self.api, self.cache), withdrawn_because=unless).attempt_step

    async def answer(self, request: web.Request) -> web.Response:
        name = request.path.rpartition("/")[2]
        if request.method == "DELETE":
            self.asked.append(name)
            if len(self.asked) == 1:
                if self.recovers == "while a deletion waits":
                    self.recover()
                    await asyncio.sleep(0.2)  # longer than a judgement is good for
                return web.json_response({}, status=429, headers={"Retry-After": "1.1"})
            return web.json_response({"kind": "Status", "status": "Success"})
        found = [one for one in self.items if one["metadata"]["name"] == name and one["kind"] == "PodClique"]
        return web.json_response(found[0]) if request.method == "GET" and found else not_found(request)


@pytest.mark.req("OP-065")
@pytest.mark.parametrize("recovers", ["never", "while a deletion waits"])
def test_op074_a_clique_that_recovers_while_a_deletion_waits_is_spared(recovers: str) -> None:
    async def scenario() -> tuple[list[str], dict[str, Any]]:
        cluster: Impatient | None = None

        async def answer(request: web.Request) -> web.Response:
            assert cluster is not None
            return await cluster.answer(request)

        async with api_with(answer, in_flight=1) as api:
            cluster = Impatient(recovers, api)
            hearer = Hearer()
            rounds = ReconcileLoop(cache=cluster.cache, writer=cluster, decide=plan_for_root, listeners=(hearer,))
            rounds.start()
            await asyncio.wait_for(hearer.heard.wait(), 20)
            await rounds.close()
        return cluster.asked, ends(hearer.attempts)

    tried, found = asyncio.run(scenario())
    outcomes = {outcome for outcome, _ in found.values()}
    if recovers == "never":
        assert len(set(tried)) == 3
        assert outcomes == {AttemptOutcome.DONE}
    else:
        assert len(tried) == 1, "and that one the server did not carry out"
        assert found[tried[0]] == (AttemptOutcome.CONFLICT, "its gang is not to be terminated any more")
        assert AttemptOutcome.DONE not in outcomes


def test_pl015_an_abandoned_cause_prints_no_traceback() -> None:
    """The round was cancelled, as at the end of a process, and the connection is cut."""
    left: list[str] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: left.append(str(context)))
        hangs, goes_on = asyncio.Event(), asyncio.Event()

        async def answer(request: web.Request) -> web.Response:
            hangs.set()
            await goes_on.wait()
            assert request.transport is not None
            request.transport.abort()
            return not_found(request)

        async with api_with(answer) as api:
            cause, companion = (Ref(GROVE, "PodClique", "ml", name) for name in ("llm-0-a", "llm-0-b"))
            write_key = Guard("uid", "1")
            step = Step(StepStage.CLEANUP, companion, Delete(write_key, basis=basis_of((cause, write_key))), ())
            trying = asyncio.ensure_future(StepExecutor(FreshReader(api, ClusterCache())).attempt_step(step))
            await hangs.wait()
            trying.cancel()
            await asyncio.wait([trying])
            goes_on.set()
            await asyncio.sleep(0.05)  # until that is heard of
        gc.collect()

    asyncio.run(scenario())
    assert not left
