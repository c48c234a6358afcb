"""Commands about plans: plan, and apply, which executes a saved one."""

from typing import Any

import click

from grove_shell.cli.option_types import DurationOption, RepeatableChoiceOption
from grove_shell.cli.options import (
    connection_options,
    html_option,
    input_source_from_options,
    output_option,
    picture_option,
    policy_option,
    rules_option,
    sets_argument,
    source_options,
)

FAIL_ON = ("terminate", "wait", "delete", "withheld", "defect", "restart", "unknown", "change")
_CHECKS = ("fail_on", "detailed_exitcode", "max_restarted_gpus", "max_terminated_gpus")


@click.command("plan")
@sets_argument
@source_options
@output_option
@rules_option()
@click.option(
    "--old",
    "old",
    multiple=True,
    metavar="FILE|DIR",
    help="Manifests as they are now, e.g. of the main branch: plan -f as edits of them, with every pod ready.",
)
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
    type=RepeatableChoiceOption(FAIL_ON),
    multiple=True,
    help="Exit 3 if any round contains this, or if a PodCliqueSet could not be decided; may be repeated.",
)
@click.option(
    "--max-restarted-gpus",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit 3 if the edits restart pods that hold more than N GPUs, or if that is unknown.",
)
@click.option(
    "--max-terminated-gpus",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit 3 if terminations end pods that hold more than N GPUs, with --until also later ones, or if that is"
    " unknown.",
)
@policy_option
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Also save the plan, for grove apply.")
@html_option
@picture_option("Also draw the delays and terminations as a chart, .svg or .png; see --until.")
@click.option(
    "--watch", is_flag=True, help="Print the plan again whenever the cluster or a file changes; Ctrl-C ends with 0."
)
@click.option("-v", "--verbose", is_flag=True, help="List every replica, and every write of every round.")
def plan_command(**options: Any) -> int:
    """Show what the operator will do, in which reconcile rounds, and why; and what it withholds.

    Reads what kubectl printed, or the cluster itself (--live).  Round 1 is exactly what the operator would do now;
    later rounds assume that every write succeeds and that nothing else changes the cluster.

    \b
    Examples:
      kubectl get pcs,pcsg,pclq,pods,podgangs -n ml -o json | grove plan -f -
      grove plan -f cluster.yaml --now dump --until 6h
      grove plan -f cluster.json -o json --decisions ml/llama
      grove plan -f cluster.json --fail-on terminate        # in CI
      grove plan -f cluster.json --until 6h --max-terminated-gpus 8
      grove plan --live -n ml -f new-image.yaml             # before kubectl apply -f new-image.yaml
      grove plan -f cluster.json -f new.yaml --max-restarted-gpus 8
      grove plan -f cluster.json --until 6h --html plan.html       # a page to share
      grove plan -f cluster.json --until 6h --picture plan.svg
      grove plan --live -n ml --watch                       # again at each change, with a countdown
      grove plan -f cluster.json -f new.yaml -o markdown           # a comment for a pull request
      grove plan --old main/set.yaml -f set.yaml            # without a cluster, as in a pull request
      grove plan -f cluster.json -f new.yaml --policy policies/    # rules of your own; see grove policy

    \b
    Words at the left, the most urgent first:
      TERMINATE  now                        GATED  pods behind a scheduling gate
      WAIT       until its delay ends       KEEP   not terminated
      HELD BACK  a write that is withheld   THEN   a termination within --until
      UNKNOWN    not decided by the input   AGAIN  the same gang is terminated again
      RESTART    pods that an edit replaces
      CREATE, UPDATE, PLACE                 what else is done, round by round

    With a manifest of a set that the input has, the plan shows what the edit does: the fields that change, every pod
    that restarts, and what serves meanwhile.  A manifest of a topology beside the stored one is followed into the sets
    that use it.

    Writes that failed before are shown with the message of the API server, by Events and statuses in the input.

    JSON loads about ten times faster than YAML; use it for big clusters.

    Exit codes: 0 done, 1 bad input, 2 changes (--detailed-exitcode), 3 --fail-on, --policy or --max-...-gpus,
    64 usage.
    """
    source = input_source_from_options(options)
    from grove_shell.actions.plan import plan_and_print
    from grove_shell.actions.planned_input import PlanOptions

    if not options.pop("watch"):
        return plan_and_print(source, PlanOptions(**options))
    if "-" in source.filenames:
        raise click.UsageError("--watch reads files again, and standard input only once: give a file, or --live")
    if checks := [
        name for name in _CHECKS if options[name] is not None and options[name] is not False and options[name] != ()
    ]:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in checks)
        raise click.UsageError(f"--watch runs until it is stopped, so leave out what sets the exit code: {shown}")
    from grove_shell.following.plan_watch import print_plan_on_changes

    return print_plan_on_changes(source, PlanOptions(**options))


@click.command("apply")
@click.argument("path", metavar="PLAN", type=click.Path(dir_okay=False))
@connection_options()
@click.option("--dry-run", is_flag=True, help="Only check whether the plan is still valid.")
def apply_command(**options: Any) -> int:
    """Execute exactly the plan that was reviewed, or refuse and show what changed.

    The cluster is planned again as it is now, with the configuration of the saved plan.  If the new plan has other
    steps or other reasons, nothing is done.  Only the first round is executed: what the operator would do now.

    \b
    grove plan --live -n ml --out plan.json
    grove apply plan.json

    Exit codes: 0 done, 1 a write was refused, 4 the plan is stale, 64 usage.
    """
    from grove_shell.actions.apply import apply_saved_plan

    return apply_saved_plan(**options)
