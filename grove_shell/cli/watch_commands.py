"""The command that shows a screen: watch."""

from typing import Any

import click

from grove_shell.cli.options import input_source_from_options, rules_option, sets_argument, source_options


@click.command("watch")
@sets_argument
@source_options
@click.option(
    "--edit",
    "edits",
    multiple=True,
    type=click.Path(),
    metavar="FILE|DIR",
    help="Show the plan of this edit beside it; may be repeated.  With --live the same as -f.",
)
@rules_option()
def watch_command(**options: Any) -> int:
    """Show the plan on a screen that follows the cluster, with clocks that run down.

    With --live it follows the cluster by watch, and reads only; files given with -f are edits, whose plan stands beside
    it.  Without --live it reads the files again whenever they are written.

    The plan is made anew when something changes and when a deadline passes.  Press ? for the keys, q to leave.

    \b
    Examples:
      grove watch --live -n ml
      grove watch --live -A
      grove watch --live -n ml -f new-image.yaml       # with the plan of an edit beside it
      grove watch -f cluster.json --now clock          # a file that something else writes again
      grove watch --live -n ml --rules field           # under the rules of the Go operator

    It needs Textual: pip install 'grove-plan[watch]'.

    Exit codes: 0 left by q, 1 bad input, cluster not reachable or Textual missing, 64 usage.
    """
    sets, edits, rules = options.pop("sets"), options.pop("edits"), options.pop("rules")
    source = input_source_from_options(options)
    if "-" in (*source.filenames, *edits):
        raise click.UsageError("standard input cannot be read again: give -f FILE")
    from grove_core.kernel.structs import replace
    from grove_shell.actions.planned_input import PlanOptions
    from grove_shell.watch_screen.plan_loop import WatchOptions
    from grove_shell.watch_screen.run_watch import watch

    if source.live is not None:
        edits, source = (*source.filenames, *edits), replace(source, filenames=())
    return watch(source, WatchOptions(plan=PlanOptions(sets=sets, rules=rules), edits=edits))
