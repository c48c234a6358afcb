"""``grove snapshot``."""

from typing import Any

import click

from grove_shell.cli.options import document_option


@click.command("snapshot")
@click.option("--kubeconfig", type=click.Path(), metavar="FILE", help="Else KUBECONFIG, else ~/.kube/config.")
@click.option("--context", metavar="NAME", help="Of the kubeconfig.")
@click.option("-n", "--namespace", metavar="NS", help="Else that of the context.")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Of all namespaces.")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Else standard output.")
@click.option("--whole", is_flag=True, help="Keep values of variables, arguments and commands; Secrets never.")
@document_option("json")
def command(**options: Any) -> int:
    """Capture a cluster into a file that can be planned, shown to others, and kept.

    Everything that concerns Grove, when it was taken, and what the cluster did not show. Values of variables,
    arguments and commands are replaced by words that nobody can read, and it is decided like the original.

    \b
    Examples:
      grove snapshot -n ml --out ml.json
      grove plan -f ml.json                  # as of the moment it was taken

    Exit codes: 0 done, 1 no way to the cluster, 64 usage.
    """
    from grove_shell.actions.snapshot import SnapshotOptions, take_snapshot
    from grove_shell.actions.source import Live

    if options["everywhere"] and options["namespace"] is not None:
        raise click.UsageError("-A is all namespaces, -n is one of them")
    live = Live(**{name: options.pop(name) for name in ("kubeconfig", "context", "namespace", "everywhere")})
    return take_snapshot(SnapshotOptions(live=live, **options))
