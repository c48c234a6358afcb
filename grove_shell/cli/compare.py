"""``grove compare``, also known as ``grove upgrade-check``."""

from typing import Any

import click

from grove_shell.cli.options import (
    DurationOption,
    RepeatableChoice,
    RuleSetOption,
    output_option,
    source_from_options,
    source_options,
)

CHANGES = ("ends", "oftener", "sooner", "later", "rarer", "spared", "unknown")
DEFAULT = ("auto", "design")


@click.command("compare")
@click.argument("sets", nargs=-1, metavar="[[NS/]SET]...")
@source_options
@output_option
@click.option(
    "--rules",
    type=RuleSetOption(auto=True),
    multiple=True,
    default=DEFAULT,
    show_default="auto, then design",
    help="Give it twice: the present rule set (auto: that of the operator that runs in the input), then the other one.",
)
@click.option("--until", type=DurationOption(), help="Also compare what happens within this time, e.g. 6h.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 if any termination differs.")
@click.option(
    "--fail-on",
    type=RepeatableChoice(CHANGES),
    multiple=True,
    help="Exit 3 if there is such a difference, or if a PodCliqueSet could not be decided; may be repeated.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every deleted clique, and every condition that differs.")
def command(**options: Any) -> int:
    """Compare two rule sets: which gangs does only one of them terminate?

    Decides about the same cluster under two rule sets (grove rules lists them): use it before an upgrade of the Go
    operator, or before this operator replaces it.  Also available as grove upgrade-check.

    \b
    Examples:
      grove compare -f cluster.json                         # from the operator that runs there to design, now
      grove compare -f cluster.json --until 6h --rules field@alpha.11 --rules field
      grove upgrade-check --live -A --until 4h --fail-on ends         # in CI

    Exit codes: 0 done, 1 bad input, 2 differences (--detailed-exitcode), 3 --fail-on, 64 usage.
    """
    source = source_from_options(options)
    rules = options.pop("rules")
    if len(rules) != len(DEFAULT):
        raise click.UsageError("give --rules twice: the present rule set, then the other one")
    from grove_shell.actions.compare import CompareOptions, compare_rule_sets

    return compare_rule_sets(source, CompareOptions(rules=(rules[0], rules[1]), **options))
