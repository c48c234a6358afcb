"""The page of ``grove compare``: which cliques only one rule set terminates, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from grove_core.compare import FirstTermination, RuleSetComparison, TerminationChangeKind, TerminationDifference
from grove_core.document.plan_document import RuleSetSource
from grove_core.kernel.reasons import Reason
from grove_core.plan.forecast import Forecast
from grove_core.plan.update_forecast import may_change_more
from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    clock_time,
    count_with_noun,
    deletion_impact_text,
    join_names_with_commas,
    object_display_name,
    padded_entry_label,
    relative_time,
)
from grove_shell.views.plan.edits_summary import redacted_edits_summary
from grove_shell.views.plan.manifest_notes import (
    add_edited_object_lines,
    add_redacted_field_lines,
    add_unselected_sets_with_manifests,
    unplanned_manifests_summary,
)
from grove_shell.views.plan.plan_headline import time_source_note
from grove_shell.views.plan.upgrade_restart_lines import add_upgrade_restart, upgrade_restart_count_text

_STYLES: Final[Mapping[TerminationChangeKind, str]] = {
    TerminationChangeKind.ENDS: "bold red",
    TerminationChangeKind.OFTENER: "bold red",
    TerminationChangeKind.SOONER: "bold yellow",
    TerminationChangeKind.LATER: "yellow",
    TerminationChangeKind.RARER: "green",
    TerminationChangeKind.SPARED: "bold green",
}
_VERDICTS: Final[Mapping[TerminationChangeKind, str]] = {
    TerminationChangeKind.ENDS: "would be terminated that {} kept today",
    TerminationChangeKind.OFTENER: "would be terminated more often",
    TerminationChangeKind.SOONER: "would be terminated sooner",
    TerminationChangeKind.LATER: "would be terminated later",
    TerminationChangeKind.RARER: "would be terminated less often",
    TerminationChangeKind.SPARED: "would be kept that {} terminated today",
}
_CAUSES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSetComparisonReport:
    """The result of a comparison.

    Attributes:
        rules: names of the two rule sets: the present one and the other one.
        rules_from: what chose each of them (CL-055).
        nothing_judged: why nothing was decided; empty where something was (CL-056).
        as_of_from: ``input`` where the time is the newest one in the input; else empty (IN-081).
        until: the end of the compared time; None without ``--until``.
        forecasts: of all sets, by the present rule set and by the other one.
        snapshots: of all sets.
        edited: the sets that are compared as if a manifest of the input had just been applied (CL-102), and topologies.
        not_planned: sets whose manifests in the input were not selected (IN-087).
        hidden: ``namespace/name`` of edited sets -> fields that a capture redacted (ED-015).
    """

    rules: tuple[str, str]
    rules_from: tuple[RuleSetSource, RuleSetSource]
    nothing_judged: str
    as_of: datetime
    until: datetime | None
    not_collected: Sequence[str]
    comparisons: Sequence[RuleSetComparison]
    as_of_from: str = ""
    forecasts: tuple[Sequence[Forecast], Sequence[Forecast]] = ((), ())
    snapshots: Sequence[Snapshot] = ()
    edited: Sequence[str] = ()
    not_planned: Sequence[str] = ()
    hidden: Mapping[str, Sequence[ManifestChange]] = field(default_factory=dict)


def rule_set_comparison_page(report: RuleSetComparisonReport, *, full: bool) -> StyledTextPage:
    """Return the page: the counts, then set by set every replica that the two rule sets treat differently."""
    page, now = StyledTextPage(), report.as_of
    page.add_line(*comparison_headline(report))
    until = f", until {clock_time(report.until, now)}" if report.until is not None else ""
    source = time_source_note(report.as_of_from)
    page.add_line((f"as of {now.date().isoformat()} {clock_time(now, now)}{source}{until}", "dim"))
    because = next((f": {source.because}" for source in report.rules_from if source.because), "")
    page.add_line((f"rules '{report.rules[0]}' compared with rules '{report.rules[1]}'{because}", "dim"))
    add_edited_object_lines(page, report.edited)
    add_unselected_sets_with_manifests(page, report.not_planned)
    add_redacted_field_lines(page, report.hidden.items(), full=full)
    for kind in report.not_collected:
        page.add_line((f"not collected: {kind}; what depends on it is not decided", "bold magenta"))
    for found in report.comparisons:
        if not found.has_same_terminations or found.restart is not None:
            _set(page, found, report, full=full)
    same = [found for found in report.comparisons if found.has_same_terminations]
    if same:
        page.add_line("")
    for text, ends in (("same terminations", True), ("no termination under either rule set", False)):
        if names := [f"{found.root.namespace}/{found.root.name}" for found in same if bool(found.alike) is ends]:
            page.add_line((text, "green"), f": {join_names_with_commas(names, None if full else MAX_NAMES)}")
    breaches = sum(len(found.breaches) for found in report.comparisons)
    if breaches and not full:
        page.add_line(
            (f"{count_with_noun(breaches, 'condition')} would differ without a termination (-v lists them)", "dim")
        )
    return page


def comparison_headline(report: RuleSetComparisonReport) -> list[Span]:
    """Return the parts of the first line with their styles; each has its separator."""
    changes: Counter[TerminationChangeKind] = Counter()
    for found in report.comparisons:
        for one in found.differences:
            changes[one.change] += len(one.cliques)
    if report.nothing_judged:
        return [(report.nothing_judged, "bold red")]
    comparisons = report.comparisons
    spans: list[Span] = []
    unpredicted = sum(bool(found.unpredicted) for found in comparisons)
    if unpredicted:
        sets = count_with_noun(unpredicted, "PodCliqueSet")
        spans.append((f"NOT PREDICTED: the operator there does more to {sets} than is compared", "bold magenta"))
    unknown = sum(bool(found.unknown) for found in comparisons)
    if unknown:
        separator = "; " if spans else ""
        spans.append((f"{separator}{count_with_noun(unknown, 'PodCliqueSet')} undecided", "bold magenta"))
    if restarts := upgrade_restart_count_text([one.restart for one in comparisons if one.restart is not None]):
        spans.append((f"; {restarts}" if spans else restarts, "bold red"))
    for change in TerminationChangeKind:
        if count := changes.get(change):
            text = f"{count_with_noun(count, 'PodClique')} {_VERDICTS[change].format('is' if count == 1 else 'are')}"
            spans.append((f"; {text}" if spans else text, _STYLES[change]))
    hidden = redacted_edits_summary(sum(map(may_change_more, report.hidden.values())))
    left_out = [(f"{text}; ", style) for text, style in (*unplanned_manifests_summary(report.not_planned), *hidden)]
    return [*left_out, *(spans or [(_all_alike(report), "bold green")])]


def _all_alike(report: RuleSetComparisonReport) -> str:
    """Return the headline without a difference: sets with the same terminations, and sets without any (CL-043)."""
    comparisons = report.comparisons
    ending = sum(bool(found.alike) for found in comparisons)
    texts = []
    if ending:
        texts.append(f"same terminations at the same time in {count_with_noun(ending, 'PodCliqueSet')}")
    if ending < len(comparisons):
        now, later = (" now", " (--until compares later ones)") if report.until is None else ("", "")
        sets = count_with_noun(len(comparisons) - ending, "PodCliqueSet")
        texts.append(f"no termination{now} under either rule set in {sets}{later}")
    return "; ".join(texts)


def _set(page: StyledTextPage, found: RuleSetComparison, report: RuleSetComparisonReport, *, full: bool) -> None:
    page.add_line("")
    page.add_line((f"{found.root.namespace}/{found.root.name}", "bold"))
    for words in dict.fromkeys(reason.sentence for reason in (*found.unknown, *found.unpredicted)):
        page.add_line((padded_entry_label("UNKNOWN"), "bold magenta"), words)
    if found.restart is not None:
        add_upgrade_restart(page, found.restart, report.rules)
    add_rule_set_differences(page, found, report.rules, report.as_of, full=full)


def add_rule_set_differences(
    page: StyledTextPage, found: RuleSetComparison, rules: tuple[str, str], now: datetime, *, full: bool
) -> None:
    """Add every replica of a set that two rule sets treat differently.

    Args:
        rules: names of the two rule sets, in the order of the comparison.
        now: that other times are shown relative to.
        full: whether to show all names and reasons, and the differing conditions.
    """
    for one in found.differences:
        _difference(page, one, rules, now, full=full)
    for subject, before, after in found.breaches if full else ():
        page.add_line(INDENT, f"{object_display_name(subject)}: MinAvailableBreached {after}, not {before}")


def _difference(
    page: StyledTextPage, one: TerminationDifference, rule_sets: tuple[str, str], now: datetime, *, full: bool
) -> None:
    names = join_names_with_commas([ref.name for ref in one.cliques], None if full else MAX_NAMES)
    page.add_line((padded_entry_label(one.change.value), _STYLES[one.change]), (names, "bold"))
    for rules, end in zip(rule_sets, (one.before, one.after), strict=True):
        if end is None:
            page.add_line(INDENT, (rules, "bold"), ": not terminated")
            for words in _reasons(one.spared_because, full=full):
                page.add_line(INDENT, f"  {words}")
        else:
            _end(page, rules, end, now, full=full)


def _end(page: StyledTextPage, rules: str, end: FirstTermination, now: datetime, *, full: bool) -> None:
    when = "now" if end.at <= now else f"{clock_time(end.at, now)} ({relative_time(end.at, now)})"
    again = f", {count_with_noun(end.times, 'time')} in all" if end.times > 1 else ""
    goes = deletion_impact_text(end.takes)
    what = f"{object_display_name(end.subject)}, {count_with_noun(len(end.cliques), 'PodClique')}" + (
        f", {goes}" if goes else ""
    )
    page.add_line(INDENT, (rules, "bold"), f": terminated {when}{again}: {what}")
    for words in _reasons(end.because, full=full):
        page.add_line(INDENT, f"  {words}")
    if full:
        page.add_line(INDENT, f"  deletes: {join_names_with_commas([ref.name for ref in end.cliques], None)}")


def _reasons(reasons: Sequence[Reason], *, full: bool) -> list[str]:
    """Return each distinct reason with its subject; ``full`` for all of them, else at most four and the count."""
    sentences = list(dict.fromkeys(f"{object_display_name(reason.subject)}: {reason.sentence}" for reason in reasons))
    if full or len(sentences) <= _CAUSES:
        return sentences
    return [*sentences[:_CAUSES], f"and {count_with_noun(len(sentences) - _CAUSES, 'more reason')} (-v)"]
