"""``grove plan``."""

from typing import Any

import click

from grove_shell.cli.options import (
    DurationType,
    RepeatableChoice,
    output_option,
    rules_option,
    source_from_options,
    source_options,
)

FAIL_ON = ("terminate", "wait", "delete", "withheld", "unknown", "change")


@click.command("plan")
@click.argument("sets", nargs=-1, metavar="[[NS/]SET]...")
@source_options
@output_option
@rules_option()
@click.option("--rounds", type=click.IntRange(min=1), metavar="N", help="At most N rounds.  [default: until rest]")
@click.option("--until", type=DurationType(), help="Let time pass as well, e.g. 6h: what comes later by time alone.")
@click.option("--decisions", is_flag=True, help="List every verdict, those to do nothing included.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 if there is anything to do now.")
@click.option(
    "--fail-on",
    type=RepeatableChoice(FAIL_ON),
    multiple=True,
    help="Exit 3 if there is one of these, in any round, or if a set could not be decided; may be repeated.",
)
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Save the plan too, for grove apply.")
@click.option("-v", "--verbose", is_flag=True, help="List every replica, and every write of every round.")
def command(**options: Any) -> int:
    """What will the controller do, in which rounds, and why - and what is held back.

    Reads what kubectl printed, or asks the cluster itself (--live).  Round 1 is exactly what the operator would do
    now; the rounds after it assume that every write succeeds and that nobody else acts.

    \b
    Examples:
      kubectl get pcs,pcsg,pclq,pods,podgangs -n ml -o json | grove plan -f -
      grove plan -f cluster.yaml --now 2026-11-21T09:38:48Z --until 6h
      grove plan -f cluster.json -o json --decisions ml/llama
      grove plan -f cluster.json --fail-on terminate        # in CI
      grove plan --live -n ml -f new-image.yaml             # before kubectl apply -f new-image.yaml

    JSON loads about ten times faster than YAML; use it for big clusters.

    Exit codes: 0 done, 1 bad input, 2 changes (--detailed-exitcode), 3 --fail-on, 64 usage.
    """
    source = source_from_options(options)
    from grove_shell.actions.plan import PlanOptions, plan

    return plan(source, PlanOptions(**options))
