"""A sequence on a real API server, through the operator's own client: its writes, its watches, its caches."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.cache.root_keys import RootKey
from grove_shell.client.api_kinds import KINDS, url_path_of_ref
from grove_shell.client.api_response import ApiResponse
from grove_shell.client.api_session import JSON, MERGE, STRATEGIC, ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.client.reflector import Reflector
from tests.recorded_api_server.hands import step_of
from tests.recorded_api_server.memory import can_be_placed, can_run
from tests.recorded_api_server.moves import Move, What
from tests.recorded_api_server.slots import FOREIGN_FINALIZER, SLOTS, Json, set_manifest
from tests.recorded_api_server.transcripts import SKIPPED, Eyes, Frame, Transcript
from tests.recorded_api_server.views import TOUCHED, Object

SIDE_BY_SIDE: Final = 50
_PATIENCE: Final = 5.0  # for what the garbage collector does
_BEFORE_WAITING: Final = 0.3  # a collector that has not heard of a part yet does not wait for it
_AFTERWARDS: Final = 1.0  # whatever it does unasked has happened by then
_KINDS: Final = sorted({slot.kind for slot in SLOTS.values()})


class Server:
    """One API server; sequences are played side by side, each in a namespace of its own."""

    def __init__(self, api: ApiSession) -> None:
        self.api = api
        self.cache = ClusterCache(self._changed)
        self.events: defaultdict[str, list[tuple[Object, bool]]] = defaultdict(list)
        self._events: dict[str, asyncio.Event] = {}
        self._turns = asyncio.Semaphore(SIDE_BY_SIDE)

    async def play(self, namespace: str, moves: Sequence[Move], expected: Transcript) -> Transcript:
        """What becomes of a sequence here; it ends early where something else comes of it than is expected.

        Args:
            namespace: that is unused.
            moves: one after the other.
            expected: for how long to wait for what the server does by and by.
        """
        async with self._turns:
            await self._begin(namespace)
            player = _Player(self, namespace)
            transcript = Transcript()
            for number, move in enumerate(moves):
                outcome = await player.make(move)
                frame = await player.settled(outcome, expected.frames[number])
                transcript.frames.append(frame)
                if frame != expected.frames[number]:
                    return transcript
            await asyncio.sleep(_AFTERWARDS)
            if transcript.frames and (late := player.eyes.preview("", player.observation())) != Frame("", {}, ()):
                last = transcript.frames[-1]
                transcript.frames[-1] = Frame(last.outcome, {**last.changed, **late.changed}, late.written)
            transcript.reported = player.eyes.reported(self.events[namespace])
            return transcript

    async def news(self, namespace: str, seconds: float) -> None:
        """Wait until something changes in a namespace, no longer than so."""
        event = self._events[namespace] = asyncio.Event()
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return

    async def ask(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> ApiResponse:
        """A client other than the operator sends the request; it must not be refused."""
        answer = await self.api.request(method, path, body=body, content_type=content_type)
        assert answer.is_success, f"{method} {path}: {answer.error_message}"
        return answer

    async def _begin(self, namespace: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        await self.ask("POST", "/api/v1/namespaces", body)

    def _changed(self, home: RootKey) -> None:
        if (event := self._events.get(home[0])) is not None:
            event.set()

    # as a cache of reflectors

    def newest_resource_version(self, kind: str) -> int:
        """The newest version of a kind."""
        return self.cache.newest_resource_version(kind)

    def replace_all_of_kind(self, kind: str, items: Iterable[Mapping[str, Any]], version: str) -> None:
        """Everything there is."""
        self.cache.replace_all_of_kind(kind, items, version)

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is new or has changed."""
        self._note(kind, raw, went=False)
        self.cache.put(kind, raw)

    def drop(self, kind: str, raw: Mapping[str, Any]) -> None:
        """One object is gone."""
        self._note(kind, raw, went=True)
        self.cache.drop(kind, raw)

    def mark_kind_unlisted(self, kind: str, why: str) -> None:
        """A kind is not shown."""
        raise AssertionError(f"{kind}: {why}")

    def _note(self, kind: str, raw: Mapping[str, Any], *, went: bool) -> None:
        meta = raw["metadata"]
        alone = ClusterCache()
        alone.put(kind, raw)
        found = alone.find_object(Ref(str(raw["apiVersion"]), kind, meta["namespace"], meta["name"]))
        if found is not None:
            self.events[meta["namespace"]].append((_as_object(found), went))


