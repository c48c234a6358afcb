"""The timeline of a plan: bars for the delays that run, marks for terminations and later writes (HP-004)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.document.plan_document import PlanDocument
from grove_core.explain import ExplainedReplica, ForecastExplanation, ReplicaUrgency
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step, gangs_terminated_by, total_deletion_impact
from grove_core.kernel.time_formats import parse_time, short_duration_text
from grove_core.plan.forecast import Forecast
from grove_shell.html.anchors import Anchors
from grove_shell.html.plan_entries import entry_link
from grove_shell.views.formatting import clock_time, deletion_impact_text, object_display_name, relative_time

MOST_ROWS: Final = 60
_MOST_MARKS: Final = 50  # of one row
_MOST_TICKS: Final = 7
_LEFT: Final = 1.5  # percent of the width before the first time
_RIGHT: Final = 97.0
_LEAST_GAP: Final = 0.06  # share of the time between now and the first tick
_PAST: Final = 0.12  # share of the width for delays that began before
_DAY: Final = timedelta(days=1)
_STEPS: Final = (
    *(timedelta(seconds=step) for step in (1, 2, 5, 10, 15, 30)),
    *(timedelta(minutes=step) for step in (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720)),
    *(timedelta(days=step) for step in (1, 2, 7, 14, 30, 91, 365, 3650, 36_500, 365_000, 3_650_000)),
)


class Bar(NamedTuple):
    """A delay: its begin and its width in percent; ``began`` is whether it began before the first time shown."""

    x: str
    width: str
    began_earlier: bool
    title: str


class Mark(NamedTuple):
    """A termination: its place in percent, what it takes, and a link to its reasons."""

    x: str
    title: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One replica: its set, its name, the time of its end in words, its delay and its terminations."""

    set_name: str
    name: str
    link: str
    when: str
    is_due: bool
    bar: Bar | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All rows, the first termination first.

    Attributes:
        ticks: (place in percent, time).
        now: the place of the time of the plan.
        span: from now to the end, in words.
        left_out: the number of rows beyond the limit.
    """

    rows: tuple[TimelineRow, ...]
    ticks: tuple[tuple[str, str], ...]
    now: str
    span: str
    left_out: int


class _Terminations(NamedTuple):
    """The first terminations of a replica, each with its time and what it takes along; ``all`` is their number."""

    first: tuple[tuple[datetime, str], ...]
    all: int


_NO_TERMINATIONS: Final = _Terminations((), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row before it has places: the times of its delay, and its terminations."""

    root: Ref
    replica: Ref
    since: datetime | None
    until: datetime | None
    ends: _Terminations

    @property
    def first(self) -> datetime:
        """The time that it is sorted by."""
        times = [at for at, _ in self.ends.first]
        return min(times if self.until is None else [self.until, *times])


