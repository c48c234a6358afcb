"""``grove daemon``."""

from typing import Any

import click

from grove_shell.cli.options import IN_A_POD, DurationOption, connection_options, log_option


@click.command("daemon", short_help="run one daemon of a ComputeDomain")
@click.option("--domain", required=True, metavar="NS/NAME", help="The ComputeDomain it serves.")
@click.option("--domain-uid", default="", metavar="UID", help="Uid of the domain.  [default: read from the server]")
@click.option(
    "--clique", required=True, metavar="ID", help="NVLink clique of the node; empty for a node without fabric."
)
@click.option("--pod", default="", metavar="NS/NAME", help="The pod it runs in.")
@click.option("--node", default="", help="Name of the node.  [default: node of the pod]")
@click.option("--ip", default="", metavar="ADDRESS", help="IP address for its peers.  [default: IP of the pod]")
@click.option(
    "--protocol",
    default="ssa",
    show_default=True,
    metavar="WORD",
    help="rmw or ssa: register in the domain; sharded or sharded-rmw: in one object per clique.",
)
@click.option("--limit", type=int, default=18, show_default=True, help="The most daemons of a clique.")
@click.option("--peers", default="", metavar="FILE", help="Write the peer map to this hosts file.")
@click.option("--fabric", default="", metavar="COMMAND", help="Fabric daemon to run instead of writing --peers.")
@click.option(
    "--grace", type=DurationOption(), default="10s", show_default=True, help="Time to remove its entry at the end."
)
@connection_options(IN_A_POD)
@log_option
def command(**options: Any) -> int:
    """Register one node, find the daemons of its clique, and send their peer map to a fabric daemon.

    Each action is logged on standard error, with its reason and the id of its rule. After SIGTERM it removes its entry.
    After SIGKILL its entry remains, so that it gets the same index when it starts again. A fabric COMMAND reads each
    peer map as a line of JSON from standard input, {"index": 0, "hosts": [["10.0.0.1", "compute-domain-daemon-0000"]]},
    and prints `ready` or `not ready`.

    \b
    grove manifests --only crds --with compute-domains | kubectl apply --server-side -f -
    grove daemon --domain ml/training --clique rack-7.1 --node node-a --ip 10.0.0.1 --peers a.hosts
    grove daemon --domain ml/training --clique rack-7.1 --pod driver/daemon-x2x --protocol sharded --peers x.hosts

    --protocol sharded corresponds to the feature gate ComputeDomainCliques. Pods need the label
    resource.nvidia.com/computeDomain=UID; without it `grove domain-controller` removes their entries as stale.

    Exit codes: 0 entry removed, 1 bad input or entry not removed in time, 64 usage.
    """
    from shlex import split

    from grove_shell.actions.daemon import run_daemon
    from grove_shell.domain_daemon.daemon_identity import DaemonCommandOptions

    shared = {name: options.pop(name) for name in ("kubeconfig", "context", "log")}
    try:
        options["fabric"] = tuple(split(options["fabric"]))
    except ValueError as fault:
        raise click.BadParameter(str(fault), param_hint="--fabric") from fault
    return run_daemon(DaemonCommandOptions(**options), **shared)
