"""The list of all pods of a namespace before a pod is created (OP-106)."""

import asyncio
from collections.abc import Callable, Sequence
from unittest import mock

import pytest

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.resources.api_names import CORE, GROVE, MANAGED_BY
from grove_shell.apply import pod_relist
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener, plan_for_root
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.stub_server import api_with
from tests.operator.unlabelled_pods import (
    FOLLOWED,
    Server,
    Tried,
    a_clique,
    a_pod,
    cache_with,
    outcomes,
    planned_creation,
    run_on,
)


def test_op106_a_namespace_is_listed_once_for_all_pod_creations() -> None:
    server = Server()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        first = await asyncio.gather(*(make(f"llm-0-a-{index}", "a") for index in range(20)))
        return [*first, await begin()("llm-0-b-0", "b")]

    assert outcomes(run_on(server, cache_with(), acts)) == [AttemptOutcome.DONE] * 21
    assert server.lists == ["ml"]


@pytest.mark.parametrize(("leaves", "again"), [(False, 1), (True, 0)], ids=["it served", "it was leaving"])
def test_op106_it_is_asked_again_when_one_went_that_was_not_being_deleted(leaves: bool, again: int) -> None:
    """By an event, and by a list that has it not."""
    pods = [a_pod(name, "a", FOLLOWED, leaves=leaves) for name in ("llm-0-a-0", "llm-0-a-1")]
    server, cache = Server(), cache_with(*pods)

    async def acts(begin: Callable[[], Tried]) -> None:
        await begin()("llm-0-b-0", "b")
        cache.drop("Pod", pods[0])
        await begin()("llm-0-b-1", "b")
        assert len(server.lists) == 1 + again
        cache.replace_all_of_kind("Pod", server.pods.values(), "20")
        await begin()("llm-0-b-2", "b")
        assert len(server.lists) == 1 + 2 * again

    run_on(server, cache, acts)


@pytest.mark.parametrize("how", ["deleted", "not found", "asked for"])
def test_op106_a_pod_deleted_by_the_operator_is_not_missed(how: str) -> None:
    """The server was asked for that very pod."""
    server, cache = Server(), cache_with(a_pod("llm-0-a-0", "a", FOLLOWED))
    server.finds = how == "deleted"
    ref = Ref(CORE, "Pod", "ml", "llm-0-a-0")

    async def scenario() -> None:
        async with api_with(server.answer) as api:
            acting = ClusterWriter(api, cache)
            make = planned_creation(acting, cache)
            await make("llm-0-b-0", "b")
            if how == "asked for":
                await acting.relist_set(("ml", "llm"))
            else:
                step = Step(StepStage.WORKLOAD, ref, Delete(Guard("llm-0-a-0", "7")), ())
                outcome = AttemptOutcome.DONE if how == "deleted" else AttemptOutcome.CONFLICT
                assert (await acting.step_executor()(step)).outcome is outcome
            assert cache.find_object(ref) is None
            await make("llm-0-b-1", "b")

    asyncio.run(scenario())
    assert server.lists == ["ml"]


def test_op106_a_pod_that_counts_as_lost_with_all_its_kind_is_missed() -> None:
    pod = a_pod("llm-0-a-0", "a", FOLLOWED)
    server, cache = Server(), cache_with(pod)

    async def acts(begin: Callable[[], Tried]) -> None:
        await begin()("llm-0-b-0", "b")
        cache.mark_kind_unlisted("Pod", "forbidden")
        await begin()("llm-0-b-1", "b")

    run_on(server, cache, acts)
    assert server.lists == ["ml", "ml"]


def test_op106_what_is_no_pod_is_made_without_asking_and_not_missed() -> None:
    server, cache = Server(), cache_with()

    async def scenario() -> None:
        async with api_with(server.answer) as api:
            acting = ClusterWriter(api, cache)
            reference = {"kind": "PodCliqueSet", "name": "llm", "uid": "set", "controller": True}
            raw = a_clique("c")
            raw["metadata"]["ownerReferences"] = [reference]
            clique = freeze(raw)
            assert isinstance(clique, FrozenMap)
            await acting.step_executor()(
                Step(StepStage.WORKLOAD, Ref(GROVE, "PodClique", "ml", "llm-0-c"), Create(clique), ())
            )
            assert (server.made, server.lists) == (["llm-0-c"], [])
            await planned_creation(acting, cache)("llm-0-b-0", "b")
            cache.drop("PodClique", a_clique("a"))
            await planned_creation(acting, cache)("llm-0-b-1", "b")

    asyncio.run(scenario())
    assert server.lists == ["ml"]


