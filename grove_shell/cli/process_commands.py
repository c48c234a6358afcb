"""Commands that run until they are stopped: operator, webhooks, daemon and domain-controller."""

from typing import Any

import click

from grove_core.version import IMAGE
from grove_shell.cli.option_types import DurationOption, validate_namespace_option
from grove_shell.cli.options import IN_A_POD, connection_options, log_option


@click.command("operator")
@connection_options(IN_A_POD)
@click.option(
    "-n",
    "--namespace",
    default="",
    callback=validate_namespace_option,
    help="Watch this namespace only; Roles are enough for that.",
)
@click.option(
    "--config", type=click.Path(dir_okay=False, allow_dash=True), help="Configuration file (OperatorConfiguration)."
)
@click.option("--observe", is_flag=True, help="Log what it would do and never write: for use beside another operator.")
@click.option(
    "--own-image",
    metavar="IMAGE",
    default=IMAGE,
    show_default=True,
    help="Image of this process; pods get an init container of it that waits for the cliques they start after, unless"
    " the configuration names another image.",
)
@click.option(
    "--decision-log",
    type=click.Path(dir_okay=False, writable=True),
    help="File to append every snapshot, plan and result to, for grove replay.",
)
def operator_command(**options: Any) -> int:
    """Run the operator: follow a cluster and do what `grove plan --live` shows.

    Of several processes only the one that holds the Lease acts. Logs are lines of
    JSON on standard error; health, readiness and metrics are served on port 8080.

    \b
    Examples:
      grove manifests | kubectl apply --server-side -f -
      grove operator --kubeconfig ~/.kube/config
      grove operator --observe --config field.yaml    # beside the Go operator, with `rules: field`: check predictions
      grove operator --decision-log plans.jsonl       # grove replay plans.jsonl repeats all decisions

    Exit codes: 0 stopped by a signal, 1 bad configuration or cluster not reachable, 64 usage, 75 the Lease was lost.
    """
    from grove_shell.actions.operator_and_webhooks import run_operator

    return run_operator(**options)


@click.command("webhooks")
@connection_options(IN_A_POD)
@click.option(
    "-n",
    "--namespace",
    callback=validate_namespace_option,
    help="Namespace of the Service and of the Secret with the certificate.  [default: that of the context or the pod]",
)
@click.option(
    "--watch-namespace",
    default="",
    metavar="NS",
    callback=validate_namespace_option,
    help="Watch PodCliqueSets of this namespace only.",
)
@click.option(
    "--config", type=click.Path(dir_okay=False, allow_dash=True), help="Configuration file (WebhookConfiguration)."
)
@click.option(
    "--url-host", default="", metavar="HOST", help="Host that the API server calls instead of the Service (for trials)."
)
@click.option(
    "--only",
    "previews",
    type=click.Choice(["preview"]),
    callback=lambda _ctx, _param, value: value is not None,
    help="Serve the preview of updates alone, which works beside the Go operator too.",
)
def webhooks_command(**options: Any) -> int:
    """Serve the admission webhooks: set defaults of PodCliqueSets, and refuse what `grove validate` refuses.

    With topologyAwareScheduling.enabled also for ClusterTopologies, unless --watch-namespace is given.

    Certificates are created, kept in a Secret that all replicas share, renewed in time, and registered; or they are
    files that something else renews (certificates.mode: manual). Reviews are served on port 9443; health, readiness
    and metrics on 8080.

    With --only preview it does something else: it answers each update of a PodCliqueSet with warnings that kubectl
    prints: how many pods and GPUs restart, and what serves meanwhile. It refuses nothing without preview.denyAbove.

    \b
    Examples:
      grove manifests --only webhooks | kubectl apply --server-side -f -
      grove manifests --only preview | kubectl apply --server-side -f -
      grove webhooks -n grove-system --url-host 192.168.1.20     # outside the cluster, while you try it
      grove webhooks --config - <<'END'
      apiVersion: operator.config.grove.io/v1alpha1
      kind: WebhookConfiguration
      certificates: {mode: manual, directory: /etc/grove/certs}
      END

    Exit codes: 0 stopped by a signal, 1 bad configuration or cluster not reachable, 64 usage.
    """
    from grove_shell.actions.operator_and_webhooks import run_webhooks

    return run_webhooks(**options)


@click.command("daemon")
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
def daemon_command(**options: Any) -> int:
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

    from grove_shell.actions.daemon_and_domain_controller import run_daemon
    from grove_shell.domain_daemon.daemon_identity import DaemonCommandOptions

    shared = {name: options.pop(name) for name in ("kubeconfig", "context", "log")}
    try:
        options["fabric"] = tuple(split(options["fabric"]))
    except ValueError as fault:
        raise click.BadParameter(str(fault), param_hint="--fabric") from fault
    return run_daemon(DaemonCommandOptions(**options), **shared)


@click.command("domain-controller")
@click.option(
    "-n",
    "--namespace",
    default="",
    callback=validate_namespace_option,
    help="Namespace of the domains.  [default: all]",
)
@click.option(
    "--driver-namespace",
    "pods_namespace",
    default="",
    help="Namespace of the daemons' pods and cliques.  [default: all]",
)
@click.option(
    "--cleanup",
    type=DurationOption(),
    default="2s",
    show_default=True,
    help="Time until entries that could not be judged are looked at again.",
)
@connection_options(IN_A_POD)
@log_option
def domain_controller_command(**options: Any) -> int:
    """Remove entries of daemons whose pods are gone, and write the status of each domain and its cliques.

    It is for clusters in which `grove daemon` runs; NVIDIA's driver has a controller of its own. Two of them can run
    at once: each write names the version it is based on.

    \b
    grove domain-controller --driver-namespace driver

    Exit codes: 0 stopped by a signal, 1 no access to the cluster, 64 usage.
    """
    from grove_shell.actions.daemon_and_domain_controller import run_domain_controller

    return run_domain_controller(**options)
