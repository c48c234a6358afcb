"""``grove operator``."""

import click

from grove_core.version import IMAGE


@click.command(short_help="do it: follow a cluster and act")
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Else KUBECONFIG, else the account of the pod.")
@click.option("--context", help="Of the kubeconfig.")
@click.option("-n", "--namespace", default="", help="Look after one namespace only; Roles are enough for that.")
@click.option("--config", type=click.Path(dir_okay=False, allow_dash=True), help="An OperatorConfiguration.")
@click.option("--observe", is_flag=True, help="Plan and say so, and never write: beside another operator.")
@click.option(
    "--own-image",
    metavar="IMAGE",
    default=IMAGE,
    show_default=True,
    help="That this process runs from: pods wait for their start with it, unless the configuration names another.",
)
@click.option(
    "--decision-log",
    type=click.Path(dir_okay=False, writable=True),
    help="Append what it sees, every plan, and what became of it, for grove replay.",
)
def command(**options: str | bool | None) -> int:
    """Follow a cluster, and do what `grove plan --live` says.

    One of several processes acts, the one that holds the Lease. Logs are lines of
    JSON on standard error; health, readiness and metrics are served at port 8080.

    \b
    Examples:
      grove manifests | kubectl apply --server-side -f -
      grove operator --kubeconfig ~/.kube/config
      grove operator --observe --config field.yaml    # beside today's operator, with `rules: field`: keep score of it
      grove operator --decision-log plans.jsonl       # grove replay plans.jsonl decides it all again

    Exit codes: 0 told to stop, 1 bad configuration or no way to the cluster, 64 usage, 75 the Lease was lost.
    """
    from grove_shell.actions.operator import OperatorOptions, run_operator

    return run_operator(OperatorOptions(**options))  # type: ignore[arg-type]  # click hands over what the options say
