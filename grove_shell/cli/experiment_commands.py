"""Commands that run experiments in virtual time or on a cluster: simulate and converge."""

import os
from typing import Any, Final

import click

from grove_shell.cli.option_types import DurationOption
from grove_shell.cli.options import html_option, output_option, picture_option, rules_option

_HELP: Final = """\
Simulate a cluster: what the operator does under the events and faults of a scenario, in virtual time.

The scenario lists PodCliqueSets, nodes, events and expectations.  Decisions, reconcile loop and cache are those of
the real operator; its API server, the scheduler, kubelets, nodes and users are simulated.  A day takes seconds.

\b
Examples:
  grove simulate examples/scenarios/gang-scheduling.yaml
  grove simulate examples/scenarios/node-loss.yaml --picture loss.svg
  grove simulate examples/scenarios/node-loss.yaml --seeds 200 --trace found.yaml
  grove simulate examples/scenarios/node-loss.yaml --rules field     # as the Go operator decides
  grove simulate --from cluster.json --until 30m                     # a dump, without a scenario file
  grove simulate --from cluster.json --ready-after 2m                # the same, if its pods recover in two minutes
  grove simulate --from cluster.json --lose-node gpu-7               # the same with a failing node
  grove simulate --from cluster.json --edit new.yaml --until 30m     # what the edit does, with a scheduler

\b
A scenario:
  apiVersion: grove.io/v1alpha1
  kind: Scenario
  metadata: {name: lost-node}
  spec:
    sets: [{file: examples/manifests/disaggregated.yaml}]
    nodes: [{name: gpu, count: 40, capacity: {nvidia.com/gpu: 8}}]
    events:
      - {at: 5m, loseNode: {of: {clique: llama-0-router, index: 0}}}
    expect:
      - {at: end, ready: {llama-0-router: 2}, terminations: 0}

The path of file: is relative to the folder of the scenario.  Save the scenario above at the top of a checkout, or
adapt the path.

\b
A scenario from a dump; --from writes one like it:
  spec:
    cluster: cluster.json          # kubectl get pcs,pcsg,pclq,pods,podgangs,nodes -A -o json
    start: 2026-11-21T09:40:00Z    # the newest time in the dump, if left out
    nodes: [{name: gpu, count: 40, capacity: {nvidia.com/gpu: 8}}]
    events:
      - {at: 10s, applySet: {manifest: {file: new.yaml}}}

Pods of the dump whose node is not among the nodes stay on it; such a node takes no other pod.  Pods of other workloads
do not count.  Pods that are not ready in the dump stay so, unless the spec says kubelet: {recovers: 5m}.

\b
Events; a wrong field is reported with the fields that are allowed:
  users      applySet scale autoscale deleteSet deletePod failPod crashPod
             applyTopology deleteTopology
  hardware   addNodes loseNode restoreNode removeNode cordon uncordon
  faults     crashOperator lagCache relist touch loseAnswers refuseWrites
             slowAnswers changeHashes secondLeader jumpClock holdForeign
             gateForeign editStatus editLabels removeLabels permuteLists
  MNNVL      deleteDomain deleteClaim foreignDomain limitDomains reconfigure

\b
With ComputeDomains (NVIDIA's multi-node NVLink), as in the operator's configuration:
  spec:
    operator: {mnnvl: {enabled: true}}
    events: [{at: 0s, limitDomains: {most: 2, span: 2m}}]
    expect: [{at: 1m, joined: {llm-0-worker: 8}, failedDomains: {llm: [2, 3]}}]

\b
With topologies; admission reads caches that are five seconds old:
  spec:
    topologies: [{file: racks.yaml}]
    operator: {topologyAwareScheduling: {enabled: true, levels: [...]}}
    admission: {watch: 5s}
    expect: [{at: end, standsOn: {llm-0-worker: {example.com/rack: r1}}}]

Exit codes: 0 as expected, 1 bad input, 3 an expectation not met or a promise broken, 64 usage.
"""


@click.command("simulate", help=_HELP)
@click.argument("scenario", metavar="[SCENARIO.yaml]", type=click.Path(), required=False)
@click.option(
    "--from",
    "dump",
    type=click.Path(),
    metavar="FILE",
    help="Start from a dump, with its Nodes, instead of a scenario.",
)
@click.option(
    "--edit",
    "edits",
    type=click.Path(),
    multiple=True,
    metavar="FILE",
    help="With --from: apply the PodCliqueSets of this file at the start; may be repeated.",
)
@click.option(
    "--lose-node",
    "lost_nodes",
    multiple=True,
    metavar="NODE",
    help="With --from: this node stops responding at the start; may be repeated.",
)
@click.option(
    "--ready-after",
    type=DurationOption(),
    metavar="DURATION",
    help="With --from: pods that are not ready in the dump are ready this long after the start; without it they stay"
    " as they are.",
)
@output_option
@rules_option("auto")
@click.option(
    "--until",
    type=DurationOption(),
    help="Stop this long after the start at the latest; a run ends earlier when no event is left.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run N times, each with other random events; expectations are not checked.",
)
@click.option("--first", type=click.IntRange(min=0), default=0, metavar="SEED", help="The first seed.")
@click.option(
    "--check",
    is_flag=True,
    help="Check what may never happen; always on with --seeds. `grove rules SM-051` lists the codes that it prints.",
)
@picture_option("Draw the run as a chart, .svg or .png; with --seeds the run that breaks a promise, if one does.")
@click.option("--trace", type=click.Path(), metavar="FILE", help="Where to write a scenario that repeats a violation.")
@html_option
@click.option("-v", "--verbose", is_flag=True, help="Show all entries, including status writes and container starts.")
def simulate_command(**options: Any) -> int:
    """Run ``grove simulate`` with the parsed options; return its exit code."""
    scenario, dump = options["scenario"], options["dump"]
    if (scenario is None) == (dump is None):
        raise click.UsageError("give a scenario file, or --from with a dump; not both")
    if dump is None and (options["edits"] or options["lost_nodes"] or options["ready_after"]):
        raise click.UsageError(
            "--edit, --lose-node and --ready-after work only with --from; a scenario has events and kubelet.recovers"
        )
    if "-" in {dump, *options["edits"]}:
        raise click.UsageError("--from and --edit read files, not standard input")
    from grove_shell.actions.simulate import SimulateOptions, simulate_scenario

    return simulate_scenario(SimulateOptions(**options))


