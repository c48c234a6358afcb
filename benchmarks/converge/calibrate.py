"""``python -m benchmarks.converge.calibrate --out costs.yaml``: what an API server needs, as the model's constants.

One writer, one write after the other: on objects of several sizes, by apply and by put, without watchers and with some.
Processor time is that of the server's own counters, less what it needs while idle.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.converge.__main__ import store_of
from benchmarks.converge.fitting import Sample, Samples, fitted
from grove_core.resources.api_names import NVIDIA
from grove_shell.client.api_session import APPLY, ApiSession
from grove_shell.client.connection_settings import ConnectionSettings, read_connection_settings
from grove_shell.converge.cluster.run_measurements import ApiServerCounters, read_api_server_counters
from grove_shell.converge.model.server_costs import ModelServerCosts
from grove_shell.domain_daemon.daemon_requests import DOMAINS
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests
from tests.cluster import binaries
from tests.cluster.nvidia.definitions import install
from tests.cluster.plane import STORE, ControlPlane

SIZES: Final = (2, 36, 100, 200)
WATCHED: Final = (18, 120)
WATCHERS: Final = (1, 24, 96)
SECONDS: Final = 2.0
SPACE: Final = "default"
DONE: Final = 200
CONFLICT: Final = 409
Json = Mapping[str, Any]
Write = Callable[[int], Awaitable[None]]


def entry(number: int, index: int) -> Json:
    """An entry as long as a real one."""
    clique = "0b7e5a90-3c4d-4e5f-8a9b-000000000000.32766"
    where = {"name": f"gpu-node-{number:011}", "ipAddress": f"10.0.{number >> 8}.{number & 255}"}
    return {**where, "cliqueID": clique, "index": index, "status": "NotReady"}


class Bench:
    """One server, one writer."""

    def __init__(self, api: ApiSession, store: ApiSession) -> None:
        self._api = api
        self._store = store
        self._idle = ApiServerCounters()

    async def rest(self) -> None:
        """What the server and its store need in an idle second."""
        before = await read_api_server_counters(self._api, self._store)
        await asyncio.sleep(SECONDS)
        self._idle = (await read_api_server_counters(self._api, self._store)).difference_since(before)

    async def sample(self, name: str, watchers: int, write: Write) -> Sample:
        """Write for a while."""
        async with AsyncExitStack() as stack:
            for _ in range(watchers):
                task = asyncio.create_task(self._drain(name))
                stack.callback(task.cancel)
            await asyncio.sleep(0.3 + watchers * 0.01)
            before, begin, count = await read_api_server_counters(self._api, self._store), time.monotonic(), 0
            while (spent := time.monotonic() - begin) < SECONDS:
                await write(count)
                count += 1
            found = (await read_api_server_counters(self._api, self._store)).difference_since(before)
        size = len(json.dumps(await self._get(name), separators=(",", ":")))
        idle = spent / SECONDS
        return Sample(
            size=size,
            watchers=watchers,
            server_us=max(found.cpu_server_s - self._idle.cpu_server_s * idle, 0) * 1e6 / count,
            store_us=max(found.cpu_store_s - self._idle.cpu_store_s * idle, 0) * 1e6 / count,
            latency_us=spent * 1e6 / count,
        )

    async def make(self, name: str) -> None:
        """An empty domain."""
        spec = {"channel": {"resourceClaimTemplate": {"name": "channel"}}}
        body = {"apiVersion": NVIDIA, "kind": DOMAINS.kind, "metadata": {"name": name}, "spec": spec}
        await self._good("POST", DOMAINS.url_path(SPACE), body=body)

    async def apply(self, name: str, number: int, index: int) -> None:
        """One entry, by its own manager."""
        body = {
            "apiVersion": NVIDIA,
            "kind": DOMAINS.kind,
            "metadata": {"name": name},
            "status": {"nodes": [entry(number, index)]},
        }
        query = {"fieldManager": f"cd-writer-gpu-node-{number:011}"}
        await self._good("PATCH", DOMAINS.url_path(SPACE, name, "status"), query=query, body=body, content_type=APPLY)

    async def fill(self, name: str, entries: int) -> Json:
        """All entries at once, by one manager; the object."""
        whole = await self._get(name)
        status = {"status": "NotReady", "nodes": [entry(number, 0) for number in range(entries)]}
        return await self.put({**whole, "status": status}, 0)

    async def put(self, whole: Json, index: int, *, wanted: int = DONE) -> Json:
        """The whole object, its last entry with another index; ``wanted`` is how it is to be answered."""
        nodes = [*whole["status"]["nodes"][:-1], {**whole["status"]["nodes"][-1], "index": index}]
        body = {**whole, "status": {**whole["status"], "nodes": nodes}}
        path = DOMAINS.url_path(SPACE, whole["metadata"]["name"], "status")
        return await self._good("PUT", path, wanted, query={"fieldManager": "compute-domain-daemon"}, body=body)

    async def ask(self, _number: int) -> None:
        """A request that costs the server next to nothing."""
        await self._good("GET", "/version")

    async def _get(self, name: str) -> Json:
        return await self._good("GET", DOMAINS.url_path(SPACE, name))

    async def _good(self, method: str, path: str, wanted: int = DONE, **more: Any) -> Json:  # noqa: ANN401 - as requests
        answer = await self._api.request(method, path, **more)
        if not answer.is_success and answer.status != wanted:
            raise SystemExit(f"{method} {path}: {answer.error_message}")
        found: Json = answer.json_body()
        return found

    async def _drain(self, name: str) -> None:
        query = {"watch": "1", "fieldSelector": f"metadata.name={name}"}
        async for _ in self._api.stream_lines(DOMAINS.url_path(SPACE), query):
            pass


async def measured(bench: Bench, say: Callable[[str], None]) -> Samples:
    """Everything that is fitted."""
    applies, puts, stale, watched = [], [], [], []
    await bench.make("idle")
    for number in range(100):
        await bench.apply("idle", 0, number)  # what a server pays only once
    await bench.rest()
    idle = await bench.sample("idle", 0, bench.ask)
    for size in sorted({*SIZES, *WATCHED}):
        name = f"by-apply-{size}"
        await bench.make(name)
        for number in range(size):
            await bench.apply(name, number, 0)

        async def apply(count: int, name: str = name, last: int = size - 1) -> None:
            await bench.apply(name, last, count + 1)

        if size in SIZES:
            applies.append(await bench.sample(name, 0, apply))
            say(f"apply, {size} entries: {applies[-1]}")
        for watchers in WATCHERS if size in WATCHED else ():
            watched.append(await bench.sample(name, watchers, apply))
            say(f"apply, {size} entries, {watchers} watchers: {watched[-1]}")
    for size in SIZES:
        name = f"by-put-{size}"
        await bench.make(name)
        newest = [await bench.fill(name, size)]

        async def put(count: int, newest: list[Json] = newest) -> None:
            newest[0] = await bench.put(newest[0], count + 1)

        puts.append(await bench.sample(name, 0, put))
        say(f"put, {size} entries: {puts[-1]}")
        old = newest[0]
        await bench.put(old, 0)

        async def refused(count: int, old: Json = old) -> None:
            await bench.put(old, count + 1, wanted=CONFLICT)

        stale.append(await bench.sample(name, 0, refused))
        say(f"put on an old version, {size} entries: {stale[-1]}")
    return Samples(
        uses_apply=applies,
        puts=puts,
        stale=stale,
        watched=watched,
        idle_us=idle.latency_us,
        idle_server_us=idle.server_us,
    )


async def calibrated(kubeconfig: str, store: str, source: str, say: Callable[[str], None]) -> ModelServerCosts:
    """Measure and fit."""

    async def nobody() -> str | None:
        return None

    connection = await read_connection_settings(kubeconfig)
    async with (
        ApiSession(connection, in_flight=1000) as api,
        ApiSession(ConnectionSettings(store, None, nobody)) as etcd,
    ):
        return fitted(await measured(Bench(api, etcd), say), source)


def text_of(costs: ModelServerCosts) -> str:
    """As ``--costs`` reads it; to four digits, since a second calibration differs in the third."""
    content = {
        name: float(f"{value:.4g}") if isinstance(value, float) else value
        for name, value in costs.model_dump(by_alias=True).items()
    }
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


def main(arguments: list[str]) -> int:
    """Start a control plane, measure, write the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.converge.calibrate", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--source", default="fitted to kube-apiserver 1.35 and etcd 3.6 on two shared cores")
    reported = parser.parse_args(arguments)
    with ControlPlane(binaries.find(), parts=STORE) as plane:
        install(plane.api(), *compute_domain_crd_manifests())

        def say(line: str) -> None:
            print(line, flush=True)

        costs = asyncio.run(calibrated(str(plane.kubeconfig()), store_of(plane), reported.source, say))
    reported.out.write_text(text_of(costs), encoding="utf-8")
    print(text_of(costs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