@pytest.mark.req("OP-018")
def test_op106_a_pod_that_lost_its_label_is_not_made_again() -> None:
    """Nothing of this round for its clique, be it tried later; all else is made, and the next round knows of it."""
    server, cache = Server(a_pod("llm-0-a-lost", "a", {})), cache_with()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make, other = begin(), begin()
        first = [await make("llm-0-b-0", "b"), await make("llm-0-a-0", "a"), await other("llm-0-a-1", "a")]
        return [*first, await begin()("llm-0-a-2", "a")]

    attempts = run_on(server, cache, acts)
    assert outcomes(attempts) == [
        AttemptOutcome.DONE,
        AttemptOutcome.CONFLICT,
        AttemptOutcome.CONFLICT,
        AttemptOutcome.DONE,
    ]
    assert attempts[1].detail == "Pod/llm-0-a-lost exists, and the plan did not know it"
    assert cache.find_object(Ref(CORE, "Pod", "ml", "llm-0-a-lost")) is not None
    assert (server.labelled, server.lists) == (["llm-0-a-lost"], ["ml"])


@pytest.mark.req("OP-018")
def test_op106_a_pod_that_was_listed_and_went_is_not_looked_up_again() -> None:
    """Side by side, and later."""
    lost = a_pod("llm-0-a-lost", "a", {})
    server, cache = Server(lost), cache_with()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        await asyncio.gather(make("llm-0-a-0", "a"), make("llm-0-a-1", "a"))
        cache.drop("Pod", lost, confirmed=True)
        server.tried.clear()
        return [await begin()("llm-0-a-0", "a"), await begin()("llm-0-a-1", "a")]

    assert outcomes(run_on(server, cache, acts)) == [AttemptOutcome.DONE, AttemptOutcome.DONE]
    assert not server.tried


@pytest.mark.req("OP-018")
def test_op106_none_is_made_until_it_is_followed() -> None:
    server, cache = Server(a_pod("llm-0-a-lost", "a", {})), cache_with()
    server.forbids.add("llm-0-a-lost")

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        first = [await begin()("llm-0-a-0", "a"), await begin()("llm-0-b-0", "b"), await begin()("llm-0-a-0", "a")]
        assert (server.tried, server.lists) == (["llm-0-a-lost"], ["ml"]), "the other clique has nothing to do with it"
        server.forbids.clear()
        await asyncio.sleep(0.4)
        return [*first, await begin()("llm-0-a-0", "a"), await begin()("llm-0-a-0", "a")]

    with mock.patch.object(pod_relist, "_LIST_AGAIN_AFTER", 0.3):
        attempts = run_on(server, cache, acts)
    silent = AttemptOutcome.UNREACHABLE
    assert outcomes(attempts) == [silent, AttemptOutcome.DONE, silent, AttemptOutcome.CONFLICT, AttemptOutcome.DONE]
    assert attempts[0].detail == attempts[2].detail == f"Pod/llm-0-a-lost lost its label {MANAGED_BY}: no labels here"
    assert (len(server.tried), len(server.lists)) == (2, 2)


@pytest.mark.parametrize("before", ["", "gone"], ids=["none", "one of its name"])
def test_op106_a_pod_that_was_made_by_another_process_a_moment_ago_is_taken_in(before: str) -> None:
    server, cache = Server(a_pod("llm-0-a-lost", "a", FOLLOWED)), cache_with()
    if before:
        former = a_pod("llm-0-a-lost", "a", FOLLOWED)
        former["metadata"] |= {"uid": before, "resourceVersion": "6"}
        cache.put("Pod", former)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-a-0", "a"), await begin()("llm-0-a-0", "a")]

    attempts = run_on(server, cache, acts)
    assert outcomes(attempts) == [AttemptOutcome.CONFLICT, AttemptOutcome.DONE], "nor was this one of that name known"
    found = cache.find_object(Ref(CORE, "Pod", "ml", "llm-0-a-lost"))
    assert found is not None
    assert found.uid == "llm-0-a-lost"
    assert not server.tried


@pytest.mark.req("WL-085")
def test_op106_a_pod_that_was_made_without_an_answer_is_not_made_under_another_name() -> None:
    """The template changed since, and the pod had no event."""
    server = Server()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        first = await begin()("llm-0-b-0", "b")
        server.loses = True
        lost = await begin()("llm-0-a-former", "a")
        server.loses = False
        return [first, lost, await begin()("llm-0-a-0", "a"), await begin()("llm-0-b-1", "b")]

    attempts = run_on(server, cache_with(), acts)
    assert outcomes(attempts) == [
        AttemptOutcome.DONE,
        AttemptOutcome.UNREACHABLE,
        AttemptOutcome.CONFLICT,
        AttemptOutcome.DONE,
    ]
    assert server.made == ["llm-0-b-0", "llm-0-a-former", "llm-0-b-1"]
    assert len(server.lists) == 2


def test_op106_a_pod_with_an_event_since_the_plan_is_not_made_again() -> None:
    """As when another process led a moment ago."""
    server, cache = Server(), cache_with()

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make = begin()
        cache.put("Pod", a_pod("llm-0-a-lost", "a", FOLLOWED))
        return [await make("llm-0-a-0", "a"), await make("llm-0-b-0", "b"), await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache, acts)) == [AttemptOutcome.CONFLICT, AttemptOutcome.DONE, AttemptOutcome.DONE]


