"""The page of ``grove replay``: whether every decision is the same as in the log, and which ones differ."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.compare import Comparison
from grove_core.version import VERSION
from grove_shell.page import Page
from grove_shell.views.compare_page import add_differences
from grove_shell.views.formatting import clock_time, joined_names, plural

_MOST: Final = 20
_WORDS: Final = 5


class ChangedDecision(NamedTuple):
    """A decision that is not the same as in the log.

    Attributes:
        line: its line in the log.
        name: name of the plan.
        at: the time of the decision.
        differences: where the two plans differ.
    """

    line: int
    name: str
    at: datetime
    differences: tuple[str, ...]


class RuleSetDifference(NamedTuple):
    """A decision at which another rule set terminates something else.

    Attributes:
        line: its line in the log.
        name: name of the plan.
        rules: the rule set of the log.
        at: the time of the decision.
        comparison: the terminations of both rule sets.
    """

    line: int
    name: str
    rules: str
    at: datetime
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The result of replaying a log.

    Attributes:
        looks, sets: the number of decisions and of PodCliqueSets in the log.
        first, last: the times of the first and the last decision.
        versions, rules: versions and rule sets of the operators that wrote it.
        other_rules: the rule set of ``--rules``; None without it.
        others: decisions that are not the same as in the log.
        parted: decisions at which the other rule set terminates something else.
    """

    looks: int
    sets: int
    first: datetime | None
    last: datetime | None
    versions: Sequence[str]
    rules: Sequence[str]
    other_rules: str | None
    others: Sequence[ChangedDecision]
    parted: Sequence[RuleSetDifference]


def replay_page(told: ReplayReport, *, full: bool) -> Page:
    """Return the page: the counts, each decision that differs, then those at which the other rule set differs."""
    page = Page()
    if told.first is None or told.last is None:
        page.add(("the log is complete and has no decision", "bold"))
        return page
    looks, same = plural(told.looks, "decision"), told.looks - len(told.others)
    if told.others:
        page.add((f"{len(told.others):,} of {looks} not the same as in the log", "bold red"))
    else:
        page.add((f"{looks} repeated, each plan byte for byte the same", "bold green"))
    span = f"{clock_time(told.first, told.first)} to {clock_time(told.last, told.first)}"
    day = told.first.date().isoformat()
    page.add((f"{plural(told.sets, 'PodCliqueSet')}, {day} {span}, rules '{', '.join(told.rules)}'", "dim"))
    if told.others and set(told.versions) != {VERSION}:
        page.add((f"log of version {joined_names(list(told.versions), None)}, repeated by {VERSION}", "dim"))
    for one in told.others if full else told.others[:_MOST]:
        page.add("")
        page.add((f"line {one.line}", "bold"), f"  plan {one.name}, {clock_time(one.at, told.first)}")
        for words in one.differences if full else one.differences[:_WORDS]:
            page.add("  ", words)
    _more(page, len(told.others), full=full)
    if told.other_rules is not None:
        _parted(page, told, told.first, full=full)
    elif told.others:
        page.add((f"{same:,} the same", "dim"))
    return page


def _parted(page: Page, told: ReplayReport, first: datetime, *, full: bool) -> None:
    """Add where the other rule set would have terminated something else; each difference once (RP-005)."""
    page.add("")
    if not told.parted:
        page.add((f"rules '{told.other_rules}': same terminations", "bold green"))
        return
    count = plural(len(told.parted), "decision")
    page.add((f"rules '{told.other_rules}': other terminations at {count}", "bold yellow"))
    first_of: dict[Hashable, RuleSetDifference] = {}
    for one in told.parted:
        first_of.setdefault(_what(one), one)
    shown = list(first_of.values())
    for one in shown if full else shown[:_MOST]:
        root = one.comparison.root
        page.add("")
        page.add((f"{root.namespace}/{root.name}", "bold"), f"  line {one.line}, {clock_time(one.at, first)}")
        rules = (one.rules, str(told.other_rules))
        add_differences(page, one.comparison, rules, one.at, full=full)
    _more(page, len(shown), full=full)


def _what(one: RuleSetDifference) -> Hashable:
    """Return the identity of a difference, whatever the time of the decision."""
    return one.comparison.root, tuple((told.cliques, told.change) for told in one.comparison.differences)


def _more(page: Page, count: int, *, full: bool) -> None:
    if count > _MOST and not full:
        page.add((f"and {count - _MOST:,} more (-v lists all)", "dim"))
