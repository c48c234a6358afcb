"""The holes of a record, each with what it leaves open (AF-005)."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time, short_duration_text, truncated_to_seconds
from grove_core.operator_recognition import set_not_predicted_finding
from grove_core.resources.api_names import GROVE, SET_KIND
from grove_shell.reading.audit_log import AuditLogFaults
from grove_shell.reconstruction.dumps import Dump
from grove_shell.reconstruction.record_scan import RebuiltRecord
from grove_shell.reconstruction.recorded_objects import SetKey
from grove_shell.reconstruction.story import RecordGap

_UNWRITTEN = "parts that the record never writes are not known, nor breaches that depend on them"


def holes_of_record(
    record: RebuiltRecord, roots: Sequence[SetKey], flaws: AuditLogFaults | None, dumps: Sequence[Dump]
) -> Iterator[RecordGap]:
    """Yield the holes of a record that the sets in question may depend on.

    Args:
        flaws: of the audit logs; None where there is none.
    """
    if flaws is None:
        given = f": {len(dumps)} dump{'s' * (len(dumps) > 1)}" if dumps else ""
        what = f"no audit log is given{given}"
        yield RecordGap(what, "which client deleted an object, and when exactly")
    else:
        yield from _of_logs(record, roots, flaws, dumps)
    if flaws is None or flaws.first is None:
        for file, namespace, kinds in unlisted_kinds(record, roots):
            what = f"{file} has no {' or '.join(kinds)} of namespace {namespace}, where there were some before"
            yield RecordGap(what, "which of them were gone when it was taken")
    for kind, count in sorted(record.writes_without_content.items()):
        writes = "1 write" if count == 1 else f"{count:,} writes"
        what = f"the log has no content of {writes} to {kind}s (audit level below RequestResponse)"
        yield RecordGap(what, f"what these objects were after them, and every cause that depends on {kind}s")
    for dump in dumps:
        if dump.is_redacted and flaws is not None:
            what = f"{dump.file} has hashes in place of values (grove snapshot without --whole)"
            yield RecordGap(what, "whether pods that the log does not show being created were of an old template")
        if not dump.is_dated:
            at = format_time(truncated_to_seconds(dump.at))
            yield RecordGap(
                f"{dump.file} has no time of its own", f"whether it was taken later than {at}, its newest time"
            )
    shown = record.sets.shown
    for root in roots if shown is not None else ():
        finding = set_not_predicted_finding(shown, Ref(GROVE, SET_KIND, root.namespace, root.name)) if shown else None
        if finding is not None:
            yield RecordGap(
                finding.because[0].sentence, "whether the rules used here are those of the operator that ran"
            )


def holes_outside_record(
    first: datetime | None, last: datetime | None, since: datetime | None, until: datetime | None
) -> Iterator[RecordGap]:
    """Yield the times that are asked for and that the record does not span.

    Args:
        first, last: the times at which the record begins and ends; None where it has no times.
        since, until: the times that are asked for; None for no bound.
    """
    if first is not None and since is not None and since < truncated_to_seconds(first):
        yield RecordGap(f"the record begins at {_shown(first)}, after {format_time(since)}", "what went in between")
    if last is not None and until is not None and until > last:
        yield RecordGap(f"the record ends at {_shown(last)}, before {format_time(until)}", "what went in between")


def unlisted_kinds(record: RebuiltRecord, roots: Sequence[SetKey]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the file of a dump, a namespace and the kinds there that it lacks: only an audit log shows what went."""
    for file, pairs in record.unlisted.items():
        for namespace in sorted({root.namespace for root, _ in pairs if root in roots}):
            yield file, namespace, sorted({kind for root, kind in pairs if root.namespace == namespace})


def _of_logs(
    record: RebuiltRecord, roots: Sequence[SetKey], flaws: AuditLogFaults, dumps: Sequence[Dump]
) -> Iterator[RecordGap]:
    for file in flaws.cut:
        yield RecordGap(f"the last line of {file} is cut short", "what that request was")
    if flaws.first is None:
        yield RecordGap("the audit log has no request", "everything that happened")
        return
    begin = _shown(flaws.first)
    before = [dump for dump in dumps if dump.at <= flaws.first]
    older = [root.name for root in roots if root not in record.objects.created]
    if before:
        gap = flaws.first - before[-1].at
        if older and gap > timedelta(seconds=1):
            what = f"nothing is on record from {_shown(before[-1].at)}, the dump, to {begin}, the first line"
            yield RecordGap(f"{what} ({short_duration_text(_in_seconds(gap))})", "what changed in between")
    elif older:
        names = ", ".join(older)
        yield RecordGap(f"no dump from before {begin}, where the log begins, and {names} existed before", _UNWRITTEN)
    if lacking := sum(record.missing.get(root, 0) for root in roots):
        what = (
            f"the log lacks {'1 request' if lacking == 1 else f'{lacking:,} requests'} that deleted or edited objects"
        )
        yield RecordGap(f"{what}: add rotated logs, and those of all API servers", "what else is not on record")


def _in_seconds(span: timedelta) -> timedelta:
    """Return a span in whole seconds."""
    return timedelta(seconds=int(span.total_seconds()))


def _shown(moment: datetime) -> str:
    return format_time(truncated_to_seconds(moment))