def test_op106_another_call_in_the_same_round_changes_nothing() -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))
    others = [a_pod(f"llm-0-b-{index}", "b", FOLLOWED) for index in (17, 18)]
    cache = cache_with(*others)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        make, found = begin(), list[Attempt]()
        for name, letter in (("llm-0-b-0", "b"), ("llm-0-a-0", "a"), ("llm-0-a-1", "a")):
            found.append(await make(name, letter))
            cache.drop("Pod", others.pop() if others else {"metadata": {"name": "nobody"}})
        return found

    assert outcomes(run_on(server, cache, acts)) == [
        AttemptOutcome.DONE,
        AttemptOutcome.CONFLICT,
        AttemptOutcome.CONFLICT,
    ]
    assert len(server.lists) == 3


@pytest.mark.req("OP-080")
def test_op106_a_list_from_before_is_no_answer() -> None:
    newer = a_pod("llm-0-b-17", "b", FOLLOWED)
    newer["metadata"]["resourceVersion"] = "50"

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-a-0", "a")]

    (attempt,) = run_on(Server(), cache_with(newer), acts)
    assert attempt.outcome is AttemptOutcome.UNREACHABLE
    assert attempt.detail.endswith("the server lists an older state than it showed before")


def test_op106_while_the_server_does_not_respond_no_pod_is_made() -> None:
    server = Server(a_pod("llm-0-a-lost", "a", {}))
    server.silent = 1

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-b-0", "b"), await begin()("llm-0-b-0", "b")]

    attempts = run_on(server, cache_with(), acts)
    assert outcomes(attempts) == [AttemptOutcome.UNREACHABLE, AttemptOutcome.DONE]
    assert attempts[0].detail == "the pods of the namespace could not be listed: Pod: away"
    assert len(server.made) == 1


def test_op106_a_pod_that_loses_its_label_during_the_list_is_looked_up() -> None:
    """The answer may be of the time before."""
    pod = a_pod("llm-0-a-lost", "a", FOLLOWED)
    server, cache = Server(), cache_with(pod)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        def vanishes() -> None:
            cache.drop("Pod", pod)
            server.pods["llm-0-a-lost"] = a_pod("llm-0-a-lost", "a", {})

        server.asked_for = vanishes
        return [await begin()("llm-0-b-0", "b"), await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache, acts)) == [AttemptOutcome.DONE, AttemptOutcome.CONFLICT]
    assert server.lists == ["ml", "ml"]


def test_op106_an_older_list_is_not_reused() -> None:
    """Another pod is to be made while the server answers, and it asks for one that went meanwhile."""
    pod = a_pod("llm-0-a-lost", "a", FOLLOWED)
    server, cache = Server(), cache_with(pod)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        later: list[asyncio.Future[Attempt]] = []

        def vanishes() -> None:
            cache.drop("Pod", pod)
            server.pods["llm-0-a-lost"] = a_pod("llm-0-a-lost", "a", {})
            later.append(asyncio.ensure_future(begin()("llm-0-a-0", "a")))

        server.asked_for = vanishes
        return [await begin()("llm-0-b-0", "b"), await later[0]]

    assert outcomes(run_on(server, cache, acts)) == [AttemptOutcome.DONE, AttemptOutcome.CONFLICT]
    assert server.lists == ["ml", "ml"]


def test_op106_pods_of_others_are_none_of_its_business() -> None:
    foreign, bare = a_pod("db-0", "db", {}), a_pod("shell", "x", {})
    foreign["metadata"]["ownerReferences"][0]["kind"] = "StatefulSet"
    del bare["metadata"]["ownerReferences"]
    server = Server(foreign, bare)

    async def acts(begin: Callable[[], Tried]) -> list[Attempt]:
        return [await begin()("llm-0-a-0", "a")]

    assert outcomes(run_on(server, cache_with(), acts)) == [AttemptOutcome.DONE]
    assert not server.labelled


class Hearer(ReconcileRoundListener):
    """Hears what became of so many pods that were to be made."""

    def __init__(self, number: int) -> None:
        self.made: list[Attempt] = []
        self.heard = asyncio.Event()
        self._number = number

    def on_steps_executed(self, planned_round: PlannedReconcileRound, attempts: Sequence[Attempt]) -> None:
        self.made += [attempt for attempt in attempts if attempt.step.target.kind == "Pod"]
        if len(self.made) >= self._number:
            self.heard.set()


def test_op106_what_a_round_makes_itself_it_knows() -> None:
    """One, two, four and so on at a time, each answered before the next."""
    server, cache, hearer = Server(), cache_with(), Hearer(6)

    async def scenario() -> None:
        async with api_with(server.answer) as api:
            acting = ClusterWriter(api, cache)
            rounds = ReconcileLoop(cache=cache, writer=acting, decide=plan_for_root, listeners=(hearer,))
            cache.changed = rounds.enqueue
            rounds.start()
            await asyncio.wait_for(hearer.heard.wait(), 10)
            await rounds.close()

    asyncio.run(scenario())
    assert {attempt.outcome for attempt in hearer.made} == {AttemptOutcome.DONE}, hearer.made
    assert len(hearer.made) == 6
