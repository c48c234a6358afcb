"""Responses to writes that are not of an API server, as a proxy sends them."""

import asyncio
import json
from typing import Any, Final

import pytest
from aiohttp import web

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Ensure, SetStatus, Step, StepStage
from grove_core.resources.api_names import GROVE
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.operator.leader_elector import LeaderElector, LeadershipLost
from tests.operator.stub_server import api_with
from tests.operator.test_leader import TERMS, held_by

LOGIN: Final = "<html>please log in</html>"
OTHER: Final = json.dumps({"kind": "PodClique", "metadata": {"name": "another"}})
NO_ANSWERS: Final = (LOGIN, "", "{}", "[]", "null", '{"kind": "Status", "status": "Failure"}', OTHER)
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
GUARD: Final = Guard("a", "6")
RAW: Final[dict[str, Any]] = {
    "apiVersion": GROVE,
    "kind": "PodClique",
    "metadata": {
        "name": CLIQUE.name,
        "namespace": "ml",
        "uid": "a",
        "resourceVersion": "6",
        "ownerReferences": [{"kind": "PodCliqueSet", "name": "llm", "uid": "u", "controller": True}],
    },
    "spec": {"replicas": 1},
}
CLAIM: Final = Ref("resource.k8s.io/v1", "ResourceClaim", "ml", "x")


def manifest(ref: Ref) -> FrozenMap:
    found = freeze({"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": ref.name}})
    assert isinstance(found, FrozenMap)
    return found


ACTIONS: Final[dict[str, tuple[Ref, Any]]] = {
    "create": (CLIQUE, Create(manifest(CLIQUE))),
    "ensure": (CLAIM, Ensure(manifest(CLAIM))),
    "apply": (CLIQUE, Apply(FrozenMap({"spec": FrozenMap({"replicas": 2})}), GUARD)),
    "status": (CLIQUE, SetStatus(FrozenMap({"readyReplicas": 1}), GUARD)),
    "delete": (CLIQUE, Delete(GUARD)),
}


def tried(kind: str, text: str, status: int) -> tuple[Attempt, ClusterCache]:
    cache = ClusterCache()
    cache.put("PodClique", RAW)
    target, action = ACTIONS[kind]

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=text, status=status)

    async def scenario() -> Attempt:
        async with api_with(answer) as api:
            return await StepExecutor(FreshReader(api, cache)).attempt_step(
                Step(StepStage.WORKLOAD, target, action, ())
            )

    return asyncio.run(scenario()), cache


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("text", NO_ANSWERS)
@pytest.mark.req("OP-023")
def test_op065_it_was_not_done(kind: str, text: str) -> None:
    """And is tried again, later each time, as whatever got no answer."""
    attempt, cache = tried(kind, text, 200)
    assert attempt.outcome is AttemptOutcome.UNREACHABLE
    assert cache.find_object(CLIQUE) is not None


@pytest.mark.parametrize("kind", ["apply", "status", "delete"])
@pytest.mark.req("OP-002")
def test_op065_a_kind_that_is_not_served_leaves_no_tombstones(kind: str) -> None:
    attempt, cache = tried(kind, "404 page not found\n", 404)
    assert attempt.outcome is AttemptOutcome.UNREACHABLE
    assert cache.find_object(CLIQUE) is not None
    gone = json.dumps({"kind": "Status", "reason": "NotFound", "details": {"name": CLIQUE.name}})
    attempt, cache = tried(kind, gone, 404)
    assert attempt.outcome is AttemptOutcome.CONFLICT
    assert cache.find_object(CLIQUE) is None


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("status", [404, 409])
@pytest.mark.parametrize("text", ["[]", "null", '{"reason": "NotFound", "details": "x"}', '{"kind": ["x"]}'])
@pytest.mark.req("OP-023")
def test_op065_a_refusal_of_no_shape_is_an_answer_all_the_same(kind: str, status: int, text: str) -> None:
    """Nothing is raised for it, and nothing counts as gone."""
    attempt, cache = tried(kind, text, status)
    assert attempt.outcome is not AttemptOutcome.DONE
    assert cache.find_object(CLIQUE) is not None


class Fickle:
    """A Lease that this process takes; from then on, responses of another server."""

    def __init__(self, later: tuple[int, str], *, first: str = "") -> None:
        self.later = later
        self.first = first
        self.writes = self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.writes or self.first:
            return web.Response(text=self.first or self.later[1], status=200 if self.first else self.later[0])
        if request.method == "GET":
            return web.json_response(held_by(""))
        self.writes += 1
        return web.json_response(await request.json())


@pytest.mark.parametrize(
    "text", [LOGIN, "{}", "[]", '{"kind": "Status"}', '{"kind": "Lease", "metadata": {"name": "x"}}']
)
@pytest.mark.req("OP-030")
def test_op065_a_login_page_grants_no_lease(text: str) -> None:
    async def scenario() -> tuple[list[bool], list[tuple[str, str, str]]]:
        elected, reported = list[bool](), list[tuple[str, str, str]]()
        async with api_with(Fickle((200, ""), first=text).answer) as api:
            leader = LeaderElector(api, TERMS, "we", elected.append, lambda *line: reported.append(line))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(leader.run(), 0.2)
            assert not leader.may_write
        return elected, reported

    elected, reported = asyncio.run(scenario())
    assert elected == []
    assert len(reported) == 1


@pytest.mark.parametrize(("status", "text"), [(200, LOGIN), (409, '{"kind": "Status", "reason": "Conflict"}')])
@pytest.mark.req("OP-030")
def test_op065_a_leader_that_is_not_answered_asks_until_its_time_is_over(status: int, text: str) -> None:
    """Not even a conflict shows that another leads: a user may have annotated the Lease."""
    terms = TERMS.model_copy(update={"renew_deadline": 0.5, "retry_period": 0.02})
    server = Fickle((status, text))

    async def scenario() -> None:
        async with api_with(server.answer) as api:
            await asyncio.wait_for(LeaderElector(api, terms, "we", lambda _leads: None).run(), 20)

    with pytest.raises(LeadershipLost, match="was not renewed in time"):
        asyncio.run(scenario())
    assert server.asked > 4
