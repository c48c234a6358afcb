"""A pod whose selector label was removed: a watch reports it as deleted, and it still runs."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from aiohttp import web

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step, StepStage
from grove_core.resources.api_names import CORE, GROVE, MANAGED_BY, OPERATOR
from grove_core.resources.labels import SET, SET_REPLICA
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_session import ApiSession, NoServerResponse
from tests.operator.stub_server import api_with, not_found

REF: Final = Ref(CORE, "Pod", "ml", "llm-0-a-0")
OWNER: Final = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "llm-0-a", "uid": "a"}
Json = dict[str, Any]


def a_pod(version: str, labels: Json, name: str = REF.name, uid: str = "pod") -> Json:
    meta = {"name": name, "namespace": "ml", "uid": uid, "resourceVersion": version, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**meta, "ownerReferences": [{**OWNER, "controller": True}]},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


CLIQUE: Final[Json] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodClique",
    "metadata": {
        "name": "llm-0-a",
        "namespace": "ml",
        "uid": "a",
        "resourceVersion": "6",
        "labels": {SET.primary: "llm", SET_REPLICA.primary: "0"},
    },
    "spec": {"replicas": 1},
}


class Server:
    """It has one pod and its clique, lists what a selector asks for, and records the patches."""

    def __init__(self, *, forbids: bool = False, conflicts: bool = False, strips: bool = False) -> None:
        self.pod = a_pod("8", {SET.primary: "llm"})
        self.others: list[Json] = []
        self.forbids, self.conflicts, self.strips = forbids, conflicts, strips
        self.patches: list[Json] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "POST":
            return web.json_response({"kind": "Status", "reason": "AlreadyExists"}, status=409)
        if request.method == "PATCH":
            self.patches.append(await request.json())
            if self.forbids:
                return web.json_response({"kind": "Status", "message": "no labels here"}, status=403)
            if self.conflicts:
                return web.json_response({"kind": "Status", "reason": "Conflict"}, status=409)
            given = {} if self.strips else self.patches[-1]["metadata"]["labels"]
            self.pod = a_pod("9", {**self.pod["metadata"]["labels"], **given})
        if request.path.endswith(("/pods", "/podcliques", "/podcliquescalinggroups")):
            items = {"/pods": [self.pod, *self.others], "/podcliques": [CLIQUE]}.get(
                request.path[request.path.rindex("/") :], []
            )
            key, _, text = request.query.get("labelSelector", "").partition("=")
            items = [item for item in items if not key or item["metadata"]["labels"].get(key) == text]
            return web.json_response({"metadata": {"resourceVersion": "9"}, "items": items})
        if request.path.endswith(REF.name):
            return web.json_response(self.pod)
        return not_found(request)


def vanished_pods() -> ClusterCache:
    """The pod was there, and then the watch reported its deletion: in the version in which it lost its label."""
    cache = ClusterCache()
    cache.put("PodClique", CLIQUE)
    cache.put("Pod", a_pod("7", {SET.primary: "llm", MANAGED_BY: OPERATOR}))
    cache.drop("Pod", a_pod("8", {SET.primary: "llm", MANAGED_BY: OPERATOR}))
    assert cache.find_object(REF) is None
    return cache


def answered(server: Server, cache: ClusterCache, ask: Callable[[ApiSession, ClusterCache], Awaitable[Any]]) -> Any:
    async def scenario() -> Any:
        async with api_with(server.answer) as api:
            return await ask(api, cache)

    return asyncio.run(scenario())


async def create(api: ApiSession, cache: ClusterCache) -> Attempt:
    manifest = freeze(a_pod("", {SET.primary: "llm", MANAGED_BY: OPERATOR}))
    assert isinstance(manifest, FrozenMap)
    return await StepExecutor(FreshReader(api, cache)).attempt_step(Step(StepStage.WORKLOAD, REF, Create(manifest), ()))


async def relist_set(api: ApiSession, cache: ClusterCache) -> None:
    await ClusterWriter(api, cache).relist_set(("ml", "llm"))


def test_op018_it_gets_its_label_back_and_is_seen_again() -> None:
    server, cache = Server(), vanished_pods()
    assert answered(server, cache, create).outcome is AttemptOutcome.DONE
    (patch,) = server.patches
    write_key = {"uid": "pod", "resourceVersion": "8"}
    assert patch == {"metadata": {**write_key, "labels": {MANAGED_BY: OPERATOR}}}
    assert cache.find_object(REF) is not None
    assert answered(server, cache, create).outcome is AttemptOutcome.DONE
    assert len(server.patches) == 1
    answered(server, cache, relist_set)


def test_op018_a_refusal_is_reported() -> None:
    attempt = answered(Server(forbids=True), vanished_pods(), create)
    words = f"Pod/{REF.name} lost its label {MANAGED_BY}: no labels here"
    assert (attempt.outcome, attempt.detail) == (AttemptOutcome.REFUSED, words)


def test_op018_an_object_that_has_no_label_yet_is_not_taken_in() -> None:
    """The kubelet was faster: the end of that pod would not be observed."""
    server, cache = Server(conflicts=True), ClusterCache()
    cache.put("PodClique", CLIQUE)
    assert answered(server, cache, create).outcome is AttemptOutcome.CONFLICT
    assert cache.find_object(REF) is None
    server.conflicts = False
    assert answered(server, cache, create).outcome is AttemptOutcome.DONE
    assert cache.find_object(REF) is not None


@pytest.mark.req("OP-013")
def test_op018_an_object_that_is_met_before_an_end_gets_its_label_back() -> None:
    server, cache = Server(), ClusterCache()
    cache.put("PodClique", CLIQUE)
    answered(server, cache, relist_set)
    assert len(server.patches) == 1
    assert cache.find_object(REF) is not None
    answered(server, cache, relist_set)
    assert len(server.patches) == 1


@pytest.mark.req("OP-013")
def test_op018_nothing_is_terminated_while_its_label_is_missing() -> None:
    cache = ClusterCache()
    cache.put("PodClique", CLIQUE)
    with pytest.raises(NoServerResponse, match=r"Pod/llm-0-a-0 lost its label .*: no labels here"):
        answered(Server(forbids=True), cache, relist_set)
    assert cache.find_object(REF) is None


@pytest.mark.parametrize("labels", [{SET.primary: "llm"}, {}, {SET.primary: "another"}], ids=str)
def test_op013_nothing_is_ended_while_it_is_there(labels: Json) -> None:
    """It is seen again, and the next round knows of it."""
    server, cache = Server(), vanished_pods()
    server.pod = a_pod("8", labels)
    with pytest.raises(NoServerResponse, match="Pod/llm-0-a-0: the server has it"):
        answered(server, cache, relist_set)
    answered(server, cache, relist_set)
    assert cache.find_object(REF) is not None


@pytest.mark.parametrize(("forbids", "words"), [(False, "the server has it"), (True, "no labels here")])
def test_op013_all_that_is_there_is_taken_in_at_once(forbids: bool, words: str) -> None:
    """Or each would put the end off for a pause of its own; whatever is wrong with another."""
    cache, server = vanished_pods(), Server(forbids=forbids)
    labels = {SET.primary: "llm", MANAGED_BY: OPERATOR}
    then, now = (a_pod(version, labels, "llm-0-a-1", "another") for version in ("8", "9"))
    cache.put("Pod", then)
    cache.drop("Pod", then)
    server.others = [now]
    with pytest.raises(NoServerResponse, match=f"Pod/llm-0-a-0.*{words}"):
        answered(server, cache, relist_set)
    assert cache.find_object(Ref(CORE, "Pod", "ml", "llm-0-a-1")) is not None


@pytest.mark.req("OP-020")
def test_op018_one_refusal_is_enough_to_end_nothing() -> None:
    """Each may take as long as a server is waited for."""
    cache, server = vanished_pods(), Server(forbids=True)
    server.others = [a_pod("8", {SET.primary: "llm"}, f"llm-0-a-{index}", f"uid-{index}") for index in range(1, 9)]
    with pytest.raises(NoServerResponse, match="no labels here"):
        answered(server, cache, relist_set)
    assert len(server.patches) == 1


@pytest.mark.parametrize("labels", [{}, {SET.primary: "llm"}], ids=["unowned", "named as of the set"])
def test_op013_unowned_pods_are_ignored(labels: Json) -> None:
    server, cache = Server(), ClusterCache()
    cache.put("PodClique", CLIQUE)
    server.pod = a_pod("8", labels)
    server.pod["metadata"]["ownerReferences"] = []
    answered(server, cache, relist_set)
    assert not server.patches
    assert (cache.find_object(REF) is not None) == bool(labels)


class Restless(Server):
    """The token of its first list of pods expires; the pod to label is gone by then, if so configured."""

    goes = False

    async def answer(self, request: web.Request) -> web.Response:
        if request.query.get("continue"):
            return web.json_response({"kind": "Status", "code": 410, "reason": "Expired"}, status=410)
        if request.method == "PATCH" and self.goes:
            self.patches.append({})
            return not_found(request)
        answer = await super().answer(request)
        if request.method == "GET" and request.path.endswith("/pods") and request.query.get("limit"):
            listed = {"items": [self.pod], "metadata": {"resourceVersion": "9", "continue": "next"}}
            return web.json_response(listed)
        return answer


@pytest.mark.req("OP-013", "OP-080")
@pytest.mark.parametrize("goes", [False, True])
def test_op018_a_pod_listed_twice_is_labelled_once_and_a_deleted_one_is_not_in_doubt(goes: bool) -> None:
    server, cache = Restless(), ClusterCache()
    server.goes = goes
    cache.put("PodClique", CLIQUE)
    answered(server, cache, relist_set)
    assert len(server.patches) == 1
    assert (cache.find_object(REF) is None) == goes


class Unwell(Server):
    """It lists no clique, and answers to a question for one object like this."""

    def __init__(self, path: str, status: int, text: str) -> None:
        super().__init__()
        self._about = path
        self._said = (status, text)

    async def answer(self, request: web.Request) -> web.Response:
        if request.path.endswith(self._about):
            status, text = self._said
            return web.Response(status=status, text=text, headers={"Retry-After": "0"})
        if request.path.endswith("/podcliques"):
            return web.json_response({"metadata": {"resourceVersion": "8"}, "items": []})
        return await super().answer(request)


@pytest.mark.parametrize("path", ["/podcliquesets/llm", "/podcliques/llm-0-a"])
@pytest.mark.parametrize(
    ("status", "text"),
    [(500, "etcdserver: leader changed"), (503, "away"), (429, "too many"), (403, "forbidden"), (401, "who?")],
)
def test_op013_nothing_is_ended_where_the_server_would_not_say(path: str, status: int, text: str) -> None:
    """About the set itself, or about a clique that the copy has and the list has not."""
    with pytest.raises(NoServerResponse, match=text):
        answered(Unwell(path, status, text), with_clique(), relist_set)


@pytest.mark.parametrize("text", ["<html>please log in</html>", "{}", "[]", ""])
@pytest.mark.req("OP-065")
def test_op013_a_login_page_shows_nothing(text: str) -> None:
    with pytest.raises(NoServerResponse):
        answered(Unwell("/podcliquesets/llm", 200, text), with_clique(), relist_set)


def test_op013_what_the_server_does_not_find_is_gone() -> None:
    cache = with_clique()
    gone = json.dumps({"kind": "Status", "reason": "NotFound", "details": {"name": "llm-0-a"}})
    answered(Unwell("/podcliques/llm-0-a", 404, gone), cache, relist_set)
    assert cache.refs_of_kind_in_set(("ml", "llm"), "PodClique") == []


@pytest.mark.req("OP-013")
def test_op065_a_kind_that_is_not_served_terminates_nothing() -> None:
    """As a server says it while a definition is established anew."""
    cache = with_clique()
    with pytest.raises(NoServerResponse, match="page not found"):
        answered(Unwell("/podcliques/llm-0-a", 404, "404 page not found\n"), cache, relist_set)
    assert [ref.name for ref in cache.refs_of_kind_in_set(("ml", "llm"), "PodClique")] == ["llm-0-a"]


def with_clique() -> ClusterCache:
    cache = ClusterCache()
    cache.put("PodClique", CLIQUE)
    assert [ref.name for ref in cache.refs_of_kind_in_set(("ml", "llm"), "PodClique")] == ["llm-0-a"]
    return cache


@pytest.mark.parametrize(("status", "text"), [(200, "<html></html>"), (200, "[]"), (500, "away")])
@pytest.mark.req("OP-065")
def test_op074_a_cause_that_is_not_shown_does_not_stand(status: int, text: str) -> None:
    async def is_unchanged(api: ApiSession, cache: ClusterCache) -> bool:
        return await FreshReader(api, cache).is_unchanged_on_server(
            Ref(GROVE, "PodClique", "ml", "llm-0-a"), Guard("a", "6")
        )

    assert not answered(Unwell("/podcliques/llm-0-a", status, text), with_clique(), is_unchanged)


@pytest.mark.req("OP-013")
def test_op080_nothing_is_ended_by_a_list_of_an_older_state() -> None:
    """Its pods are healthy in versions that count as old news."""
    cache = with_clique()
    cache.put("Pod", a_pod("50", {SET.primary: "llm", MANAGED_BY: OPERATOR}))
    with pytest.raises(NoServerResponse, match="Pod: the server lists an older state than it showed before"):
        answered(Server(), cache, relist_set)


@pytest.mark.req("OP-013")
def test_op018_a_label_that_is_taken_again_at_once_is_none() -> None:
    server, cache = Server(strips=True), with_clique()
    for _ in range(2):
        with pytest.raises(NoServerResponse, match=r"lost its label .*: it was removed again at once"):
            answered(server, cache, relist_set)
    assert cache.find_object(REF) is None


@pytest.mark.req("OP-013")
def test_op080_nothing_is_ended_by_a_list_that_shows_what_was_before() -> None:
    """Its own version is new enough: the store went back, and caught up since. The next round knows it."""
    cache = with_clique()
    cache.put("Pod", a_pod("9", {SET.primary: "llm", MANAGED_BY: OPERATOR}))
    server = Server()
    server.pod = a_pod("5", {SET.primary: "llm", MANAGED_BY: OPERATOR})
    with pytest.raises(NoServerResponse, match="Pod/llm-0-a-0: the server lists an older state than it showed before"):
        answered(server, cache, relist_set)
    assert cache.newest_resource_version("Pod") == 5
    answered(server, cache, relist_set)


@pytest.mark.req("OP-080")
def test_op018_an_object_that_is_believed_as_it_was_before_is_followed_as_well() -> None:
    cache, server = with_clique(), Server()
    cache.put("Pod", a_pod("9", {SET.primary: "llm", MANAGED_BY: OPERATOR}))
    server.pod = a_pod("5", {SET.primary: "llm"})
    with pytest.raises(NoServerResponse, match="Pod/llm-0-a-0: the server lists an older state than it showed before"):
        answered(server, cache, relist_set)
    assert len(server.patches) == 1
