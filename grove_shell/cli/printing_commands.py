"""Commands that print or save documents: snapshot, manifests, rules and completion."""

from typing import Any, Final

import click
from click.shell_completion import get_completion_class

from grove_shell.cli.option_types import validate_namespace_option
from grove_shell.cli.options import config_option, connection_options, document_output_option, output_option


@click.command("snapshot")
@connection_options()
@click.option("-n", "--namespace", metavar="NS", help="Namespace to capture.  [default: that of the context]")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Capture all namespaces.")
@click.option(
    "--out", type=click.Path(dir_okay=False), metavar="FILE", help="File to write.  [default: standard output]"
)
@click.option(
    "--whole", is_flag=True, help="Keep values of environment variables, arguments and commands; Secrets never."
)
@document_output_option("json")
def snapshot_command(**options: Any) -> int:
    """Capture a cluster into a file that can be planned, shared and kept.

    The file holds all objects that concern Grove, the time, and what could not be read. Values of environment
    variables, arguments and commands are replaced by salted hashes; plans of the file are the same as of the cluster.
    Give --whole to plan manifests beside the file: values cannot be compared with hashes.

    \b
    Examples:
      grove snapshot -n ml --out ml.json
      grove plan -f ml.json                  # as of the moment it was taken
      grove snapshot -n ml --whole --out ml.json && grove plan -f ml.json -f manifests/

    Exit codes: 0 done, 1 cluster not reachable, 64 usage.
    """
    from grove_shell.actions.command_input import LiveClusterOptions
    from grove_shell.actions.snapshot import write_snapshot_file

    if options["everywhere"] and options["namespace"] is not None:
        raise click.UsageError("-A (all namespaces) and -n (one namespace) exclude each other")
    live = LiveClusterOptions(
        **{name: options.pop(name) for name in ("kubeconfig", "context", "namespace", "everywhere")}
    )
    return write_snapshot_file(live, **options)


