"""Failed writes of an operator, as Events about Grove's objects and the statuses of these objects report them."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.kernel.frozen import mapping_or_empty
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.api_names import GROVE
from grove_core.resources.object_metadata import metadata_in

_OF_GO_OPERATOR: Final = re.compile(
    "(PodCliqueScalingGroup|PodCliqueSet|PodClique|PodGang|Pod|ComputeDomain)(?:Replica)?(?:Create|CreateOrUpdate|Delete)"
    "Failed"
)
_OF_GROVE: Final = "RefusedBefore"
_TIMES: Final = ("lastTimestamp", "eventTime", "firstTimestamp", "deprecatedLastTimestamp")
_LONGEST: Final = 400


class FailedWrite(NamedTuple):
    """The last failed write of an operator about one object.

    Attributes:
        about: the set, scaling group or PodClique that reports it.
        uid: of that object; empty where it is not known.
        kind: of the object that was to be written; empty where it is not known.
        message: of the API server, or of the operator.
        times: how often it was reported.
    """

    about: Ref
    uid: str
    kind: str
    message: str
    at: datetime
    times: int = 1


def failed_write_in_event(raw: Mapping[str, object]) -> FailedWrite | None:
    """Return what an Event reports; None where it reports no failed write of an operator of Grove. Total."""
    about = raw.get("involvedObject") or raw.get("regarding")
    message, reason = raw.get("message") or raw.get("note"), str(raw.get("reason"))
    if not isinstance(about, Mapping) or not isinstance(message, str):
        return None
    if str(about.get("apiVersion")).partition("/")[0] != GROVE.partition("/")[0]:
        return None
    found = _OF_GO_OPERATOR.fullmatch(reason)
    if found is None and reason != _OF_GROVE:
        return None
    kind = found[1] if found is not None else message.partition("/")[0]
    ref = Ref(GROVE, str(about.get("kind")), str(about.get("namespace") or "default"), str(about.get("name")))
    series = raw.get("series")
    return _failed_write(ref, about.get("uid"), kind, message, _time_of(raw), _count_of(raw, series))


def failed_writes_in_status(raw: Mapping[str, object]) -> Iterator[FailedWrite]:
    """Yield the errors in the status of an object, ``lastErrors`` of the Go operator. Total."""
    status = raw.get("status")
    errors = status.get("lastErrors") if isinstance(status, Mapping) else None
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, Mapping) and isinstance(message := error.get("description"), str):
            meta = metadata_in(raw)
            ref = Ref(GROVE, str(raw.get("kind")), *meta.namespace_and_name)
            found = _failed_write(ref, meta.uid, "", message, parse_time(str(error.get("observedAt"))), 1)
            if found is not None:
                yield found


def _failed_write(
    about: Ref, uid: object, kind: str, message: str, at: datetime | None, count: int
) -> FailedWrite | None:
    if at is None:
        return None
    text = " ".join(message.split())
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return FailedWrite(about, uid if isinstance(uid, str) else "", kind, cut, at, count)


def _time_of(raw: Mapping[str, object]) -> datetime | None:
    texts = [raw.get(name) for name in _TIMES]
    texts.append(mapping_or_empty(raw, "series").get("lastObservedTime"))
    texts.append(mapping_or_empty(raw, "metadata").get("creationTimestamp"))
    return max(filter(None, (parse_time(text) for text in texts if isinstance(text, str))), default=None)


def _count_of(raw: Mapping[str, object], series: object) -> int:
    counts = [
        raw.get("count"),
        raw.get("deprecatedCount"),
        series.get("count") if isinstance(series, Mapping) else None,
    ]
    return max((one for one in counts if type(one) is int), default=1)
