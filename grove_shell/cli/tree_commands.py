"""The command that prints sets as trees: tree."""

from typing import Any

import click

from grove_shell.cli.options import (
    input_source_from_options,
    output_option,
    rules_option,
    sets_argument,
    source_options,
)


@click.command("tree")
@sets_argument
@source_options
@output_option
@rules_option()
@click.option("-v", "--verbose", is_flag=True, help="List every pod, and every replica that is ready.")
def tree_command(**options: Any) -> int:
    """Show PodCliqueSets as trees: replicas, scaling groups, PodCliques and pods, with states and deadlines.

    \b
    Examples:
      grove tree -f cluster.json
      grove tree --live -n ml llama                # one set
      grove tree --live -A -v | less
      grove tree -f cluster.json -o json | jq '.. | select(.endsAt?) | {subject, state, endsAt}'

    A state is that of the object by the plan: will end, waiting (its delay runs), breached, withheld, being deleted, no
    node, not ready, gated, created (by the plan, not there yet), finished, ready, or unknown.  "waiting inside" is
    the most urgent state of something inside; in JSON that is "state" with "stateIsFromBelow".

    Pods of a PodClique that are alike stand on one line, and replicas that are ready are counted from the ninth on; -v
    lists all.

    Exit codes: 0 done, 1 bad input, 3 nothing to show, 64 usage.
    """
    source = input_source_from_options(options)
    from grove_shell.actions.tree import TreeOptions, print_trees

    return print_trees(source, TreeOptions(**options))