def _image(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and (not value or value.split() != [value]):
        raise click.BadParameter(f"{value!r} is not an image name: it must not be empty or contain spaces")
    return value


_MONITORING: Final = ("alerts", "dashboard", "pod-monitor")


def _complete_alert_values(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of all values of alerts, each with its equals sign."""
    from grove_shell.monitoring.alert_settings import settable_alert_names

    return [f"{name}=" for name in settable_alert_names() if name.startswith(incomplete)]


@click.command("manifests")
@click.option(
    "--only",
    "parts",
    type=click.Choice(["crds", "rbac", "operator", "webhooks", "preview", *_MONITORING]),
    multiple=True,
    help="Print only this part; may be repeated.",
)
@click.option(
    "--with",
    "more",
    type=click.Choice(["compute-domains", "daemons", "preview", *_MONITORING]),
    multiple=True,
    help="Also print CRDs of ComputeDomains, or roles for `grove daemon`; NVIDIA's driver normally installs both."
    " Or the preview of updates, alerts, a dashboard, a PodMonitor.",
)
@click.option("--image", metavar="IMAGE", callback=_image, help="Image of the containers.  [default: grove:VERSION]")
@click.option(
    "-n",
    "--namespace",
    "watched",
    metavar="NS",
    callback=validate_namespace_option,
    help="Watch this namespace only, with Roles for it.",
)
@click.option(
    "--system-namespace",
    "home",
    metavar="NS",
    callback=validate_namespace_option,
    help="Namespace to run in.  [default: grove-system; grove-preview for the preview alone; with -n that namespace]",
)
@click.option(
    "--alert",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=_complete_alert_values,
    help="Set a threshold, duration or severity of the alerts, such as queueDeep.above=200; may be repeated.",
)
@click.option(
    "--runbooks",
    metavar="URL",
    help="Where your copy of the folder docs/runbooks is read; the alerts link to its pages.",
)
@config_option
@document_output_option("yaml")
def manifests_command(
    parts: tuple[str, ...],
    more: tuple[str, ...],
    image: str | None,
    watched: str | None,
    home: str | None,
    **options: Any,
) -> int:
    """Print the manifests that install Grove, in the order to apply them: CRDs, roles, operator, webhooks.

    CRDs are generated from the models that `grove validate` and `grove plan` read manifests with, and roles from the
    table of all requests that the code makes to an API server.  -o json prints one List.

    \b
    Examples:
      grove manifests --image example.com/grove:0.2.0 | kubectl apply --server-side -f -
      grove manifests -n ml | kubectl apply --server-side -f -       # for one namespace
      grove manifests --only crds > crds.yaml
      grove manifests --only crds --with compute-domains             # without NVIDIA's driver
      grove manifests --config operator.yaml | kubectl apply --server-side -f -
      grove manifests --only preview | kubectl apply --server-side -f -    # beside the Go operator
      grove manifests --only alerts --alert queueDeep.above=200 | kubectl apply --server-side -f -
      grove manifests --only dashboard --only pod-monitor | kubectl apply --server-side -f -

    The preview is a program of its own, with its own account, roles and registration. It answers each update of a
    PodCliqueSet with warnings of what restarts, under the rules that --config names, else those of the operator that
    runs there.

    alerts is a PrometheusRule and pod-monitor a PodMonitor, both of the Prometheus operator; dashboard is a ConfigMap
    that the sidecar of Grafana's Helm chart loads. Each is printed on request only.

    With --config the operator runs with that file, and the webhooks with its mnnvl and topologyAwareScheduling. In
    mnnvl mode `annotations` the webhooks are also registered for PodCliques and PodGangs, and may then create
    ComputeDomains and ResourceClaims. With topologyAwareScheduling.enabled they are also registered for
    ClusterTopologies, unless -n names a namespace.

    To check whether a name of these CRDs is already taken in a cluster: grove validate --preflight --live.

    Apply with --server-side: without it kubectl stores a copy in an annotation, and the CRDs are too large for that.

    Exit codes: 0 done, 1 bad configuration, 64 usage.
    """
    from grove_core.version import IMAGE
    from grove_shell.actions.manifests import print_installation_manifests
    from grove_shell.manifests.installation import SYSTEM, InstallationOptions
    from grove_shell.monitoring.alert_settings import InvalidAlertValue, parse_alert_options
    from grove_shell.settings.webhook_settings import PREVIEW_PROGRAM

    assignments, runbooks = options.pop("assignments"), options.pop("runbooks")
    if (assignments or runbooks is not None) and "alerts" not in {*parts, *more}:
        raise click.UsageError("--alert and --runbooks need --only alerts or --with alerts")
    try:
        alerts = parse_alert_options(assignments, runbooks)
    except InvalidAlertValue as fault:
        raise click.UsageError(str(fault)) from None
    otherwise = PREVIEW_PROGRAM if parts == ("preview",) else SYSTEM  # which may be the Go operator's
    installation = InstallationOptions(home=home or watched or otherwise, watched=watched or "", image=image or IMAGE)
    return print_installation_manifests(parts, installation=installation, more=more, alerts=alerts, **options)


@click.command("rules")
@click.argument("names", nargs=-1, metavar="[RULE SET|NUMBER|CODE]...")
@output_option
def rules_command(names: tuple[str, ...], output: str) -> int:
    """List the rule sets, or print one rule.

    Without arguments: every rule set and the titles of its differences.  With a rule set: its differences in full.
    With a rule number or a reason code of a plan: that rule.

    \b
    Examples:
      grove rules
      grove rules field@v0.1.0-alpha.11
      grove rules GF-073
      grove rules DelayExpired

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.rules import print_rules

    return print_rules(names, output)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> int:
    """Print a shell completion script.

    \b
    Examples:
      grove completion bash > ~/.local/share/bash-completion/completions/grove
      source <(grove completion zsh)
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}", ctx)
    group = ctx.find_root().command
    click.echo(completion(group, {}, "grove", "_GROVE_COMPLETE").source())
    return 0
