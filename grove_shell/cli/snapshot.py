"""``grove snapshot``."""

from typing import Any

import click

from grove_shell.cli.options import connection_options, document_output_option


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
def command(**options: Any) -> int:
    """Capture a cluster into a file that can be planned, shared and kept.

    The file holds all objects that concern Grove, the time, and what could not be read. Values of environment
    variables, arguments and commands are replaced by salted hashes; plans of the file are the same as of the cluster.

    \b
    Examples:
      grove snapshot -n ml --out ml.json
      grove plan -f ml.json                  # as of the moment it was taken

    Exit codes: 0 done, 1 cluster not reachable, 64 usage.
    """
    from grove_shell.actions.command_input import LiveCluster
    from grove_shell.actions.snapshot import take_snapshot

    if options["everywhere"] and options["namespace"] is not None:
        raise click.UsageError("-A (all namespaces) and -n (one namespace) exclude each other")
    live = LiveCluster(**{name: options.pop(name) for name in ("kubeconfig", "context", "namespace", "everywhere")})
    return take_snapshot(live, **options)
