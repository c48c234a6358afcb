"""The workloads of the peer, made by the operator; and the floor beneath them, a bare loop that only makes pods."""

import asyncio
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.cluster.process import Cost, Operator
from benchmarks.cluster.stage import PODS, SETS, Stage, until
from benchmarks.cluster.workloads import NAMESPACE, WORKLOADS, bare_pod, one_set, pods_made_of
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.api_session import MERGE

_STATUSES: Final = 4.0  # seconds, after which the last ones are written
_FLOOR: Final = "floor"
_CLIQUES: Final = KINDS["PodClique"].url_path(NAMESPACE)
_SERVICES: Final = KINDS["Service"].url_path(NAMESPACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One workload; seconds of the clock, but for what is in ``cost``."""

    name: str
    pods: int
    first: float = 0.0
    created: float = 0.0
    ready: float = 0.0
    cost: Cost | None = None


async def write_before_measurement(stage: Stage) -> None:
    """A small set comes and goes: the garbage collector looks for new kinds only every half minute."""
    with Operator(stage.kubeconfig, stage.folder):
        async with stage.standing(WORKLOADS["W2"](10), 10):
            pass


async def floor(stage: Stage, pods: int, *, like: str = "") -> Measured:
    """As many bare pods, 16 requests at a time; or exactly the pods of a workload."""
    bodies = [bare_pod(number) for number in range(pods)] if not like else pods_made_of(WORKLOADS[like](pods))
    names = [_FLOOR] if not like else [one["metadata"]["name"] for one in WORKLOADS[like](pods)]
    version, start = await stage.version(), time.monotonic()
    posting = asyncio.ensure_future(stage.post_all(PODS, bodies))
    first, created, ready = await stage.until_ready(names, pods, version, start)
    await posting
    await stage.take_away(names)
    return Measured(name=_FLOOR, pods=pods, first=first, created=created, ready=ready)


async def workload(stage: Stage, name: str, pods: int, backend: str = "auto") -> Measured:
    """W1, W2 or W3, from nothing until all is Ready and its status is written."""
    with Operator(stage.kubeconfig, stage.folder, backend) as operator:
        before = operator.cost()
        async with stage.standing(WORKLOADS[name](pods), pods) as (first, created, ready):
            await asyncio.sleep(_STATUSES)
            cost = operator.cost().since(before)
    return Measured(name=f"{name} {backend}", pods=pods, first=first, created=created, ready=ready, cost=cost)


async def scaled_in(stage: Stage, pods: int, backend: str = "auto") -> Measured:
    """W4: W2 with half of its replicas, until no pod and no service of the others is left."""
    left = pods // 20
    with Operator(stage.kubeconfig, stage.folder, backend) as operator:
        async with stage.standing(WORKLOADS["W2"](pods), pods):
            await asyncio.sleep(_STATUSES)
            before, start = operator.cost(), time.monotonic()
            await stage.api.request("PATCH", f"{SETS}/w2", body={"spec": {"replicas": left}}, content_type=MERGE)
            await until(lambda: stage.there(["w2"]), lambda found: found <= pods // 2)
            await until(lambda: stage.items(_SERVICES), lambda found: len(found) <= left + 1)  # and the API server's
            taken, cost = time.monotonic() - start, operator.cost().since(before)
    return Measured(name=f"W4 {backend}", pods=pods // 2, ready=taken, cost=cost)


async def at_rest(stage: Stage, pods: int, seconds: float) -> Cost:
    """What an operator does while nothing happens to a set that is whole."""
    with Operator(stage.kubeconfig, stage.folder) as operator:
        async with stage.standing(one_set(pods), pods):
            await asyncio.sleep(2 * _STATUSES)
            before = operator.cost()
            await asyncio.sleep(seconds)
            return operator.cost().since(before)


async def first_clique(stage: Stage, times: int) -> tuple[float, float]:
    """Median seconds from the creation of a set until its first clique is heard of; the same of a clique by itself."""
    ours, bare = [], []
    with Operator(stage.kubeconfig, stage.folder):
        for number in range(times):
            (one,) = one_set(2)
            one["metadata"]["name"] = f"first-{number}"
            ours.append(await _until_heard(stage, SETS, one))
            (clique,) = [
                item for item in await stage.items(_CLIQUES) if item["metadata"]["name"] == f"first-{number}-0-a"
            ]
            metadata = {"name": f"bare-{number}", "namespace": NAMESPACE}
            body = {key: clique[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": metadata}
            bare.append(await _until_heard(stage, _CLIQUES, body))
            await stage.api.request("DELETE", f"{_CLIQUES}/bare-{number}")
            await stage.until_ready([f"first-{number}"], 2, "0", time.monotonic())
            await stage.gone([f"first-{number}"])
    return statistics.median(ours), statistics.median(bare)


async def _until_heard(stage: Stage, path: str, body: dict[str, object]) -> float:
    """Seconds from a creation to the first news of a clique."""
    version = (await stage.api.request("GET", _CLIQUES)).json_body()["metadata"]["resourceVersion"]
    query = {"watch": "1", "resourceVersion": version, "timeoutSeconds": "60"}
    lines = stage.api.stream_lines(_CLIQUES, query)
    heard = asyncio.ensure_future(anext(lines))
    await asyncio.sleep(0.2)  # the watch stands
    start = time.monotonic()
    await stage.post(path, body)
    await heard
    taken = time.monotonic() - start
    await lines.aclose()
    return taken


def exponent(rows: Sequence[tuple[int, float]]) -> float:
    """How something grows with the number of pods: the slope of a straight line through the logarithms."""
    sizes = [math.log(pods) for pods, _ in rows]
    return statistics.linear_regression(sizes, [math.log(value) for _, value in rows]).slope
