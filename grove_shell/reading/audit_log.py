"""Reads audit logs of an API server into the writes that concern some objects, one line at a time (AF-003, AF-013).

A log is JSON lines of ``audit.k8s.io/v1`` Events, or of lists of these, plain or compressed with gzip.
"""

import heapq
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader, BytesIO
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Final

from grove_shell.client.nesting_limit import read_json_with_nesting_limit
from grove_shell.reading.audited_write import AuditedWrite, audited_write_in, time_in_audit_event
from grove_shell.reading.gzip_stream import unpacked
from grove_shell.reading.input_faults import NO_SUCH_FILE, InputFault
from grove_shell.reading.input_items import MAX_CHARACTERS
from grove_shell.reading.input_sources import STDIN, input_name, standard_input_bytes
from grove_shell.reading.json_stream_reader import HALF_PAIR_ESCAPE
from grove_shell.reading.utf8_stream import file_error_reason

_READS: Final = re.compile(rb'"verb": ?"(?:get|list|watch)"')
_HEADER: Final = 1500
"""The verb is among the first fields of an event; searching whole bodies for it would cost more than parsing them."""
_MARK: Final = b"audit.k8s.io/"
_HALF_PAIR: Final = re.compile(HALF_PAIR_ESCAPE.pattern.encode())
_COMPLETE: Final = "ResponseComplete"
_EXPECTED: Final = "an audit event of an API server (audit.k8s.io/v1) as one line of JSON"
_MOST_FAULTS: Final = 20
_LONGEST_GOT: Final = 60
_READING: Final = frozenset({"get", "list", "watch"})
_OLD: Final = datetime.min.replace(tzinfo=UTC)


class AuditLogFaults:
    """What is wrong with audit logs.

    Attributes:
        faults: lines that are no audit events, and files that cannot be read.
        cut: files whose last line is cut short.
        first: when the first readable request of all files was answered; None without one.
        last: the same of the last one.
    """

    def __init__(self) -> None:
        self.faults: list[InputFault] = []
        self.cut: list[str] = []
        self.first: datetime | None = None
        self.last: datetime | None = None


def audited_writes(
    paths: tuple[str, ...],
    concerns: Callable[[bytes], bool],
    flaws: AuditLogFaults,
    progress: Callable[[object], None] | None = None,
) -> Iterator[AuditedWrite]:
    """Yield the successful writes of kinds that sets consist of, in the order of their responses.

    Args:
        paths: of logs, in any order, or ``-`` for standard input; a request that two have is returned once (AF-003).
        concerns: whether a line may concern the objects in question; other lines are not parsed.
        flaws: gets everything that is wrong.
        progress: called for every line.
    """
    with ExitStack() as stack:
        streams = [_writes_in(path, concerns, flaws, progress, stack) for path in sorted(set(paths))]
        seen: set[str] = set()
        at = _OLD
        for write in heapq.merge(*streams, key=attrgetter("answered")):
            if write.answered > at:
                seen, at = set(), write.answered
            if not write.audit_id or write.audit_id not in seen:
                seen.add(write.audit_id)
                yield write


def _writes_in(
    path: str,
    concerns: Callable[[bytes], bool],
    flaws: AuditLogFaults,
    progress: Callable[[object], None] | None,
    stack: ExitStack,
) -> Iterator[AuditedWrite]:
    """Yield the writes of one log. Lines of an API server are nearly in order; they are put in order here."""
    name = input_name(path)
    try:
        lines = _opened(path, stack)
        yield from _in_order(_parsed(lines, name, concerns, flaws, progress))
    except OSError as error:
        is_there = not isinstance(error, FileNotFoundError)
        expected, got = ("a file that can be read", file_error_reason(error)) if is_there else ("", NO_SUCH_FILE)
        flaws.faults.append(InputFault(file=name, expected=expected, got=got))


