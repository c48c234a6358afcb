"""``grove converge``."""

import os
from typing import Any

import click

from grove_shell.cli.options import output_option
from grove_shell.converge.worlds import WORLDS


@click.command("converge")
@click.option("--nodes", default="18..1152", show_default=True, metavar="N", help="How many daemons: 2,9,18..288.")
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    default=("all",),
    show_default=True,
    metavar="P",
    help="rmw, ssa, sharded, sharded-rmw or all; may be given more than once.",
)
@click.option("--clique-size", default="18", show_default=True, metavar="K", help="Daemons of a clique: 4,9,18.")
@click.option("--limit", default="18", show_default=True, metavar="M", help="Indices of a clique; K may not exceed it.")
@click.option("--seeds", default="5", show_default=True, metavar="R", help="Runs of each point, by seeds from 0.")
@click.option("--arrival", default="2s", show_default=True, metavar="SPAN", help="Daemons start within this time.")
@click.option(
    "--readiness",
    default="1s",
    show_default=True,
    metavar="SPAN",
    help="A fabric daemon is ready after once to twice this time; 0s is at once.",
)
@click.option("--limiter", default="5/10", show_default=True, metavar="RATE/BURST", help="Of each client, or 'none'.")
@click.option(
    "--server-cores", default="2", show_default=True, metavar="P", help="Of API server and store, or 'unlimited'."
)
@click.option(
    "--run-limit", default="10m", show_default=True, metavar="SPAN", help="A run is given up then, and shown."
)
@click.option("--world", type=click.Choice(list(WORLDS)), default="model", show_default=True, help="Where it happens.")
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="With --world cluster: else KUBECONFIG.")
@click.option(
    "--store-metrics", "store", default="", metavar="URL", help="With --world cluster: of etcd, for its processor time."
)
@click.option(
    "--costs", type=click.Path(), metavar="FILE", help="Of the model: what a server needs (ConvergenceCosts)."
)
@click.option("--out", type=click.Path(), metavar="FOLDER", help="Where to write runs.csv, table.txt and pictures.")
@click.option("--resume", is_flag=True, help="With --out: go on with the runs that are there.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="J",
    help="Runs at once, where they do not disturb each other.  [default: one for each processor]",
)
@output_option
def command(**options: Any) -> int:
    """How long the daemons of a ComputeDomain need to find each other, by protocol and number of nodes.

    Daemons decide as they do in a cluster; the API server is a model with a few constants, and time is virtual.  Every
    run is kept: what did not converge is shown as such, and a curve ends after the first median above 300 s.

    \b
    Examples:
      grove converge --nodes 18..288 --seeds 3
      grove converge --protocol all --out results          # stop with Ctrl-C ...
      grove converge --protocol all --out results --resume # ... and go on
      grove converge --nodes 18..1152 --protocol sharded --server-cores unlimited
      grove converge --nodes 288 --protocol sharded --clique-size 4,9,18,36,72 --limit 72
      grove converge --nodes 10000 --protocol sharded --seeds 1

    \b
    Protocols, as the gate ComputeDomainCliques and the way of writing choose them:
      rmw          all in the domain's status: read, modify, write back, and again after a conflict
      ssa          all in the domain's status, by server-side apply
      sharded      an object for each clique, by server-side apply
      sharded-rmw  an object for each clique, read, modified and written back

    With --world cluster the same daemons run as tasks of a few processes on a real API server: each with its own watch
    and limiter, all by an account that is made for the run and has daemons' rights alone, so that flow control counts.
    Who runs it has to be allowed to make namespaces, roles and tokens and to read /metrics; both kinds have to be there
    (grove manifests --only crds --with compute-domains). Daemons have no pods: a garbage collector would take their
    cliques, so use a control plane without one, as `python -m benchmarks.converge` does by itself.

    \b
    What is in runs.csv, a line for each run; times in seconds since the domain was made:
      t_all_s      all entries are Ready and no index is shared, as an observer's watch shows it
      t_views_s    of each daemon: its own view shows its whole clique
      conflicts, cas_failures, watch_events, watch_bytes, cpu_server_s, ...

    Exit codes: 0 done, 1 bad input, 64 usage, 130 interrupted.
    """
    from grove_shell.actions.converge import ConvergeOptions, converge
    from grove_shell.converge.arguments import ConvergeArguments

    names = ("world", "kubeconfig", "store", "costs", "out", "resume", "jobs", "output")
    rest = {name: options.pop(name) for name in names}
    if rest["world"] != "cluster" and (rest["kubeconfig"] or rest["store"]):
        raise click.UsageError("--kubeconfig and --store-metrics are of a cluster: add --world cluster")
    rest["jobs"] = rest["jobs"] or os.cpu_count() or 1
    return converge(ConvergeOptions(asked=ConvergeArguments(**options), **rest))
