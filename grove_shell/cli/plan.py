"""``grove plan``."""

from typing import Any

import click

from grove_shell.cli.options import (
    DurationOption,
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
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show at most N reconcile rounds.  [default: until nothing is left to do]",
)
@click.option(
    "--until", type=DurationOption(), help="Also show what happens within this time, e.g. 6h, if nothing is done."
)
@click.option("--decisions", is_flag=True, help="List every verdict, also those to do nothing.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 if there is anything to do now.")
@click.option(
    "--fail-on",
    type=RepeatableChoice(FAIL_ON),
    multiple=True,
    help="Exit 3 if any round contains this, or if a PodCliqueSet could not be decided; may be repeated.",
)
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Also save the plan, for grove apply.")
@click.option("-v", "--verbose", is_flag=True, help="List every replica, and every write of every round.")
def command(**options: Any) -> int:
    """Show what the operator will do, in which reconcile rounds, and why; and what it withholds.

    Reads what kubectl printed, or the cluster itself (--live).  Round 1 is exactly what the operator would do now;
    later rounds assume that every write succeeds and that nothing else changes the cluster.

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