@click.command("converge")
@click.option("--nodes", default="18..1152", show_default=True, metavar="N", help="Numbers of daemons: 2,9,18..288.")
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    default=("all",),
    show_default=True,
    metavar="P",
    help="rmw, ssa, sharded, sharded-rmw or all; repeatable.",
)
@click.option("--clique-size", default="18", show_default=True, metavar="K", help="Daemons per clique: 4,9,18.")
@click.option("--limit", default="18", show_default=True, metavar="M", help="Indices per clique, at least K.")
@click.option("--seeds", default="5", show_default=True, metavar="R", help="Runs of each point, with seeds from 0.")
@click.option(
    "--arrival", default="2s", show_default=True, metavar="SPAN", help="Daemons start at random times within this span."
)
@click.option(
    "--readiness",
    default="1s",
    show_default=True,
    metavar="SPAN",
    help="A fabric daemon is ready after one to two times this span; 0s: immediately.",
)
@click.option(
    "--limiter", default="5/10", show_default=True, metavar="RATE/BURST", help="Rate limit of each client, or 'none'."
)
@click.option(
    "--server-cores", default="2", show_default=True, metavar="P", help="Cores of API server and store, or 'unlimited'."
)
@click.option(
    "--run-limit",
    default="10m",
    show_default=True,
    metavar="SPAN",
    help="A run is aborted after this span, and shown as censored.",
)
@click.option(
    "--world",
    type=click.Choice(["model", "cluster"]),
    default="model",
    show_default=True,
    help="Where to run: in a model or on a cluster.",
)
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="With --world cluster.  [default: KUBECONFIG]")
@click.option(
    "--store-metrics",
    "store",
    default="",
    metavar="URL",
    help="With --world cluster: metrics of etcd, for its CPU time.",
)
@click.option(
    "--costs", type=click.Path(), metavar="FILE", help="With --world model: constants of the server (ConvergenceCosts)."
)
@click.option("--out", type=click.Path(), metavar="FOLDER", help="Where to write runs.csv, table.txt and pictures.")
@click.option("--resume", is_flag=True, help="With --out: continue the runs in the folder.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="J",
    help="Parallel runs, with --world model.  [default: one for each CPU]",
)
@output_option
def converge_command(**options: Any) -> int:
    """Measure how long the daemons of a ComputeDomain need to find each other, by protocol and number of nodes.

    Daemons decide as they do in a cluster; the API server is a model with a few constants, and time is virtual.  Every
    run is shown, also one that did not converge.  A curve ends after the first median above 300 s.

    \b
    Examples:
      grove converge --nodes 18..288 --seeds 3
      grove converge --protocol all --out results          # interrupt with Ctrl-C ...
      grove converge --protocol all --out results --resume # ... and continue
      grove converge --nodes 18..1152 --protocol sharded --server-cores unlimited
      grove converge --nodes 288 --protocol sharded --clique-size 4,9,18,36,72 --limit 72
      grove converge --nodes 10000 --protocol sharded --seeds 1

    \b
    Protocols, chosen by the feature gate ComputeDomainCliques and the way of writing:
      rmw          all entries in the domain's status: read-modify-write, retried after a conflict
      ssa          all entries in the domain's status, by server-side apply
      sharded      one object per clique, by server-side apply
      sharded-rmw  one object per clique, by read-modify-write

    With --world cluster the same daemons run as tasks of a few processes against a real API server. Each has its own
    watch and rate limiter. All use a service account that is created for the run and has only the permissions of
    daemons, so that flow control applies. You need permission to create namespaces, roles and tokens and to read
    /metrics, and both kinds must be installed (grove manifests --only crds --with compute-domains). Daemons have no
    pods, so a garbage collector would delete their cliques: use a control plane without one, as
    `python -m benchmarks.converge` does.

    \b
    Columns of runs.csv, one line per run; times in seconds since the domain was created:
      t_all_s      all entries are Ready and no index is a duplicate, as seen by a watch
      t_views_s    for each daemon: its own watch shows its whole clique
      conflicts, cas_failures, watch_events, watch_bytes, cpu_server_s, ...

    Exit codes: 0 done, 1 bad input, 64 usage, 130 interrupted.
    """
    from grove_shell.actions.converge import ConvergeOptions, run_convergence_experiments
    from grove_shell.converge.converge_option_parsing import ConvergeCommandOptions

    names = ("world", "kubeconfig", "store", "costs", "out", "resume", "jobs", "output")
    rest = {name: options.pop(name) for name in names}
    if rest["world"] != "cluster" and (rest["kubeconfig"] or rest["store"]):
        raise click.UsageError("--kubeconfig and --store-metrics work only with --world cluster")
    rest["jobs"] = rest["jobs"] or os.cpu_count() or 1
    return run_convergence_experiments(ConvergeOptions(arguments=ConvergeCommandOptions(**options), **rest))
