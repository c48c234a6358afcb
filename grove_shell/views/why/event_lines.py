"""Lines of Kubernetes Events in a timeline, many alike ones on one line (AF-012, AF-018)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from grove_shell.reading.kubernetes_events import ListedKubernetesEvent
from grove_shell.views.formatting import clock_time, count_with_noun

_LISTED: Final = 3
"""So many alike Events have a line each (AF-018)."""


def event_lines(
    events: Sequence[ListedKubernetesEvent], base: datetime, *, full: bool
) -> Iterator[tuple[datetime, str]]:
    """Yield the lines of Events with their times.

    Args:
        events: of any objects.
        base: times of its day are shown without a date.
        full: whether to list every Event, else warnings alone, and those of one reason together.
    """
    if full:
        yield from ((event.last, _line_of_one(event, base)) for event in events)
        return
    alike: dict[tuple[str, str, str], list[ListedKubernetesEvent]] = {}
    for event in events:
        if event.is_warning:
            alike.setdefault((event.kind, event.reason, event.component), []).append(event)
    for same in alike.values():
        if len(same) > _LISTED:
            last = max(same, key=lambda event: event.last)
            yield last.last, _line_of_many(same, last, base)
        else:
            yield from ((event.last, _line_of_one(event, base)) for event in same)


def _line_of_one(event: ListedKubernetesEvent, base: datetime) -> str:
    times = f", {event.times:,} times since {clock_time(event.first, base)}" if event.times > 1 else ""
    return f"Event {event.reason} on {event.kind} {event.name} from {event.component}{times}: {event.note}"


def _line_of_many(same: Sequence[ListedKubernetesEvent], last: ListedKubernetesEvent, base: datetime) -> str:
    """Return one line for Events of one reason: their objects, their number, and the text of the last one."""
    objects = len({(event.namespace, event.name) for event in same})
    about = count_with_noun(objects, last.kind) if objects > 1 else f"{last.kind} {last.name}"
    since = clock_time(min(event.first for event in same), base)
    times = f"{sum(event.times for event in same):,} times since {since}"
    where = f", the last on {last.name}" if objects > 1 else ""
    return f"Event {last.reason} on {about} from {last.component}, {times}{where}: {last.note}"
