"""The newest time in an input, by which an old dump is decided at the time it was taken (IN-080)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.time_formats import format_time, parse_time
from grove_core.resources.decoded_pod import DecodedContainerState, DecodedPod
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.input_sources import STDIN_NAME
from grove_shell.reading.pod_batch_decoding import ConsecutivePods

STATUS_TIMES: Final = frozenset(
    {
        "completionTime",
        "finishedAt",
        "lastHeartbeatTime",
        "lastProbeTime",
        "lastScaleTime",
        "lastTransitionTime",
        "lastUpdateTime",
        "observedAt",
        "startTime",
        "startedAt",
        "updateEndedAt",
        "updateStartedAt",
    }
)
"""Fields of a status that report something past, at any depth."""
EVENT_TIMES: Final = ("eventTime", "firstTimestamp", "lastTimestamp")
LEASE_TIMES: Final = ("acquireTime", "renewTime")
_SECONDS: Final = len("2026-11-20T09:00:00")


class NewestInputTime:
    """Collects the newest time of an input.

    Attributes:
        newest: None where no item had a time.
        is_of_files: whether no item with a time came from standard input.
    """

    def __init__(self, count: Callable[[InputItem | ConsecutivePods], None] | None = None) -> None:
        """Collect nothing yet; ``count`` is called too, for a progress bar."""
        self.newest: datetime | None = None
        self.is_of_files = True
        self._newest_seconds = ""
        self._count = count

    def add(self, part: InputItem | ConsecutivePods) -> None:
        """Take the times of one item, or of a run of pods."""
        if self._count is not None:
            self._count(part)
        is_of_stdin = part.file == STDIN_NAME
        above = "" if is_of_stdin else self._newest_seconds
        if isinstance(part, InputItem):
            found = newest_timestamp_in_object(part.value, above)
        else:
            found = _newest_time_in((time for pod in part.pods for time in _past_times_of_pod(pod)), above)
        if found is None:
            return
        if self.newest is None or found > self.newest:
            self.newest, self._newest_seconds = found, format_time(found)[:_SECONDS]
        self.is_of_files = self.is_of_files and not is_of_stdin


def newest_timestamp_in_object(raw: Mapping[str, Any], above: str = "") -> datetime | None:
    """Return the newest time at which an object was created, changed or observed; None without one. Total.

    Times that may lie in the future, such as ``deletionTimestamp`` or the end of a certificate, do not count.

    Args:
        above: the seconds of a time that is known already; earlier times need not be parsed, and do not count.
    """
    return _newest_time_in(_past_times(raw), above)


def _newest_time_in(times: Iterable[object], above: str) -> datetime | None:
    newest, best = above, None
    for text in times:
        if not isinstance(text, str) or (text.endswith("Z") and text < newest):
            continue
        found = parse_time(text)
        if found is not None and (best is None or found > best):
            best, newest = found, text[:_SECONDS]
    return best


def _past_times(raw: Mapping[str, Any]) -> Iterator[object]:
    """Yield the values of all fields of an object that hold a time of the past, valid or not."""
    metadata = mapping_or_empty(raw, "metadata")
    yield metadata.get("creationTimestamp")
    fields = metadata.get("managedFields")
    for entry in fields if isinstance(fields, list) else ():
        yield entry.get("time") if isinstance(entry, Mapping) else None
    if raw.get("kind") == "Event":
        yield from map(raw.get, EVENT_TIMES)
        series = raw.get("series")
        yield series.get("lastObservedTime") if isinstance(series, Mapping) else None
    elif raw.get("kind") == "Lease":
        spec = raw.get("spec")
        yield from map(spec.get, LEASE_TIMES) if isinstance(spec, Mapping) else ()
    yield from _times_of_status(raw.get("status"))


def _past_times_of_pod(pod: DecodedPod) -> Iterator[object]:
    """Yield the same of a pod, given its fields."""
    meta, status = pod.metadata, pod.status
    yield meta.creation_timestamp
    for entry in meta.managed_fields or ():
        yield entry.time
    if status is None:
        return
    yield status.start_time
    for condition in status.conditions or ():
        yield condition.last_transition_time
        yield condition.last_probe_time
    for containers in (status.container_statuses, status.init_container_statuses, status.ephemeral_container_statuses):
        for container in containers or ():
            for state in (container.state, container.last_state):
                if state is not None:
                    yield from _times_of_state(state)


def _times_of_state(state: DecodedContainerState) -> Iterator[object]:
    for phase in (state.running, state.terminated):
        if phase is not None:
            yield phase.started_at
            yield phase.finished_at


def _times_of_status(status: object) -> list[str]:
    """Return the texts of all fields of a status that report something past. Every object of an input passes here."""
    found, todo = list[str](), [status]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if isinstance(inner, str):
                    if key in STATUS_TIMES:
                        found.append(inner)
                elif isinstance(inner, dict | list):
                    todo.append(inner)
        elif isinstance(value, list):
            todo += value
    return found
