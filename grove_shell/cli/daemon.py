"""``grove daemon``."""

from typing import Any

import click

from grove_shell.cli.options import DurationType


@click.command("daemon", short_help="one daemon of a ComputeDomain: register, find the peers, run the fabric daemon")
@click.option("--domain", required=True, metavar="NS/NAME", help="The ComputeDomain it serves.")
@click.option("--domain-uid", default="", metavar="UID", help="Of the domain.  [default: as the server has it]")
@click.option(
    "--clique", required=True, metavar="ID", help="The NVLink clique of the node; empty where it has no fabric."
)
@click.option("--pod", default="", metavar="NS/NAME", help="The pod it runs in, which has node and address.")
@click.option("--node", default="", help="Its node.  [default: that of the pod]")
@click.option("--ip", default="", metavar="ADDRESS", help="Where its peers reach it.  [default: that of the pod]")
@click.option(
    "--protocol",
    default="ssa",
    show_default=True,
    metavar="WORD",
    help="rmw or ssa: in the domain; sharded or sharded-rmw: in an object for each clique.",
)
@click.option("--limit", type=int, default=18, show_default=True, help="How many daemons a clique may have.")
@click.option("--peers", default="", metavar="FILE", help="Keep the peer map in this file, as a hosts file has it.")
@click.option("--fabric", default="", metavar="COMMAND", help="Run this in place of the stand-in that keeps the file.")
@click.option(
    "--grace", type=DurationType(), default="10s", show_default=True, help="How long it may take to remove its entry."
)
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Else KUBECONFIG, else the account of the pod.")
@click.option("--context", help="Of the kubeconfig.")
@click.option("--log", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it tells.")
def command(**options: Any) -> int:
    """Register on behalf of one node, find the daemons of its clique, and keep a fabric daemon beside it informed.

    Every thing it does or waits for is a line on standard error, with the reason and the rule's number. SIGTERM takes
    its entry away; killed, it keeps its index when it comes back. A fabric COMMAND gets each peer map as a line of JSON
    on its standard input, {"index": 0, "hosts": [["10.0.0.1", "compute-domain-daemon-0000"]]}, and answers `ready` or
    `not ready`.

    \b
    grove manifests --only crds --with compute-domains | kubectl apply --server-side -f -
    grove daemon --domain ml/training --clique rack-7.1 --node node-a --ip 10.0.0.1 --peers a.hosts
    grove daemon --domain ml/training --clique rack-7.1 --pod driver/daemon-x2x --protocol sharded --peers x.hosts

    The gate ComputeDomainCliques is --protocol sharded. Pods need the label resource.nvidia.com/computeDomain=UID, or
    `grove domain-controller` takes their entries for left-overs.

    Exit codes: 0 its entry is gone, 1 bad input or its entry had to be left behind, 64 usage.
    """
    from shlex import split

    from grove_shell.actions.daemon import DaemonOptions, run_daemon
    from grove_shell.domain_daemon.identity import DaemonArguments

    shared = {name: options.pop(name) for name in ("kubeconfig", "context", "log")}
    try:
        options["fabric"] = tuple(split(options["fabric"]))
    except ValueError as fault:
        raise click.BadParameter(str(fault), param_hint="--fabric") from fault
    return run_daemon(DaemonOptions(told=DaemonArguments(**options), **shared))
