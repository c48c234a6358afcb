"""``grove operator``."""

from typing import Any

import click

from grove_core.version import IMAGE
from grove_shell.cli.options import IN_A_POD, connection_options


@click.command(short_help="run the operator: follow a cluster and act")
@connection_options(IN_A_POD)
@click.option("-n", "--namespace", default="", help="Watch this namespace only; Roles are enough for that.")
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
def command(**options: Any) -> int:
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
    from grove_shell.actions.operator import run_operator

    return run_operator(**options)
