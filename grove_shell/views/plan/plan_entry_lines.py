"""The lines of one replica on the page of ``grove plan``: what becomes of it and when, why, and what averts it."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar, assert_never

from grove_core.forecast_explanation import EntryUrgency, ExplainedCause, ExplainedReplica
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    STYLES,
    clock_time,
    count_with_noun,
    deletion_impact_text,
    join_names_with_commas,
    object_display_name,
    padded_entry_label,
    relative_time,
    termination_countdown_text,
)
from grove_shell.views.plan.termination_hint_lines import FEW_HINTS, termination_hint_lines

T = TypeVar("T")


def add_replica_outcome_lines(page: StyledTextPage, entry: ExplainedReplica, now: datetime, *, full: bool) -> None:
    """Add one entry: what becomes of a replica and when, and its reasons.

    Args:
        now: the time of the plan.
        full: whether to show all names and reasons.
    """
    most = None if full else MAX_NAMES
    label = (padded_entry_label(entry.urgency.value), STYLES[entry.urgency])
    head = object_display_name(entry.subject)
    when = ""
    match entry.urgency:
        case EntryUrgency.KEEPS:
            _keep(page, entry, now, most)
            return
        case EntryUrgency.HELD:
            first, *more = (sentence for cause in entry.causes for sentence in cause.sentences)
            page.add_line(label, (head, "bold"), ": ", first)
            for sentence in more[:most]:
                page.add_line(INDENT, "  ", sentence)
            return
        case EntryUrgency.TERMINATES:
            goes = filter(None, (count_with_noun(len(entry.deletes), "PodClique"), deletion_impact_text(entry.impact)))
            when = f" now, with {', '.join(goes)}" if entry.deletes else " now: its PodCliques are being deleted"
        case EntryUrgency.WAITS:
            if (until := entry.until) is not None:
                when = f" {termination_countdown_text(until, entry.averted, now)}"
        case EntryUrgency.UNKNOWN | EntryUrgency.GATED:
            pass
        case _:
            assert_never(entry.urgency)
    page.add_line(label, (head, "bold"), when)
    _details(page, entry, now, full=full)


def _details(page: StyledTextPage, entry: ExplainedReplica, now: datetime, *, full: bool) -> None:
    """Add the causes of an entry, what averts it (CL-070), and what is deleted with it."""
    most = None if full else MAX_NAMES
    for cause in entry.causes:
        _cause(page, cause, most)
    if entry.hints is not None:
        is_due = entry.urgency is EntryUrgency.TERMINATES
        for line in termination_hint_lines(entry.hints, now, is_due=is_due, most=None if full else FEW_HINTS):
            page.add_line(INDENT, line)
    if entry.deletes:
        page.add_line(INDENT, "deletes: ", join_names_with_commas([ref.name for ref in entry.deletes], most))


def _keep(page: StyledTextPage, entry: ExplainedReplica, now: datetime, most: int | None) -> None:
    why = "; ".join(cause.sentences[0] for cause in entry.causes)
    if entry.averted is not None:
        when = f"{clock_time(entry.averted, now)} ({relative_time(entry.averted, now)})"
        why = f"it would be terminated at {when}; the steps below prevent that: {why}"
    page.add_line(
        (padded_entry_label(entry.urgency.value), STYLES[entry.urgency]), object_display_name(entry.subject), ": ", why
    )
    shown, rest = split_shown_and_hidden(entry.degraded, most)
    for cause in shown:
        page.add_line(INDENT, f"{cause.subject.kind} {cause.subject.name}: {'; '.join(cause.sentences)}")
    if rest:
        page.add_line(INDENT, f"and {count_with_noun(len(rest), 'more such PodClique')}")


def _cause(page: StyledTextPage, cause: ExplainedCause, most: int | None) -> None:
    first, *more = cause.sentences
    page.add_line(INDENT, f"{cause.subject.kind} {cause.subject.name}: {first}")
    shown, rest = split_shown_and_hidden(cause.below, most)
    for below in shown:
        page.add_line(INDENT, f"  {below.subject.name}: {below.sentences[0]}")
    if rest:
        page.add_line(INDENT, f"  and {count_with_noun(len(rest), 'more such PodClique')}")
    for sentence in more:
        page.add_line(INDENT, "  ", sentence)


def unlisted_entries_text(entries: Sequence[ExplainedReplica], now: datetime) -> str:
    """Return the number of entries that are not listed, what they delete, and how long the last of them waits."""
    text = count_with_noun(len(entries), "more write" if entries[0].urgency is EntryUrgency.HELD else "more replica")
    untils = [entry.until for entry in entries if entry.until is not None]
    deleted = sum(len(entry.deletes) for entry in entries)
    if entries[0].urgency is EntryUrgency.WAITS and untils:
        text += f", the last until {clock_time(max(untils), now)} ({relative_time(max(untils), now)})"
    return f"{text}, with {count_with_noun(deleted, 'PodClique')}" if deleted else text


def split_shown_and_hidden(items: Sequence[T], most: int | None) -> tuple[Sequence[T], Sequence[T]]:
    """Return the items to show, at most so many, and the others; all are shown where ``most`` is None."""
    return (items, ()) if most is None else (items[:most], items[most:])
