"""The timeline of a plan: bars for the delays that run, marks for terminations and later writes (HP-004)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.document.plan_document import PlanDocument
from grove_core.forecast_explanation import ForecastExplanation
from grove_core.kernel.time_formats import short_duration_text
from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.plan_entries import replica_link
from grove_shell.views.formatting import clock_time, deletion_impact_text, object_display_name, relative_time
from grove_shell.views.plan.planned_terminations import (
    ReplicaPendingTermination,
    TerminationAt,
    replicas_pending_termination,
)
from grove_shell.views.time_axis import axis_tick_times

MOST_ROWS: Final = 60
_LEFT: Final = 1.5  # percent of the width before the first time
_RIGHT: Final = 97.0
_PAST: Final = 0.12  # share of the width for delays that began before


class DelayBar(NamedTuple):
    """A delay: its begin and its width in percent; ``began`` is whether it began before the first time shown."""

    x: str
    width: str
    began_earlier: bool
    title: str


class TerminationMark(NamedTuple):
    """A termination: its place in percent, what it takes, and a link to its reasons."""

    x: str
    title: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaTimelineRow:
    """One replica: its set, its name, the time of its end in words, its delay and its terminations."""

    set_name: str
    name: str
    link: str
    when: str
    is_due: bool
    bar: DelayBar | None
    marks: tuple[TerminationMark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminationTimeline:
    """All rows, the first termination first.

    Attributes:
        ticks: (place in percent, time).
        now: the place of the time of the plan.
        span: from now to the end, in words.
        left_out: the number of rows beyond the limit.
    """

    rows: tuple[ReplicaTimelineRow, ...]
    ticks: tuple[tuple[str, str], ...]
    now: str
    span: str
    left_out: int


def plan_timeline(
    document: PlanDocument, stories: Sequence[ForecastExplanation], until: datetime | None, anchors: HtmlAnchorIds
) -> TerminationTimeline | None:
    """Return the timeline from the time of the plan to ``until``, or to the last event; None where nothing comes.

    Args:
        stories: the explanations of its forecasts.
        until: the end of the forecast time; None without ``--until``.
        anchors: has the ids that terminations link to.
    """
    now = document.as_of
    rows = replicas_pending_termination(document.forecasts, stories)
    if not rows:
        return None
    end = max(until or now, *(at for row in rows for at in row.times), now + timedelta(seconds=1))
    axis = _Axis(now, end, has_past=any(row.since is not None and row.since < now for row in rows))
    shown = tuple(_placed(row, axis, anchors) for row in rows[:MOST_ROWS])
    return TerminationTimeline(
        rows=shown,
        ticks=tuple(axis.ticks()),
        now=axis.place(now),
        span=short_duration_text(end - now),
        left_out=max(len(rows) - MOST_ROWS, 0),
    )


class _Axis:
    """Places of times, in percent of the width."""

    def __init__(self, now: datetime, end: datetime, *, has_past: bool) -> None:
        past = (end - now) * (_PAST if has_past else 0)
        self.start, self.now, self.end = now - past, now, end

    def percent(self, at: datetime) -> float:
        """Return the place of a time; one before the start is at the start."""
        share = (max(at, self.start) - self.start) / (self.end - self.start)
        return _LEFT + share * (_RIGHT - _LEFT)

    def place(self, at: datetime) -> str:
        """Return the place as an attribute has it."""
        return f"{self.percent(at):.2f}%"

    def ticks(self) -> Iterator[tuple[str, str]]:
        """Yield the places of round times after now, with their texts."""
        for at, text in axis_tick_times(self.now, self.end):
            yield self.place(at), text


def _placed(row: ReplicaPendingTermination, axis: _Axis, anchors: HtmlAnchorIds) -> ReplicaTimelineRow:
    link = replica_link(anchors, row.replica, row.root)
    first = row.first
    bar = None
    if row.until is not None or row.since is not None:
        end = row.until or first
        since = row.since or axis.now
        start = axis.percent(since)
        width = max(axis.percent(end) - start, 0.4)
        title = f"the delay runs from {clock_time(since, axis.now)} to {clock_time(end, axis.now)}"
        bar = DelayBar(f"{start:.2f}%", f"{width:.2f}%", since < axis.start, title)
    ends = row.ends.first or (TerminationAt(first, None),)
    marks = tuple(TerminationMark(axis.place(end.at), _title(row, end, axis.now), link) for end in ends)
    more = f", then {row.ends.all - 1:,} more" if row.ends.all > 1 else ""
    is_due = first <= axis.now
    when = f"{clock_time(first, axis.now)} ({relative_time(first, axis.now)}){more}"
    return ReplicaTimelineRow(
        set_name=f"{row.root.namespace}/{row.root.name}",
        name=object_display_name(row.replica),
        link=link,
        when=f"now{more}" if is_due else when,
        is_due=is_due,
        bar=bar,
        marks=marks,
    )


def _title(row: ReplicaPendingTermination, end: TerminationAt, now: datetime) -> str:
    """Return what a mark shows: one that repeats a termination has its own cause, as the link leads to the first."""
    takes = deletion_impact_text(end.impact)
    goes = f", with {takes}" if takes else ""
    cause = f": {end.cause}" if end.cause and not row.is_caused_as_now(end) else ""
    return f"{object_display_name(row.replica)} terminated at {clock_time(end.at, now)}{goes}{cause}"
