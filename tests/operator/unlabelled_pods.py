"""An API server with pods without labels, and rounds that create pods."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from aiohttp import web

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step, StepStage
from grove_core.resources.api_names import CORE, MANAGED_BY, OPERATOR
from grove_core.resources.labels import SET, SET_REPLICA
from grove_shell.apply.cluster_writer import ClusterWriter
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.operator.step_check_before_send import StepCheckBeforeSend
from tests.domain_daemon.single_domain import until
from tests.operator.stub_server import api_with, not_found

FOLLOWED: Final = {SET.primary: "llm", MANAGED_BY: OPERATOR}
PLURALS: Final = ("pods", "podcliques", "podcliquescalinggroups")
A_LIST: Final = {"metadata": {"resourceVersion": "9"}}
HOME: Final = ("ml", "llm")
Json = dict[str, Any]


def a_clique(letter: str, namespace: str = "ml") -> Json:
    labels = {SET.primary: "llm", SET_REPLICA.primary: "0"}
    meta = {"name": f"llm-0-{letter}", "namespace": namespace, "uid": letter, "resourceVersion": "6", "labels": labels}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": meta, "spec": {"replicas": 3}}


def a_set() -> Json:
    meta = {"name": "llm", "namespace": "ml", "uid": "set", "resourceVersion": "5"}
    template = {"cliques": [{"name": letter, "spec": {"replicas": 3}} for letter in "ab"]}
    spec = {"replicas": 1, "template": template}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


def a_pod(name: str, letter: str, labels: Json, *, namespace: str = "ml", leaves: bool = False) -> Json:
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": f"llm-0-{letter}", "uid": letter}
    meta = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": "7", "labels": labels}
    left = {"deletionTimestamp": "2026-11-20T08:00:00Z"} if leaves else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**meta, **left, "ownerReferences": [{**owner, "controller": True}]},
        "spec": {"containers": [{"name": "main"}]},
    }


class Server:
    """It has some pods, makes those it is asked for, and records lists of all pods and labelled pods.

    Attributes:
        silent: how many lists it still leaves without an answer.
        forbids: the pods that no client may label.
        undoes: of which pods it takes the label as it is given.
        fails: of which pods it is not able to say.
        hangs: in which namespaces it answers no list yet.
        hesitates: for how many seconds before it says whether a pod gets its label.
        cuts: whether a label request gets no response.
        finds: whether it has what is to be deleted.
        loses: whether the answer that a pod was made gets lost.
        asked_for: what happens while a list is on its way.
    """

    def __init__(self, *pods: Json) -> None:
        self.pods = {pod["metadata"]["name"]: pod for pod in pods}
        self.lists: list[str] = []
        self.labelled: list[str] = []
        self.looked_at: list[str] = []
        self.tried: list[str] = []
        self.made: list[str] = []
        self.silent = 0
        self.forbids: set[str] = set()
        self.undoes: set[str] = set()
        self.fails: set[str] = set()
        self.hangs: set[str] = set()
        self.hesitates = 0.0
        self.cuts = False
        self.finds = True
        self.loses = False
        self.asked_for: Callable[[], None] = lambda: None

    async def answer(self, request: web.Request) -> web.Response:
        _, name = request.path.rsplit("/", 1)
        if request.method == "GET" and name in PLURALS:
            a_call = "PartialObjectMetadata" in request.headers["Accept"]
            answer = self._called(request) if a_call else web.json_response({**A_LIST, "items": []})
            await until(lambda: request.path.split("/")[-2] not in self.hangs)
            return answer
        if request.method == "GET":
            self.looked_at.append(name)
        if request.method == "GET" and name in self.pods:
            return web.json_response(self.pods[name])
        if request.method == "POST":
            pod = await request.json()
            pod["metadata"] |= {"uid": pod["metadata"]["name"], "resourceVersion": "8"}
            self.made.append(pod["metadata"]["name"])
            if pod["kind"] == "Pod":
                self.pods[self.made[-1]] = pod
            if self.loses:
                cut(request)
            return web.json_response(pod, status=201)
        if request.method == "PATCH" and "/pods/" in request.path:
            return await self._labels(name, request)
        if request.method == "PATCH":
            return web.json_response({"kind": "Status", "message": "only pods"}, status=403)
        if request.method == "DELETE" and self.finds:
            done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
            return web.json_response({**done, "details": {"name": name, "uid": name}})
        return not_found(request)

    def _called(self, request: web.Request) -> web.Response:
        assert not request.query.get("labelSelector")
        namespace = request.path.split("/")[-2]
        self.lists.append(namespace)
        items = [
            {"metadata": pod["metadata"]} for pod in self.pods.values() if pod["metadata"]["namespace"] == namespace
        ]
        happens, self.asked_for = self.asked_for, lambda: None
        happens()
        if self.silent:
            self.silent -= 1
            return web.json_response({"kind": "Status", "message": "away"}, status=403)
        return web.json_response({**A_LIST, "kind": "PartialObjectMetadataList", "items": items})

    async def _labels(self, name: str, request: web.Request) -> web.Response:
        self.tried.append(name)
        await asyncio.sleep(self.hesitates)
        body = await request.json()
        if self.cuts:
            cut(request)
        if name in self.forbids:
            return web.json_response({"kind": "Status", "message": "no labels here"}, status=403)
        if name in self.undoes:
            return web.json_response(self.pods[name])
        if name in self.fails:
            return web.json_response({"kind": "Status", "message": "failed calling webhook"}, status=500)
        if name not in self.pods:
            return not_found(request)
        meta = self.pods[name]["metadata"]
        if any(body["metadata"].get(key, meta[key]) != meta[key] for key in ("uid", "resourceVersion")):
            return web.json_response({"kind": "Status", "reason": "Conflict", "message": "modified"}, status=409)
        self.labelled.append(name)
        meta |= {"labels": FOLLOWED, "resourceVersion": str(int(meta["resourceVersion"]) + 1)}
        return web.json_response(self.pods[name])


def cut(request: web.Request) -> None:
    """The connection, before there is an answer."""
    assert request.transport is not None
    request.transport.abort()


Tried = Callable[[str, str], Awaitable[Attempt]]
Acts = Callable[[Callable[[], Tried]], Awaitable[Any]]


def run_on(server: Server, cache: ClusterCache, acts: Acts) -> Any:
    """What comes of it; it gets what begins a round, which gets what makes a pod of a name for a clique."""

    async def scenario() -> Any:
        async with api_with(server.answer) as api:
            acting = ClusterWriter(api, cache)
            return await acts(lambda: planned_creation(acting, cache))

    return asyncio.run(scenario())


def creation_of(name: str, letter: str) -> Step:
    manifest = freeze(a_pod(name, letter, FOLLOWED))
    assert isinstance(manifest, FrozenMap)
    return Step(StepStage.WORKLOAD, Ref(CORE, "Pod", "ml", name), Create(manifest), ())


def planned_creation(acting: ClusterWriter, cache: ClusterCache) -> Tried:
    """What makes a pod in a round that was planned now, which is to make many."""
    seen = cache.snapshot_of_set(HOME, datetime.now(UTC))
    assert seen is not None
    steps = [creation_of(f"llm-0-{letter}-{index}", letter) for letter in "ab" for index in range(20)]
    recheck = StepCheckBeforeSend(
        seen, steps, observe=lambda: None, plan=plan_for_root, pods=partial(cache.pod_uids_of_clique, HOME)
    )
    trial = acting.step_executor(recheck.withdrawn_because)
    return lambda name, letter: trial(creation_of(name, letter))


def cache_with(*pods: Json) -> ClusterCache:
    """A copy with two cliques, and these pods."""
    cache = ClusterCache()
    cache.put("PodCliqueSet", a_set())
    for letter in "ab":
        cache.put("PodClique", a_clique(letter))
    for pod in pods:
        cache.put("Pod", pod)
    return cache


def outcomes(attempts: list[Attempt]) -> list[AttemptOutcome]:
    return [attempt.outcome for attempt in attempts]
