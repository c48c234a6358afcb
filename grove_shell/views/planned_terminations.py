"""The replicas that a forecast terminates or that wait for their end: delays and terminations with their times."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.termination_findings import findings_with_averted
from grove_core.explain import ExplainedReplica, ForecastExplanation, ReplicaUrgency
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact, Step, gangs_terminated_by, total_deletion_impact
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.forecast import Forecast
from grove_shell.views.formatting import count_with_noun, object_display_name

MOST_TERMINATIONS: Final = 50
"""As many terminations of one replica are listed; more are counted."""
_SENTENCES: Final = 2


class TerminationAt(NamedTuple):
    """One termination: its time, and the pods and GPUs that go; None where they are not known."""

    at: datetime
    impact: DeletionImpact | None


class Terminations(NamedTuple):
    """The first terminations of a replica; ``all`` is the number of all."""

    first: tuple[TerminationAt, ...] = ()
    all: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingReplica:
    """A replica that waits for its end, or that a round terminates.

    Attributes:
        since: when the breach began that its delay counts from; None where that is not known.
        until: when its delay ends; None where it is terminated now or no delay runs.
        cause: the first reasons in sentences; empty where there is none.
    """

    root: Ref
    replica: Ref
    since: datetime | None
    until: datetime | None
    ends: Terminations
    cause: str = ""

    @property
    def first(self) -> datetime:
        """The time of its first termination."""
        times = [end.at for end in self.ends.first]
        return min(times if self.until is None else [self.until, *times])

    @property
    def times(self) -> Iterator[datetime]:
        """The times of its terminations, and the end of its delay."""
        yield from (end.at for end in self.ends.first)
        if self.until is not None:
            yield self.until


def pending_replicas(
    forecasts: Iterable[Forecast], stories: Iterable[ForecastExplanation]
) -> tuple[PendingReplica, ...]:
    """Return the replicas of all sets that are terminated or wait, the first termination first."""
    found = [one for forecast, story in zip(forecasts, stories, strict=True) for one in _of_one_set(forecast, story)]
    found.sort(key=lambda one: (one.first, one.root.sort_key, one.replica.sort_key))
    return tuple(found)


def _of_one_set(forecast: Forecast, story: ForecastExplanation) -> Iterator[PendingReplica]:
    pending = {
        entry.subject: entry
        for entry in story.entries
        if entry.urgency is ReplicaUrgency.ENDS or (entry.urgency is ReplicaUrgency.WAITS and entry.until is not None)
    }
    planned, whys = _terminations_by_replica(forecast)
    for replica in dict.fromkeys((*pending, *planned)):
        entry = pending.get(replica)
        ends = planned.get(replica, Terminations())
        if entry is not None and entry.urgency is ReplicaUrgency.ENDS and not ends.all:
            ends = Terminations((TerminationAt(forecast.rounds[0].at, None),), 1)  # its PodCliques are being deleted
        waits = entry is not None and entry.urgency is ReplicaUrgency.WAITS
        yield PendingReplica(
            root=forecast.root,
            replica=replica,
            since=None if entry is None else _since(entry, forecast),
            until=entry.until if entry is not None and waits else None,
            ends=ends,
            cause=_cause(entry, whys.get(replica, ())),
        )


def _cause(entry: ExplainedReplica | None, whys: Sequence[Reason]) -> str:
    """Return the first cause of an entry with its subject; of a replica without one the first reason of its steps."""
    if entry is None or not entry.causes:
        return next((f"{object_display_name(why.subject)}: {why.sentence}" for why in whys), "")
    first, *others = entry.causes
    sentences = "; ".join(first.sentences[:_SENTENCES])
    named = sentences if first.subject == entry.subject else f"{object_display_name(first.subject)}: {sentences}"
    return f"{named}; and {count_with_noun(len(others), 'more cause')}" if others else named


def _terminations_by_replica(forecast: Forecast) -> tuple[dict[Ref, Terminations], dict[Ref, tuple[Reason, ...]]]:
    """Return a replica -> its terminations, with those of the rounds that repeat (PL-024), and -> the first reasons."""
    found: dict[Ref, Terminations] = {}
    whys: dict[Ref, tuple[Reason, ...]] = {}
    every = timedelta(0) if forecast.again is None else forecast.again.every
    for round_ in forecast.rounds:
        by_replica: dict[Ref, list[Step]] = {}
        for step in round_.steps:
            for gang in gangs_terminated_by(step):
                by_replica.setdefault(gang.replica, []).append(step)
        count = forecast.round_occurrence_count(round_)
        for replica, steps in by_replica.items():
            impact = total_deletion_impact(steps)
            shown = (
                TerminationAt(round_.at + number * every, impact) for number in range(min(count, MOST_TERMINATIONS))
            )
            before = found.get(replica, Terminations())
            found[replica] = Terminations((*before.first, *shown), before.all + count)
            whys.setdefault(replica, steps[0].because)
    limited = {
        replica: Terminations(tuple(sorted(ends.first, key=lambda end: end.at)[:MOST_TERMINATIONS]), ends.all)
        for replica, ends in found.items()
    }
    return limited, whys


def _since(entry: ExplainedReplica, forecast: Forecast) -> datetime | None:
    """Return since when the first of the breaches behind an entry lasts."""
    subjects = {cause.subject for cause in entry.causes}
    findings = findings_with_averted(forecast.findings, forecast.averted)
    whys = (why for one in findings if one.subject == entry.subject for why in one.because)
    return min((at for why in whys if why.subject in subjects for at in _times_named_since(why)), default=None)


def _times_named_since(why: Reason) -> Iterable[datetime]:
    value = dict(why.facts).get("since")
    found = parse_time(value) if isinstance(value, str) else None
    return () if found is None else (found,)
