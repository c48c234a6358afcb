"""``grove replay``."""

from typing import Any

import click

from grove_shell.cli.options import RuleSetType, output_option


@click.command("replay")
@click.argument("log", metavar="LOG", type=click.Path(dir_okay=False))
@output_option
@click.option("--rules", type=RuleSetType(), help="Judge by these too, and tell where they would have ended others.")
@click.option("--detailed-exitcode", is_flag=True, help="With --rules: exit 2 where they would have.")
@click.option("-v", "--verbose", is_flag=True, help="List everything that differs.")
def command(**options: Any) -> int:
    """Decide again, offline, what an operator decided: every look of its decision log, byte for byte.

    The log holds what the operator saw.  Each line is held against the chain of those before it, so a log that was
    changed, or cut short inside a line, is refused with the place; one that ends after a whole line is whole.

    \b
    Examples:
      grove operator --decision-log plans.jsonl ...
      grove replay plans.jsonl
      grove replay plans.jsonl --rules field       # what today's operator would have done instead

    Exit codes: 0 as written, 1 bad input, 2 other rules part (--detailed-exitcode), 3 decided otherwise than written,
    64 usage.
    """
    from grove_shell.actions.replay import ReplayOptions, replay

    return replay(ReplayOptions(**options))
