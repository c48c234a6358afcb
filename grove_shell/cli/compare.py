"""``grove compare``, also known as ``grove upgrade-check``."""

from typing import Any

import click

from grove_shell.cli.options import (
    DurationType,
    RepeatableChoice,
    RuleSetType,
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
    type=RuleSetType(auto=True),
    multiple=True,
    default=DEFAULT,
    show_default="auto, then design",
    help="Twice: the rule set of today (auto: that of the operator which the input shows), and that of tomorrow.",
)
@click.option("--until", type=DurationType(), help="Let time pass as well, e.g. 6h: what comes later by time alone.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 if anything ends otherwise.")
@click.option(
    "--fail-on",
    type=RepeatableChoice(CHANGES),
    multiple=True,
    help="Exit 3 if there is one, or if nothing can be said of a set; may be repeated.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every clique that goes, and every condition that differs.")
def command(**options: Any) -> int:
    """Who would end by other rules that is spared today, and the other way round.

    Judges the same cluster by two rule sets (grove rules lists them): before an upgrade of the existing operator, or
    before this one takes over.  grove upgrade-check is another name of it.

    \b
    Examples:
      grove compare -f cluster.json                         # from the operator that runs there to design, now
      grove compare -f cluster.json --until 6h --rules field@alpha.8 --rules field
      grove upgrade-check --live -A --until 4h --fail-on ends         # in CI

    Exit codes: 0 done, 1 bad input, 2 differences (--detailed-exitcode), 3 --fail-on, 64 usage.
    """
    source = source_from_options(options)
    rules = options.pop("rules")
    if len(rules) != len(DEFAULT):
        raise click.UsageError("--rules twice: those of today, and those of tomorrow")
    from grove_shell.actions.compare import CompareOptions, compare_rule_sets

    return compare_rule_sets(source, CompareOptions(rules=(rules[0], rules[1]), **options))
