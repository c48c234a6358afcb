"""``python -m benchmarks.cluster [--pods N ...] [--rest S] [W1 W2 W3 W4 ...]``: measure, and print one table.

Each workload is made by the operator; the floor, in the same run, is a bare loop that only makes as many pods. What
counts is the ratio to the floor: seconds depend on the machine, and on what else it does.
"""

import argparse
import asyncio
import math
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from benchmarks.cluster.process import Cost, Operator
from benchmarks.cluster.workloads import NAMESPACE, WORKLOADS, Json, bare_pod
from grove_shell.client.api import Api
from grove_shell.client.connection import connect
from grove_shell.manifests.definitions import definitions
from tests.cluster import binaries
from tests.cluster.plane import ControlPlane

T = TypeVar("T")

_NODES: Final = 20
_PODS_OF_A_NODE: Final = 100
_IN_FLIGHT: Final = 16
_PATIENCE: Final = 240.0
_LOOK: Final = 0.1
_SETS: Final = f"/apis/grove.io/v1alpha1/namespaces/{NAMESPACE}/podcliquesets"
_PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
_COLUMNS: Final = (
    "workload",
    "pods",
    "all created",
    "all Ready",
    "x floor",
    "first pod",
    "requests/pod",
    "CPU",
    "peak",
    "deleted",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One workload; seconds of the clock, but for ``processor``."""

    name: str
    pods: int
    first: float = 0.0
    created: float = 0.0
    ready: float = 0.0
    deleted: float = 0.0
    cost: Cost | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("workloads", nargs="*", default=["W1", "W2", "W3", "W4"], help="all by default")
    parser.add_argument("--pods", type=int, nargs="+", default=[1000], help="of each workload; several show the growth")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds to watch the operator do nothing; 0 for none")
    options = parser.parse_args(arguments)
    programs = binaries.build(lambda words: print(words, file=sys.stderr))
    with ControlPlane(programs) as plane, tempfile.TemporaryDirectory() as folder:
        nodes = max(_NODES, max(options.pods) // _PODS_OF_A_NODE)
        plane.api().add_nodes([f"node-{number}" for number in range(nodes)])
        asyncio.run(_measure(plane.kubeconfig("admin"), Path(folder), options))
    return 0


async def _measure(kubeconfig: Path, folder: Path, options: argparse.Namespace) -> None:
    connection = await connect(str(kubeconfig))
    async with Api(connection, in_flight=_IN_FLIGHT, timeout=120) as api:
        for definition in definitions():
            await _post(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        await asyncio.sleep(2)
        await _warm_up(api, kubeconfig, folder)
        rows: list[tuple[Measured, Measured]] = []
        for pods in options.pods:
            floor = await _floor(api, pods)
            rows.append((floor, floor))
            for name in options.workloads:
                print(f"{name}, {pods} pods ...", file=sys.stderr, flush=True)
                with Operator(kubeconfig, folder) as operator:
                    measure = _scaled_in if name == "W4" else partial(_workload, name=name)
                    rows.append((await measure(api, operator, pods), floor))
        print(_table(rows))
        if options.rest:
            with Operator(kubeconfig, folder) as operator:
                await _at_rest(api, operator, options.pods[-1], options.rest)
    for name in options.workloads if len(options.pods) > 1 else ():
        print(_growth([row for row, _ in rows if row.name == name and row.ready]))


def _growth(rows: Sequence[Measured]) -> str:
    """How the time until all are Ready grows with the number of pods: 1 is linear."""
    if len(rows) < 2:
        return ""
    first, last = rows[0], rows[-1]
    exponent = math.log(last.ready / first.ready) / math.log(last.pods / first.pods)
    return f"{first.name}: {first.pods} to {last.pods} pods, all Ready: exponent {exponent:.2f}"


async def _warm_up(api: Api, kubeconfig: Path, folder: Path) -> None:
    """A small set comes and goes: the garbage collector looks for new kinds only every half minute."""
    with Operator(kubeconfig, folder):
        async with _standing(api, WORKLOADS["W2"](10), 10):
            await api.request("DELETE", f"{_SETS}/w2")
            await _until_gone(api, ["w2"])


async def _floor(api: Api, pods: int) -> Measured:
    start = time.monotonic()
    await asyncio.gather(*(_post(api, _PODS, bare_pod(number)) for number in range(pods)))
    created = time.monotonic() - start
    first, _, ready = await _until_ready(api, ["floor"], pods, start)
    await api.request("DELETE", _PODS, query={"labelSelector": "app.kubernetes.io/part-of=floor"})
    deleted = await _until_gone(api, ["floor"])
    return Measured(name="floor", pods=pods, first=first, created=created, ready=ready, deleted=deleted)


async def _workload(api: Api, operator: Operator, pods: int, name: str) -> Measured:
    sets = WORKLOADS[name](pods)
    async with _standing(api, sets, pods) as (first, created, ready):
        await asyncio.sleep(2)  # statuses
        cost = operator.cost()
        names = [one["metadata"]["name"] for one in sets]
        start = time.monotonic()
        for one in names:
            await api.request("DELETE", f"{_SETS}/{one}")
        await _until_gone(api, names)
        deleted = time.monotonic() - start
    return Measured(name=name, pods=pods, first=first, created=created, ready=ready, deleted=deleted, cost=cost)


async def _scaled_in(api: Api, operator: Operator, pods: int) -> Measured:
    """W4: W2 with half of its replicas."""
    async with _standing(api, WORKLOADS["W2"](pods), pods):
        await asyncio.sleep(2)
        before = operator.cost()
        start = time.monotonic()
        body = {"spec": {"replicas": pods // 20}}
        await api.request("PATCH", f"{_SETS}/w2", body=body, content_type="application/merge-patch+json")
        await _until(lambda: _count(api, ["w2"]), lambda found: found[0] <= pods // 2)
        path = f"/api/v1/namespaces/{NAMESPACE}/services"
        await _until(
            lambda: _items(api, path), lambda found: len(found) <= pods // 20 + 1
        )  # and that of the API server
        taken, after = time.monotonic() - start, operator.cost()
        await api.request("DELETE", f"{_SETS}/w2")
        await _until_gone(api, ["w2"])
    return Measured(name="W4", pods=pods // 2, deleted=taken, cost=after.since(before))


async def _at_rest(api: Api, operator: Operator, pods: int, seconds: float) -> None:
    async with _standing(api, WORKLOADS["W1"](pods), pods):
        await asyncio.sleep(5)
        before = operator.cost()
        await asyncio.sleep(seconds)
        used = operator.cost().since(before)
        await api.request("DELETE", f"{_SETS}/w1")
        await _until_gone(api, ["w1"])
    print(f"at rest, {pods} pods, {seconds:.0f} s: {used.writes} writes, {used.processor:.2f} s of processor")


@asynccontextmanager
async def _standing(api: Api, sets: list[Json], pods: int) -> AsyncIterator[tuple[float, float, float]]:
    start = time.monotonic()
    for one in sets:
        await _post(api, _SETS, one)
    yield await _until_ready(api, [one["metadata"]["name"] for one in sets], pods, start)


async def _until_ready(api: Api, names: list[str], pods: int, start: float) -> tuple[float, float, float]:
    """Seconds to the first pod, to all of them, and until all are Ready."""
    first = created = 0.0
    while time.monotonic() - start < _PATIENCE:
        there, ready = await _count(api, names)
        now = time.monotonic() - start
        first = first or (now if there else 0.0)
        created = created or (now if there >= pods else 0.0)
        if ready >= pods:
            return first, created, now
        await asyncio.sleep(_LOOK)
    raise TimeoutError(f"{names}: {there} of {pods} pods, {ready} ready")


async def _until_gone(api: Api, names: list[str]) -> float:
    start = time.monotonic()
    await _until(lambda: _count(api, names), lambda found: not found[0])
    await _until(lambda: _items(api, _SETS), lambda sets: not {one["metadata"]["name"] for one in sets} & {*names})
    return time.monotonic() - start


async def _until(look: Callable[[], Awaitable[T]], good: Callable[[T], bool]) -> None:
    until = time.monotonic() + _PATIENCE
    while not good(await look()):
        _expect(time.monotonic() < until, "it takes too long")
        await asyncio.sleep(_LOOK)


async def _count(api: Api, names: list[str]) -> tuple[int, int]:
    """How many pods there are, and how many of them are ready; from the server's cache, which costs it least."""
    selector = f"app.kubernetes.io/part-of in ({','.join(names)})"
    items = (await api.request("GET", _PODS, query={"labelSelector": selector, "resourceVersion": "0"})).json()["items"]
    return len(items), sum(
        condition["type"] == "Ready" and condition["status"] == "True"
        for item in items
        for condition in item["status"].get("conditions", ())
    )


async def _items(api: Api, path: str) -> list[Json]:
    found: list[Json] = (await api.request("GET", path)).json()["items"]
    return found


async def _post(api: Api, path: str, body: Json) -> None:
    answer = await api.request("POST", path, body=body)
    _expect(answer.good, answer.words)


def _expect(good: bool, words: str) -> None:  # noqa: FBT001 - what is expected
    if not good:
        raise RuntimeError(words)


def _table(rows: Sequence[tuple[Measured, Measured]]) -> str:
    lines = [_COLUMNS, tuple("---" for _ in _COLUMNS), *(_cells(row, floor) for row, floor in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Measured, floor: Measured) -> tuple[str, ...]:
    cost = row.cost
    ratio = f"{row.created / floor.created:.1f} / {row.ready / floor.ready:.1f}" if row.ready else ""
    return (
        row.name,
        str(row.pods),
        f"{row.created:.1f} s" if row.created else "",
        f"{row.ready:.1f} s" if row.ready else "",
        ratio,
        f"{row.first:.2f} s" if row.first else "",
        f"{cost.requests / row.pods:.2f}" if cost else "",
        f"{cost.processor:.1f} s" if cost else "",
        f"{cost.peak:.0f} MiB" if cost else "",
        f"{row.deleted:.1f} s",
    )


if __name__ == "__main__":
    sys.exit(main())