@asynccontextmanager
async def serving(kubeconfig: str) -> AsyncIterator[Server]:
    """A server that is watched as the operator watches it."""
    async with ApiSession(await read_connection_settings(kubeconfig)) as api:
        server = Server(api)
        reflectors = [Reflector(api, KINDS[kind], server) for kind in _KINDS]
        tasks = [asyncio.ensure_future(reflector.run()) for reflector in reflectors]
        try:
            for reflector in reflectors:
                await reflector.synced.wait()
            yield server
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Player:
    """All clients of one namespace."""

    def __init__(self, server: Server, namespace: str) -> None:
        self.server = server
        self.namespace = namespace
        self.eyes = Eyes()
        self._reader = FreshReader(server.api, server.cache)
        self._touches = 0

    def observation(self) -> dict[str, Object]:
        found = {slot: self.server.cache.find_object(one.ref(self.namespace)) for slot, one in SLOTS.items()}
        return {slot: _as_object(item) for slot, item in found.items() if item is not None}

    async def settled(self, outcome: str, expected: Frame) -> Frame:
        """Look until it is as expected, or patience ends."""
        clock = asyncio.get_running_loop()
        deadline = clock.time() + _PATIENCE
        while self.eyes.preview(outcome, self.observation()) != expected and outcome == expected.outcome:
            left = deadline - clock.time()
            if left <= 0:
                break
            await self.server.news(self.namespace, left)
        return self.eyes.take(outcome, self.observation())

    async def make(self, move: Move) -> str:
        step = step_of(move, self.namespace, self.eyes)
        if step is not None:
            return await self._try(step)
        ref = SLOTS[move.slot].ref(self.namespace)
        if move.what is What.WISH:
            return await self._wish(ref, int(move.how))
        item = self.server.cache.find_object(ref)
        if item is None:
            return SKIPPED
        self._touches += 1
        match move.what:
            case What.REMOVE:
                body = {"propagationPolicy": "Background"}
                await self._take_in(ref, await self.server.ask("DELETE", url_path_of_ref(ref), body))
            case What.TOUCH:
                await self._patch(ref, {"metadata": {"annotations": {TOUCHED: str(self._touches)}}})
            case _ if isinstance(item, Pod):
                return await self._act_on_pod(move, item)
            case What.HOLD if FOREIGN_FINALIZER not in item.finalizers and not item.deleting:
                await self._patch(ref, {"metadata": {"finalizers": [*item.finalizers, FOREIGN_FINALIZER]}})
            case What.SCALE if getattr(item, "replicas", None) != int(move.how):
                await self._patch(ref, {"spec": {"replicas": int(move.how)}})
            case _:
                return SKIPPED
        return ""

    async def _try(self, step: Step) -> str:
        if isinstance(step.action, Delete) and step.action.foreground:
            await asyncio.sleep(_BEFORE_WAITING)
        return (await StepExecutor(self._reader).attempt_step(step)).outcome.value

    async def _wish(self, ref: Ref, replicas: int) -> str:
        manifest = set_manifest(self.namespace, replicas)
        if self.server.cache.find_object(ref) is not None:
            await self._patch(ref, {"spec": manifest["spec"]})
            return ""
        manifest["metadata"]["finalizers"] = [SLOTS["set"].finalizer]
        await self._take_in(ref, await self.server.ask("POST", KINDS[ref.kind].url_path(ref.namespace), manifest))
        return ""

    async def _act_on_pod(self, move: Move, pod: Pod) -> str:
        path = url_path_of_ref(pod.ref)
        match move.what:
            case What.PLACE if can_be_placed(pod):  # there is no such node: its pods count as lost after 40 s
                target = {"apiVersion": "v1", "kind": "Node", "name": self.namespace}
                body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.name}, "target": target}
                await self.server.ask("POST", f"{path}/binding", body)
                await self._take_in(pod.ref, await self.server.ask("GET", path))
            case What.RUN if can_run(pod) and not pod.ready:
                await self._report(pod, {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
            case What.FAIL if can_run(pod):
                await self._report(pod, {"phase": "Failed", "conditions": [{"type": "Ready", "status": "False"}]})
            case What.STOP if pod.deleting:
                await self.server.ask("DELETE", path, {"gracePeriodSeconds": 0})
            case _:
                return SKIPPED
        return ""

    async def _report(self, pod: Pod, status: Json) -> None:
        answer = await self.server.ask("PATCH", url_path_of_ref(pod.ref, "status"), {"status": status}, STRATEGIC)
        await self._take_in(pod.ref, answer)

    async def _patch(self, ref: Ref, body: Json) -> None:
        await self._take_in(ref, await self.server.ask("PATCH", url_path_of_ref(ref), body, MERGE))

    async def _take_in(self, ref: Ref, answer: ApiResponse) -> None:
        """A write of another client is seen before the next move; the watch reports the end of an object."""
        raw = answer.json_body()
        if raw.get("kind") == ref.kind:
            self.server.cache.put(ref.kind, raw)


def _as_object(found: Resource | Pod) -> Object:
    assert not isinstance(found, Resource) or hasattr(found, "ref")
    return found  # type: ignore[return-value]  # every kind of a slot is one that worlds store
