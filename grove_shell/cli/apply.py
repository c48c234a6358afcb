"""``grove apply``."""

from typing import Any

import click


@click.command("apply")
@click.argument("path", metavar="PLAN", type=click.Path(dir_okay=False))
@click.option("--kubeconfig", type=click.Path(), metavar="FILE", help="Else KUBECONFIG, else ~/.kube/config.")
@click.option("--context", metavar="NAME", help="Of the kubeconfig.")
@click.option("--dry-run", is_flag=True, help="Only say whether it is still the plan.")
def command(**options: Any) -> int:
    """Carry out exactly the plan that was reviewed, or refuse and say what changed.

    A plan is made again of the cluster as it is now, for the configuration of the saved one.  If it does not do the
    same for the same reasons, nothing is done.  The first round is carried out: what the operator would do now.

    \b
    grove plan --live -n ml --out plan.json
    grove apply plan.json

    Exit codes: 0 done, 1 something was refused, 4 the plan is stale, 64 usage.
    """
    from grove_shell.actions.apply import ApplyOptions, apply

    return apply(ApplyOptions(**options))
