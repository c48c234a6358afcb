"""P12 to P14: our client beside the typed ``kubernetes.aio``, on the same server and the same pods, turn by turn.

What counts is processor time of the client, all of it in this process.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from kubernetes.aio import client, config, watch

from benchmarks.cluster.stage import IN_FLIGHT, PODS, Stage
from benchmarks.cluster.workloads import NAMESPACE, Json, bare_pod
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome, Create, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.rules import WithheldStepReason
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.reflector import ENCODED

_ROUNDS: Final = 5
_MADE: Final = 200
_PAGE: Final = 500
_TICK: Final = 0.001
_LABEL: Final = "app.kubernetes.io/part-of=floor"
Turn = Callable[[], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Beside:
    """Medians of several turns, each the processor time per pod in seconds; and the longest the loop stood still."""

    name: str
    ours: float
    theirs: float
    stood: float = 0.0
    stood_theirs: float = 0.0


async def clients(stage: Stage) -> list[Beside]:
    """Measure all three."""
    settings = client.Configuration()
    await config.load_kube_config(str(stage.kubeconfig), client_configuration=settings)  # type: ignore[no-untyped-call]  # the library has no types for it
    async with client.ApiClient(settings) as typed:
        core = client.CoreV1Api(typed)
        numbers = count()
        created = Beside(
            "P12 create a pod, 16 at a time",
            *await _in_turns(lambda: _create_ours(stage, numbers), lambda: _create_theirs(core, numbers)),
        )
        watched = Beside(
            "P13 watch event to fact", *await _in_turns(lambda: _watch_ours(stage), lambda: _watch_theirs(core))
        )
        still: list[float] = []
        still_theirs: list[float] = []
        listed = Beside(
            f"P14 list to facts, pages of {_PAGE}",
            *await _in_turns(lambda: _list_ours(stage, still), lambda: _list_theirs(core, still_theirs)),
            statistics.median(still),
            statistics.median(still_theirs),
        )
    await stage.api.request("DELETE", PODS, query={"labelSelector": _LABEL})
    await stage.until_gone(["floor"])
    return [created, watched, listed]


async def _in_turns(ours: Turn, theirs: Turn) -> tuple[float, float]:
    """Medians; the first turn of each is for warming up."""
    turns = [(await ours(), await theirs()) for _ in range(_ROUNDS + 1)][1:]
    return statistics.median(one for one, _ in turns), statistics.median(other for _, other in turns)


def _pods(numbers: Iterator[int]) -> list[Json]:
    """Pods that no scheduler touches."""
    pods = [bare_pod(next(numbers)) for _ in range(_MADE)]
    for pod in pods:
        pod["spec"] = {**pod["spec"], "schedulingGates": [{"name": "example.com/still"}]}
    return pods


async def _create_ours(stage: Stage, numbers: Iterator[int]) -> float:
    """As the operator does it: the answer is read, and taken into the copy."""
    writes = StepExecutor(FreshReader(stage.api, ClusterCache()))
    because: tuple[Reason, ...] = (
        WithheldStepReason.REFUSED_BEFORE.because(Ref("v1", "Pod", NAMESPACE, "floor"), detail="none"),
    )
    steps = [
        Step(StepStage.WORKLOAD, Ref("v1", "Pod", NAMESPACE, pod["metadata"]["name"]), Create(FrozenMap(pod)), because)
        for pod in _pods(numbers)
    ]
    start = time.process_time()
    answers = await asyncio.gather(*map(writes.attempt_step, steps))
    taken = time.process_time() - start
    if any(answer.outcome is not AttemptOutcome.DONE for answer in answers):
        raise RuntimeError(next(answer.detail for answer in answers if answer.detail))
    return taken / _MADE


async def _create_theirs(core: Any, numbers: Iterator[int]) -> float:  # noqa: ANN401 - the client carries no types
    bodies, slots = _pods(numbers), asyncio.Semaphore(IN_FLIGHT)

    async def create(body: Json) -> None:
        async with slots:
            await core.create_namespaced_pod(NAMESPACE, body)

    start = time.process_time()
    await asyncio.gather(*map(create, bodies))
    return (time.process_time() - start) / _MADE


async def _watch_ours(stage: Stage) -> float:
    cache, seen = ClusterCache(), 0
    query = {"watch": "1", "resourceVersion": "0", "labelSelector": _LABEL, "timeoutSeconds": "60"}
    lines = stage.api.stream_lines(PODS, query)
    start = time.process_time()
    async for line in lines:
        cache.put("Pod", ENCODED.parse_event(line)[1])
        seen += 1
        if seen == _PAGE:
            break
    taken = time.process_time() - start
    await lines.aclose()
    return taken / _PAGE


async def _watch_theirs(core: Any) -> float:  # noqa: ANN401 - as above
    seen, watching = 0, watch.Watch()  # type: ignore[no-untyped-call]  # the library has no types for it
    start = time.process_time()
    async with watching.stream(  # type: ignore[no-untyped-call]  # the library has no types for it
        core.list_namespaced_pod, NAMESPACE, label_selector=_LABEL, resource_version="0", timeout_seconds=60
    ) as events:
        async for _ in events:
            seen += 1
            if seen == _PAGE:
                break
    return (time.process_time() - start) / _PAGE


async def _list_ours(stage: Stage, still: list[float]) -> float:
    cache = ClusterCache()

    async def take() -> int:
        items, version = await ENCODED.list_all(stage.api, replace(KINDS["Pod"], selector=_LABEL), NAMESPACE)
        cache.replace_all_of_kind("Pod", items, version)
        return len(items)

    return await _watched(take, still)


async def _list_theirs(core: Any, still: list[float]) -> float:  # noqa: ANN401 - as above
    async def take() -> int:
        found = await core.list_namespaced_pod(NAMESPACE, label_selector=_LABEL, limit=_PAGE)
        return len(found.items)

    return await _watched(take, still)


async def _watched(work: Callable[[], Awaitable[int]], still: list[float]) -> float:
    """Processor time per pod; ``work`` returns how many. How long others had to wait for the loop is noted down."""
    gaps: list[float] = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_TICK)
            gaps.append(time.perf_counter() - before - _TICK)

    ticking = asyncio.ensure_future(tick())
    start = time.process_time()
    pods = await work()
    taken = time.process_time() - start
    await asyncio.sleep(2 * _TICK)  # the last gap is noted down too
    ticking.cancel()
    still.append(max(gaps, default=0.0))
    return taken / pods
