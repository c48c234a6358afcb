"""Reads Kubernetes Events, of ``v1`` and of ``events.k8s.io/v1``, as ``kubectl get events -o json`` prints them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, Final, NamedTuple

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.json_field_reader import short_json
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem, item_display_name, item_problem_as_fault
from grove_shell.reading.input_sources import input_items_in_path

_VERSIONS: Final = frozenset({"v1", "events.k8s.io/v1"})
_TIMES: Final = ("firstTimestamp", "deprecatedFirstTimestamp", "eventTime", "lastTimestamp", "deprecatedLastTimestamp")


class ListedKubernetesEvent(NamedTuple):
    """An Event.

    Attributes:
        first, last: when it was reported for the first and the last time.
        times: how often it was reported.
        component: that reported it.
        is_warning: whether it is of type Warning.
        kind, namespace, name: of the object that it is about.
    """

    first: datetime
    last: datetime
    times: int
    component: str
    is_warning: bool
    reason: str
    note: str
    kind: str
    namespace: str
    name: str


def read_events(paths: Iterable[str], stdin: BinaryIO, faults: list[InputFault]) -> tuple[ListedKubernetesEvent, ...]:
    """Return the Events of files; everything that is wrong with them is appended to the faults."""
    found: list[ListedKubernetesEvent] = []
    for path in paths:
        before = len(faults)
        items = list(input_items_in_path(path, faults, stdin))
        found += _events_among(items, faults)
        if not items and len(faults) == before:
            faults.append(InputFault(file=path, expected="Events", got="an empty list: Kubernetes keeps them for 1 h"))
    return tuple(sorted(set(found)))


def kubernetes_events_from_items(items: Iterable[Mapping[str, Any]]) -> tuple[ListedKubernetesEvent, ...]:
    """Return the Events that a server listed."""
    return tuple(sorted({event for item in items if (event := _event_in(item)) is not None}))


def _events_among(items: Iterable[InputItem], faults: list[InputFault]) -> Iterator[ListedKubernetesEvent]:
    for item in items:
        kind, version = item.value.get("kind"), item.value.get("apiVersion")
        is_event = kind == "Event" and str(version) in _VERSIONS
        is_event = is_event or (kind is None and _is_about_object(item.value))
        event = _event_in(item.value) if is_event else None
        if event is not None:
            yield event
        elif not is_event:
            got = f"{short_json(kind)} of {short_json(version)}"
            faults.append(item_problem_as_fault(item, item_display_name(item), ("", "a Kubernetes Event", got), None))
        else:
            problem = ("eventTime", "a time in one of eventTime, lastTimestamp and firstTimestamp", "none")
            faults.append(item_problem_as_fault(item, item_display_name(item), problem, None))


def _event_in(item: Mapping[str, Any]) -> ListedKubernetesEvent | None:
    """Return an Event; None for one without any time."""
    series, about = (
        mapping_or_empty(item, "series"),
        mapping_or_empty(item, "involvedObject") or mapping_or_empty(item, "regarding"),
    )
    texts = [item.get(field) for field in _TIMES] + [series.get("lastObservedTime")]
    times = [at for text in texts if isinstance(text, str) and (at := parse_time(text)) is not None]
    if not times:
        return None
    counts = (series.get("count"), item.get("count"), item.get("deprecatedCount"))
    source = mapping_or_empty(item, "source") or mapping_or_empty(item, "deprecatedSource")
    names = (item.get("reportingController"), item.get("reportingComponent"), source.get("component"))
    return ListedKubernetesEvent(
        first=min(times),
        last=max(times),
        times=next((count for count in counts if isinstance(count, int) and count > 0), 1),
        component=next((name for name in names if isinstance(name, str) and name), "an unnamed component"),
        is_warning=item.get("type") == "Warning",
        reason=str(item.get("reason") or ""),
        note=str(item.get("note") or item.get("message") or "").strip(),
        kind=str(about.get("kind") or ""),
        namespace=str(about.get("namespace") or ""),
        name=str(about.get("name") or ""),
    )


def _is_about_object(item: Mapping[str, Any]) -> bool:
    """Return whether an item of a list without kinds, as a server returns it, has the fields of an Event."""
    return "reason" in item and ("involvedObject" in item or "regarding" in item)
