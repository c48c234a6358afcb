"""``python -m benchmarks.converge --nodes 2,18,72 --protocol all --seeds 3 --out results``: runs on a real server.

Starts etcd and an API server of its own for each run, and nothing else: no garbage collector looks at the pods that
the daemons name as owners, since there are none. Every run is added to ``runs.csv`` when it ends, with what the server
counted of it in ``counts.jsonl``; runs that are in the file are not made again.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from grove_shell.converge.cluster.cluster_run_engine import convergence_engine_from_kubeconfig
from grove_shell.converge.cluster.run_measurements import ConvergenceRunWithServerCounters
from grove_shell.converge.converge_option_parsing import (
    ConvergeCommandOptions,
    convergence_run_parameters_from_options,
)
from grove_shell.converge.run_schedule import RemainingConvergenceRuns
from grove_shell.converge.runs_csv_file import parse_convergence_runs_csv, write_convergence_runs_csv
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests
from tests.cluster import binaries
from tests.cluster.binaries import ETCD
from tests.cluster.nvidia.definitions import install
from tests.cluster.plane import STORE, ControlPlane


def store_of(plane: ControlPlane) -> str:
    """Where its etcd listens, as its command line says."""
    words = Path(f"/proc/{plane.pids[ETCD]}/cmdline").read_bytes().decode().split("\0")
    return next(word.partition("=")[2] for word in words if word.startswith("--listen-client-urls="))


def line_of(measured: ConvergenceRunWithServerCounters) -> str:
    """A run in short, with the server's counts beside those of the daemons."""
    run, server = measured.run, measured.server
    seen = run.watch_events + measured.monitor_events
    point, cpu = run.point, run.cpu_server_s + run.cpu_store_s
    return (
        f"{point.protocol.short_name:<12} {point.nodes:>5} seed {point.seed}  {run.outcome.value:<9} "
        f"T {run.t_all_s or float('nan'):7.2f} s  409 {run.conflicts:>6} ({server.conflicts:.0f})  "
        f"429 {run.throttled} ({server.throttled:.0f})  CAS {run.cas_failures:>6}  "
        f"events {run.watch_events:>7} + {measured.monitor_events} ({server.watch_events - seen:+.0f})  "
        f"MB {run.watch_bytes / 1e6:8.1f} ({server.watch_bytes / 1e6:.1f})  "
        f"CPU {cpu:6.1f} s + {run.cpu_harness_s or 0:6.1f} s  refused {len(measured.refused)}"
    )


def main(arguments: list[str]) -> int:
    """Run what is asked for; 1 where it cannot be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.converge", description=__doc__)
    parser.add_argument("--nodes", default="2,4,9,18,36,72,144,288")
    parser.add_argument("--protocol", action="append")
    parser.add_argument("--seeds", default="3")
    parser.add_argument("--clique-size", default="18")
    parser.add_argument("--limit", default="18")
    parser.add_argument("--readiness", default="1s")
    parser.add_argument("--arrival", default="2s")
    parser.add_argument("--run-limit", default="10m")
    parser.add_argument("--minutes", type=float, default=60.0, help="start no run after so many")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    points, problems = convergence_run_parameters_from_options(
        ConvergeCommandOptions(
            nodes=options.nodes,
            protocols=tuple(options.protocol or ["all"]),
            clique_size=options.clique_size,
            limit=options.limit,
            seeds=options.seeds,
            arrival=options.arrival,
            readiness=options.readiness,
            limiter="5/10",
            server_cores="2",
            run_limit=options.run_limit,
        )
    )
    if problems:
        sys.stderr.write("".join(f"{problem}\n" for problem in problems))
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "runs.csv"
    before, faults = (
        parse_convergence_runs_csv(path.read_text(encoding="utf-8"), str(path)) if path.exists() else ((), ())
    )
    if faults:
        sys.stderr.write("".join(f"{fault}\n" for fault in faults))
        return 1
    runs, schedule = list(before), RemainingConvergenceRuns(points, {run.point: run for run in before})
    until = time.monotonic() + options.minutes * 60
    while time.monotonic() < until and (point := schedule.take_next_point()) is not None:
        with ControlPlane(binaries.find(), parts=STORE) as plane:  # each run on data of its own
            install(plane.api(), *compute_domain_crd_manifests())
            engine = convergence_engine_from_kubeconfig(str(plane.kubeconfig()), store_of(plane))
            measured = engine.run_and_measure_server(point)
        schedule.record_finished_run(measured.run)
        runs.append(measured.run)
        write_convergence_runs_csv(path, runs)
        with (options.out / "counts.jsonl").open("a", encoding="utf-8") as counts:
            head = {"protocol": point.protocol.short_name, "nodes": point.nodes, "seed": point.seed}
            counts.write(json.dumps({**head, **asdict(measured.server), "refused": measured.refused[:3]}) + "\n")
        print(line_of(measured), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
