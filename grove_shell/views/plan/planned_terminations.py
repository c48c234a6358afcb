"""The replicas that a forecast terminates or that wait for their end: delays and terminations with their times."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.termination_deletions import (
    termination_deletions_by_replica,
    trigger_and_delay,
)
from grove_core.forecast_explanation import EntryUrgency, ExplainedReplica, ForecastExplanation
from grove_core.kernel.reasons import Fact, Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import DeletionImpact, total_deletion_impact
from grove_core.kernel.time_formats import format_time, parse_time
from grove_core.plan.forecast import Forecast
from grove_shell.views.formatting import count_with_noun, object_display_name

MOST_TERMINATIONS: Final = 50
"""As many terminations of one replica are listed; more are counted."""
_SENTENCES: Final = 2


class TerminationAt(NamedTuple):
    """One termination.

    Attributes:
        impact: the pods and GPUs that go; None where they are not known.
        cause: in a sentence; empty where no step is planned.
    """

    at: datetime
    impact: DeletionImpact | None
    cause: str = ""


class ReplicaTerminations(NamedTuple):
    """The first terminations of a replica; ``all`` is the number of all."""

    first: tuple[TerminationAt, ...] = ()
    all: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaPendingTermination:
    """A replica that waits for its end, or that a round terminates.

    Attributes:
        since: when the breach began that its delay counts from; None where that is not known.
        until: when its delay ends; None where it is terminated now or no delay runs.
        cause: of the first termination, or of the delay that runs, in sentences; empty where there is none.
    """

    root: Ref
    replica: Ref
    since: datetime | None
    until: datetime | None
    ends: ReplicaTerminations
    cause: str = ""

    @property
    def first(self) -> datetime:
        """The time of its first termination."""
        times = [end.at for end in self.ends.first]
        return min(times if self.until is None else [self.until, *times])

    def is_caused_as_now(self, end: TerminationAt) -> bool:
        """Return whether a termination has the cause of the replica; one that repeats it has a cause of its own."""
        return end.at == (self.until or self.first)

    @property
    def times(self) -> Iterator[datetime]:
        """The times of its terminations, and the end of its delay."""
        yield from (end.at for end in self.ends.first)
        if self.until is not None:
            yield self.until


def replicas_pending_termination(
    forecasts: Iterable[Forecast], stories: Iterable[ForecastExplanation]
) -> tuple[ReplicaPendingTermination, ...]:
    """Return the replicas of all sets that are terminated or wait, the first termination first."""
    found = [one for forecast, story in zip(forecasts, stories, strict=True) for one in _of_one_set(forecast, story)]
    found.sort(key=lambda one: (one.first, one.root.sort_key, one.replica.sort_key))
    return tuple(found)


def _of_one_set(forecast: Forecast, story: ForecastExplanation) -> Iterator[ReplicaPendingTermination]:
    pending = {
        entry.subject: entry
        for entry in story.entries
        if entry.urgency is EntryUrgency.TERMINATES or (entry.urgency is EntryUrgency.WAITS and entry.until is not None)
    }
    planned = _terminations_by_replica(forecast)
    for replica in dict.fromkeys((*pending, *planned)):
        entry = pending.get(replica)
        ends = planned.get(replica, ReplicaTerminations())
        if entry is not None and entry.urgency is EntryUrgency.TERMINATES and not ends.all:
            ends = ReplicaTerminations(
                (TerminationAt(forecast.rounds[0].at, None),), 1
            )  # its PodCliques are being deleted
        waits = entry is not None and entry.urgency is EntryUrgency.WAITS
        yield ReplicaPendingTermination(
            root=forecast.root,
            replica=replica,
            since=None if entry is None else _since(entry),
            until=entry.until if entry is not None and waits else None,
            ends=ends,
            cause=_cause(entry, ends),
        )


def _cause(entry: ExplainedReplica | None, ends: ReplicaTerminations) -> str:
    """Return the first cause of an entry with its subject; of a replica without one that of its first termination."""
    if entry is None or not entry.causes:
        return ends.first[0].cause if ends.first else ""
    first, *others = entry.causes
    sentences = "; ".join(first.sentences[:_SENTENCES])
    named = sentences if first.subject == entry.subject else f"{object_display_name(first.subject)}: {sentences}"
    return f"{named}; and {count_with_noun(len(others), 'more cause')}" if others else named


def _terminations_by_replica(forecast: Forecast) -> dict[Ref, ReplicaTerminations]:
    """Return a replica -> its terminations, with those of the rounds that repeat (PL-024)."""
    found: dict[Ref, ReplicaTerminations] = {}
    every = timedelta(0) if forecast.again is None else forecast.again.every
    begun = forecast.rounds[0].at
    for round_ in forecast.rounds:
        count = forecast.round_occurrence_count(round_)
        for replica, steps in termination_deletions_by_replica(round_.steps).items():
            impact, (trigger, why) = total_deletion_impact(steps), trigger_and_delay(replica, steps)
            name = object_display_name(trigger)
            shown = (
                TerminationAt(round_.at + later, impact, f"{name}: {_moved(why, later, begun).sentence}")
                for later in (number * every for number in range(min(count, MOST_TERMINATIONS)))
            )
            before = found.get(replica, ReplicaTerminations())
            found[replica] = ReplicaTerminations((*before.first, *shown), before.all + count)
    return {
        replica: ReplicaTerminations(tuple(sorted(ends.first, key=lambda end: end.at)[:MOST_TERMINATIONS]), ends.all)
        for replica, ends in found.items()
    }


def _moved(why: Reason, later: timedelta, begun: datetime) -> Reason:
    """Return the reason of a round that repeats, with its times later; those before the forecast stay (PL-024)."""
    return why._replace(facts=tuple((name, _moved_fact(fact, later, begun)) for name, fact in why.facts))


def _moved_fact(fact: Fact, later: timedelta, begun: datetime) -> Fact:
    moment = parse_time(fact) if isinstance(fact, str) else None
    return fact if moment is None or moment <= begun else format_time(moment + later)


def _since(entry: ExplainedReplica) -> datetime | None:
    """Return since when the first of the breaches behind an entry lasts; the last reason of a cause is its delay."""
    return min((at for cause in entry.causes for at in _times_named_since(cause.because[-1])), default=None)


def _times_named_since(why: Reason) -> Iterable[datetime]:
    value = dict(why.facts).get("since")
    found = parse_time(value) if isinstance(value, str) else None
    return () if found is None else (found,)
