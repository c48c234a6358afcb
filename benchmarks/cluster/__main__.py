"""``python -m benchmarks.cluster [PART ...]``: the operator on a real control plane, measured.

Each workload is made by the operator; the floor, right before it, is a bare loop that only makes as many pods. What
counts is the ratio to the floor: seconds depend on the machine, and on what else it does. Parts: the peer's workloads
W1 to W4, ``same`` (W1 beside a bare loop that posts exactly its pods, P15), ``first`` (first clique of a new set),
``clients`` (P12 to P14), ``growth``, ``rest`` (P18), ``webhooks`` (median and p99 of admission), ``previews`` (the same
of updates that are previewed).
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.cluster import report, runs
from benchmarks.cluster.admission import reviews
from benchmarks.cluster.clients import clients
from benchmarks.cluster.previews import previews
from benchmarks.cluster.runs import Measured
from benchmarks.cluster.stage import IN_FLIGHT, Stage
from grove_shell.client.api_session import ApiSession
from grove_shell.client.connection_settings import read_connection_settings
from grove_shell.manifests.crd_definitions import grove_crd_manifests
from tests.cluster import binaries
from tests.cluster.plane import STORE, ControlPlane

_NODES: Final = 20
_PODS_OF_A_NODE: Final = 100
_WORKLOADS: Final = ("W1", "W2", "W3", "W4")
_BACKENDS: Final = ("podgang", "kubernetes")
_PARTS: Final = (*_WORKLOADS, "same", "first", "clients", "growth", "rest", "webhooks", "previews")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(_PARTS)}; all by default")
    parser.add_argument("--pods", type=int, default=1000, help="of each workload")
    parser.add_argument("--backends", nargs="+", default=list(_BACKENDS), choices=_BACKENDS, help="what places gangs")
    parser.add_argument("--growth", type=int, nargs="+", default=[100, 300, 1000, 3000], help="numbers of pods")
    parser.add_argument("--rest", type=float, default=600.0, help="seconds to watch the operator do nothing")
    parser.add_argument("--reviews", type=int, default=1000, help="answers of the webhooks of each kind")
    parser.add_argument("--sets", type=int, default=10_000, help="beside which an update is previewed")
    parser.add_argument("--namespaces", type=int, default=100, help="over which these sets are spread")
    options = parser.parse_args(arguments)
    if unknown := [part for part in options.parts if part not in _PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(_PARTS)}")
    options.parts = options.parts or list(_PARTS)
    if len(set(options.growth)) < 2:
        parser.error("growth is seen between two numbers of pods, or more")
    most = max(options.pods, *options.growth) if "growth" in options.parts else options.pods
    if set(options.parts) != {"previews"}:
        _measure_on_whole_plane(options, most)
    if "previews" in options.parts:
        _say(f"previews beside {options.sets:,} sets in {options.namespaces:,} namespaces ...")
        with ControlPlane(binaries.build(_say), parts=STORE) as plane, tempfile.TemporaryDirectory() as folder:
            rows, spent = previews(plane, Path(folder), options.sets, options.namespaces, options.reviews)
            print(report.reviews_table(rows, 1))
            print(f"processor time of one preview: {1000 * spent:.0f} ms", flush=True)
    return 0


def _measure_on_whole_plane(options: argparse.Namespace, most: int) -> None:
    """Measure every part that needs scheduler, controllers and kubelet."""
    with ControlPlane(binaries.build(_say)) as plane, tempfile.TemporaryDirectory() as folder:
        plane.api().add_nodes([f"node-{number}" for number in range(max(_NODES, most // _PODS_OF_A_NODE))])
        if not set(options.parts) <= {"webhooks", "previews"}:
            asyncio.run(_measure(plane.kubeconfig("admin"), Path(folder), options))
        if "webhooks" in options.parts:
            _say("webhooks ...")
            print(report.reviews_table(reviews(plane, Path(folder), options.reviews)), flush=True)


async def _measure(kubeconfig: Path, folder: Path, options: argparse.Namespace) -> None:
    connection = await read_connection_settings(str(kubeconfig))
    async with ApiSession(connection, in_flight=IN_FLIGHT, timeout=120) as api:
        stage = Stage(api, kubeconfig, folder)
        for definition in grove_crd_manifests():
            await stage.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        await asyncio.sleep(2)
        await runs.write_before_measurement(stage)
        await _parts(stage, options)


async def _parts(stage: Stage, options: argparse.Namespace) -> None:
    parts = options.parts
    if names := [name for name in _WORKLOADS if name in parts]:
        rows = [row for name in names for row in await _beside(stage, name, options.pods, options.backends)]
        print(report.workloads_table(rows), flush=True)
    if "same" in parts:
        _say("W1 beside exactly its pods ...")
        floor = await runs.floor(stage, options.pods, like="W1")
        row = await runs.workload(stage, "W1", options.pods)
        print(
            f"P15 pods created a second: {floor.created / row.created:.2f} of a loop that only posts them", flush=True
        )
    if "first" in parts:
        _say("first clique ...")
        ours, bare = await runs.first_clique(stage, 7)
        print(f"first clique of a new set: {1000 * ours:.0f} ms; a clique posted by itself: {1000 * bare:.0f} ms")
    if "clients" in parts:
        _say("clients ...")
        print(report.clients_table(await clients(stage)), flush=True)
    if "growth" in parts:
        grown = [
            row
            for pods in options.growth
            for name in ("W1", "W3")
            for row in await _beside(stage, name, pods, options.backends)
        ]
        print(report.workloads_table(grown))
        print(report.growth_table(grown), flush=True)
    if "rest" in parts:
        _say(f"at rest for {options.rest:.0f} s ...")
        used = await runs.at_rest(stage, options.pods, options.rest)
        print(report.rest_line(options.pods, options.rest, used), flush=True)


async def _beside(stage: Stage, name: str, pods: int, backends: Sequence[str]) -> list[tuple[Measured, Measured]]:
    """The floor, and a workload held against it, once with each back end."""
    _say(f"{name}, {pods} pods ...")
    floor = await runs.floor(stage, pods)
    rows = [(floor, floor)]
    for backend in backends:
        scaled = name == "W4"
        run = runs.scaled_in(stage, pods, backend) if scaled else runs.workload(stage, name, pods, backend)
        rows.append((await run, floor))
    _say(report.workloads_table(rows))  # rows come at the end, so an interrupted run keeps the finished ones
    return rows


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