def plan_timeline(
    document: PlanDocument, stories: Sequence[ForecastExplanation], until: datetime | None, anchors: Anchors
) -> Timeline | None:
    """Return the timeline from the time of the plan to ``until``, or to the last event; None where nothing comes."""
    now = document.as_of
    rows = [row for pair in zip(document.forecasts, stories, strict=True) for row in _rows(*pair)]
    if not rows:
        return None
    rows.sort(key=lambda row: (row.first, row.root.sort_key, row.replica.sort_key))
    times = [at for row in rows for at, _ in row.ends.first] + [row.until for row in rows if row.until is not None]
    end = max(until or now, *times, now + timedelta(seconds=1))
    axis = _Axis(now, end, has_past=any(row.since is not None and row.since < now for row in rows))
    shown = tuple(_placed(row, axis, anchors) for row in rows[:MOST_ROWS])
    return Timeline(
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
        """Yield round times after now, at most a few."""
        span = self.end - self.now
        step = next(one for one in _STEPS if span / one <= _MOST_TICKS)
        begin = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        first = begin + -(-(self.now - begin) // step) * step
        for number in range((self.end - first) // step + 1):
            at = first + number * step
            if at - self.now > span * _LEAST_GAP:
                yield self.place(at), self._tick_text(at, step)

    def _tick_text(self, at: datetime, step: timedelta) -> str:
        """Return a time without seconds where it has none; on another day with that day, or the day alone."""
        if step >= _DAY:
            return at.date().isoformat()
        time = at.strftime("%H:%MZ" if at.second == 0 else "%H:%M:%SZ")
        return time if at.date() == self.now.date() else f"{at.strftime('%m-%d')} {time}"


def _rows(forecast: Forecast, story: ForecastExplanation) -> Iterator[_Row]:
    """Yield a row for each replica of a set that is terminated or waits."""
    pending = {
        entry.subject: entry
        for entry in story.entries
        if entry.urgency is ReplicaUrgency.ENDS or (entry.urgency is ReplicaUrgency.WAITS and entry.until is not None)
    }
    planned = _terminations_by_replica(forecast)
    for replica in dict.fromkeys((*pending, *planned)):
        entry = pending.get(replica)
        ends = planned.get(replica, _NO_TERMINATIONS)
        if entry is not None and entry.urgency is ReplicaUrgency.ENDS and not ends.all:
            ends = _Terminations(((forecast.rounds[0].at, ""),), 1)  # its PodCliques are being deleted
        waits = entry if entry is not None and entry.urgency is ReplicaUrgency.WAITS else None
        yield _Row(
            root=forecast.root,
            replica=replica,
            since=None if entry is None else _since(entry, forecast),
            until=None if waits is None else waits.until,
            ends=ends,
        )


def _terminations_by_replica(forecast: Forecast) -> dict[Ref, _Terminations]:
    """Return a replica -> its terminations, with those of the rounds that repeat (PL-024)."""
    found: dict[Ref, _Terminations] = {}
    every = timedelta(0) if forecast.again is None else forecast.again.every
    for round_ in forecast.rounds:
        by_replica: dict[Ref, list[Step]] = {}
        for step in round_.steps:
            for gang in gangs_terminated_by(step):
                by_replica.setdefault(gang.replica, []).append(step)
        count = forecast.round_occurrence_count(round_)
        for replica, steps in by_replica.items():
            takes = deletion_impact_text(total_deletion_impact(steps))
            shown = ((round_.at + number * every, takes) for number in range(min(count, _MOST_MARKS)))
            before = found.get(replica, _NO_TERMINATIONS)
            found[replica] = _Terminations((*before.first, *shown), before.all + count)
    return {
        replica: _Terminations(tuple(sorted(ends.first)[:_MOST_MARKS]), ends.all) for replica, ends in found.items()
    }


def _since(entry: ExplainedReplica, forecast: Forecast) -> datetime | None:
    """Return since when the first of the breaches behind an entry lasts."""
    subjects = {cause.subject for cause in entry.causes}
    whys = (why for one in forecast.findings if one.subject == entry.subject for why in one.because)
    return min((at for why in whys if why.subject in subjects for at in _times_named_since(why)), default=None)


def _times_named_since(why: Reason) -> Iterable[datetime]:
    value = dict(why.facts).get("since")
    found = parse_time(value) if isinstance(value, str) else None
    return () if found is None else (found,)


def _placed(row: _Row, axis: _Axis, anchors: Anchors) -> TimelineRow:
    link = entry_link(anchors, row.replica, row.root)
    first = row.first
    bar = None
    if row.until is not None or row.since is not None:
        end = row.until or first
        since = row.since or axis.now
        start = axis.percent(since)
        width = max(axis.percent(end) - start, 0.4)
        title = f"the delay runs from {clock_time(since, axis.now)} to {clock_time(end, axis.now)}"
        bar = Bar(f"{start:.2f}%", f"{width:.2f}%", since < axis.start, title)
    ends = row.ends.first or ((first, ""),)
    name = object_display_name(row.replica)
    marks = tuple(
        Mark(axis.place(at), f"{name} terminated at {clock_time(at, axis.now)}{takes and f', with {takes}'}", link)
        for at, takes in ends
    )
    more = f", then {row.ends.all - 1:,} more" if row.ends.all > 1 else ""
    is_due = first <= axis.now
    when = f"{clock_time(first, axis.now)} ({relative_time(first, axis.now)}){more}"
    return TimelineRow(
        set_name=f"{row.root.namespace}/{row.root.name}",
        name=name,
        link=link,
        when=f"now{more}" if is_due else when,
        is_due=is_due,
        bar=bar,
        marks=marks,
    )
