"""``grove apply``."""

from typing import Any

import click

from grove_shell.cli.options import connection_options


@click.command("apply")
@click.argument("path", metavar="PLAN", type=click.Path(dir_okay=False))
@connection_options()
@click.option("--dry-run", is_flag=True, help="Only check whether the plan is still valid.")
def command(**options: Any) -> int:
    """Execute exactly the plan that was reviewed, or refuse and show what changed.

    The cluster is planned again as it is now, with the configuration of the saved plan.  If the new plan has other
    steps or other reasons, nothing is done.  Only the first round is executed: what the operator would do now.

    \b
    grove plan --live -n ml --out plan.json
    grove apply plan.json

    Exit codes: 0 done, 1 a write was refused, 4 the plan is stale, 64 usage.
    """
    from grove_shell.actions.apply import apply

    return apply(**options)
