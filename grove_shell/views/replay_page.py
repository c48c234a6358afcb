"""The page of ``grove replay``: whether every decision is the same as in the log, and which ones differ."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.compare import RuleSetComparison
from grove_core.version import VERSION
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.compare.compare_page import add_rule_set_differences
from grove_shell.views.formatting import clock_time, count_with_noun, join_names_with_commas

_MOST: Final = 20
_WORDS: Final = 5


class DecisionDifferingFromLog(NamedTuple):
    """A decision that is not the same as in the log."""

    line: int
    name: str
    at: datetime
    differences: tuple[str, ...]


class RuleSetTerminationDifference(NamedTuple):
    """A decision at which another rule set terminates something else."""

    line: int
    name: str
    rules: str
    at: datetime
    comparison: RuleSetComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The result of replaying a log.

    Attributes:
        versions, rules: versions and rule sets of the operators that wrote it.
        other_rules: the rule set of ``--rules``; None without it.
        changed: decisions that are not the same as in the log.
        rule_differences: decisions at which the other rule set terminates something else.
    """

    decisions: int
    sets: int
    first: datetime | None
    last: datetime | None
    versions: Sequence[str]
    rules: Sequence[str]
    other_rules: str | None
    changed: Sequence[DecisionDifferingFromLog]
    rule_differences: Sequence[RuleSetTerminationDifference]


def replay_page(report: ReplayReport, *, full: bool) -> StyledTextPage:
    """Return the page: the counts, each decision that differs, then those at which the other rule set differs."""
    page = StyledTextPage()
    if report.first is None or report.last is None:
        page.add_line(("nothing was decided: the log has no decision", "bold"))
        return page
    decisions, same = count_with_noun(report.decisions, "decision"), report.decisions - len(report.changed)
    if report.changed:
        page.add_line((f"{len(report.changed):,} of {decisions} not the same as in the log", "bold red"))
    else:
        page.add_line((f"{decisions} repeated, each plan byte for byte the same", "bold green"))
    span = f"{clock_time(report.first, report.first)} to {clock_time(report.last, report.first)}"
    day = report.first.date().isoformat()
    page.add_line(
        (f"{count_with_noun(report.sets, 'PodCliqueSet')}, {day} {span}, rules '{', '.join(report.rules)}'", "dim")
    )
    if report.changed and set(report.versions) != {VERSION}:
        page.add_line(
            (f"log of version {join_names_with_commas(list(report.versions), None)}, repeated by {VERSION}", "dim")
        )
    for one in report.changed if full else report.changed[:_MOST]:
        page.add_line("")
        page.add_line((f"line {one.line}", "bold"), f"  plan {one.name}, {clock_time(one.at, report.first)}")
        for words in one.differences if full else one.differences[:_WORDS]:
            page.add_line("  ", words)
    _more(page, len(report.changed), full=full)
    if report.other_rules is not None:
        _rule_differences(page, report, report.first, full=full)
    elif report.changed:
        page.add_line((f"{same:,} the same", "dim"))
    return page


def _rule_differences(page: StyledTextPage, report: ReplayReport, first: datetime, *, full: bool) -> None:
    """Add where the other rule set would have terminated something else; each difference once (RP-005)."""
    page.add_line("")
    if not report.rule_differences:
        page.add_line((f"rules '{report.other_rules}': same terminations", "bold green"))
        return
    count = count_with_noun(len(report.rule_differences), "decision")
    page.add_line((f"rules '{report.other_rules}': other terminations at {count}", "bold yellow"))
    first_of: dict[Hashable, RuleSetTerminationDifference] = {}
    for one in report.rule_differences:
        changes = tuple((found.cliques, found.change) for found in one.comparison.differences)
        first_of.setdefault((one.comparison.root, changes), one)
    shown = list(first_of.values())
    for one in shown if full else shown[:_MOST]:
        root = one.comparison.root
        page.add_line("")
        page.add_line((f"{root.namespace}/{root.name}", "bold"), f"  line {one.line}, {clock_time(one.at, first)}")
        rules = (one.rules, str(report.other_rules))
        add_rule_set_differences(page, one.comparison, rules, one.at, full=full)
    _more(page, len(shown), full=full)


def _more(page: StyledTextPage, count: int, *, full: bool) -> None:
    if count > _MOST and not full:
        page.add_line((f"and {count - _MOST:,} more (-v lists all)", "dim"))
