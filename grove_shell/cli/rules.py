"""``grove rules``."""

import click

from grove_shell.cli.options import output_option


@click.command("rules")
@click.argument("names", nargs=-1, metavar="[RULE SET|NUMBER|CODE]...")
@output_option
def command(names: tuple[str, ...], output: str) -> int:
    """List the rule sets, or print one rule.

    Without arguments: every rule set and the titles of its differences.  With a rule set: its differences in full.
    With a rule number or a reason code of a plan: that rule.

    \b
    Examples:
      grove rules
      grove rules field@v0.1.0-alpha.11
      grove rules GF-073
      grove rules DelayExpired

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.rules import rules

    return rules(names, output)
