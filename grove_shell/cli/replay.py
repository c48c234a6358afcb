"""``grove replay``."""

from typing import Any

import click

from grove_shell.cli.options import RuleSetOption, output_option


@click.command("replay")
@click.argument("log", metavar="LOG", type=click.Path(dir_okay=False))
@output_option
@click.option(
    "--rules", type=RuleSetOption(), help="Decide under this rule set too, and show terminations that differ."
)
@click.option("--detailed-exitcode", is_flag=True, help="With --rules: exit 2 if any termination differs.")
@click.option("-v", "--verbose", is_flag=True, help="List everything that differs.")
def command(**options: Any) -> int:
    """Repeat the decisions of a decision log offline, and check that every plan is the same, byte for byte.

    The log holds the snapshots that the operator decided on.  Each line is chained to the lines before it by a hash, so
    a log that was changed, or that ends within a line, is refused with the line.  One that ends after a whole line is
    accepted.

    \b
    Examples:
      grove operator --decision-log plans.jsonl ...
      grove replay plans.jsonl
      grove replay plans.jsonl --rules field       # what the Go operator would have done

    Exit codes: 0 same decisions, 1 bad input, 2 terminations differ under --rules (--detailed-exitcode), 3 decisions
    differ from the log, 64 usage.
    """
    from grove_shell.actions.replay import replay

    return replay(**options)