def _opened(path: str, stack: ExitStack) -> BinaryIO:
    """Return the bytes of a log or of standard input, unpacked if need be (IN-026, IN-084). Raises OSError."""
    if path == STDIN:
        stdin = standard_input_bytes()
        return unpacked(stdin if isinstance(stdin, BufferedReader) else BufferedReader(BytesIO(stdin.read())))
    return unpacked(stack.enter_context(Path(path).open("rb")))


_HELD: Final = 2000


def _in_order(writes: Iterator[AuditedWrite]) -> Iterator[AuditedWrite]:
    """Yield writes in the order of their responses, of which a log differs by a few lines only."""
    held: list[tuple[datetime, int, AuditedWrite]] = []
    for number, write in enumerate(writes):
        heapq.heappush(held, (write.answered, number, write))
        if len(held) > _HELD:
            yield heapq.heappop(held)[2]
    while held:
        yield heapq.heappop(held)[2]


def _parsed(
    lines: BinaryIO,
    path: str,
    concerns: Callable[[bytes], bool],
    flaws: AuditLogFaults,
    progress: Callable[[object], None] | None,
) -> Iterator[AuditedWrite]:
    faults, skipped = 0, b""
    for number, line in enumerate(iter(partial(lines.readline, MAX_CHARACTERS), b""), start=1):
        if progress is not None:
            progress(line)
        is_whole = line.endswith(b"\n")
        if line.isspace() or (number > 1 and is_whole and _MARK in line and not _may_concern(line, concerns)):
            skipped = line
            continue
        skipped = b""
        try:
            yield from _writes_of_line(line, flaws)
        except (ValueError, RecursionError) as fault:
            if not is_whole and _is_cut(line, fault):
                flaws.cut.append(path)
                return
            flaws.faults.append(InputFault(file=path, line=number, expected=_EXPECTED, got=_got(line, fault)))
            faults += 1
            if faults == _MOST_FAULTS or not is_whole:
                got = f"lines that are not; nothing behind line {number} was read"
                flaws.faults.append(InputFault(file=path, expected=_EXPECTED, got=got))
                return
    if skipped:
        with suppress(ValueError, RecursionError):
            deque(_writes_of_line(skipped, flaws), maxlen=0)  # for the time at which the log ends


def _may_concern(line: bytes, concerns: Callable[[bytes], bool]) -> bool:
    """Return whether a line has to be parsed."""
    return concerns(line) and not _READS.search(line, 0, _HEADER)


def _is_cut(line: bytes, fault: Exception) -> bool:
    """Return whether a line without an end is the beginning of an audit event."""
    return len(line) < MAX_CHARACTERS and _MARK in line and isinstance(fault, json.JSONDecodeError)


def _got(line: bytes, fault: Exception) -> str:
    if isinstance(fault, json.JSONDecodeError | UnicodeError | RecursionError) or not str(fault):
        text = line.decode("utf-8", "replace").strip()
        return text if len(text) <= _LONGEST_GOT else f"{text[:_LONGEST_GOT]}..."
    return str(fault)


def _writes_of_line(line: bytes, flaws: AuditLogFaults) -> Iterator[AuditedWrite]:
    """Yield the writes of a line. Raises ValueError for a line that is no audit event."""
    found = read_json_with_nesting_limit(line)
    if _HALF_PAIR.search(line):
        json.dumps(found, ensure_ascii=False).encode()  # raises for half a surrogate pair (IN-006)
    if not isinstance(found, dict) or not str(found.get("apiVersion")).encode().startswith(_MARK):
        raise ValueError("JSON of another kind" if isinstance(found, dict) else "")
    for event in found["items"] if isinstance(found.get("items"), list) else (found,):
        if not isinstance(event, dict):
            raise ValueError("a list of something else")  # noqa: TRY004 - one kind of error for a bad line
        if event.get("stage") == _COMPLETE:
            answered = time_in_audit_event(event, "stageTimestamp")
            flaws.first = min(filter(None, (flaws.first, answered)))
            flaws.last = max(filter(None, (flaws.last, answered)))
            if str(event.get("verb")) not in _READING and (write := audited_write_in(event, answered)) is not None:
                yield write
