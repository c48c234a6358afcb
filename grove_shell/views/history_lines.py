"""The history entries of one time as lines: entries that differ only in their object share a line (SM-070)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grove_core.resources.api_names import DOMAINS_READY, MIN_AVAILABLE_BREACHED, TOPOLOGY_IN_SYNC
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_shell.simulator.recording.run_history import HistoryActor, HistoryEntry, HistoryEntryKind
from grove_shell.views.formatting import comma_separated_names, plural

_NAMES: Final = 6
_ONLY_VERBOSE: Final = frozenset(
    {HistoryEntryKind.STATUS, HistoryEntryKind.STARTED, HistoryEntryKind.HOLDS, HistoryEntryKind.RELEASED}
)


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """One line of the timeline, and the lines below it."""

    actor: HistoryActor
    what: HistoryEntryKind
    text: str
    below: tuple[str, ...] = ()


def timeline_lines(step_entries: Iterable[HistoryEntry], *, verbose: bool) -> Iterator[TimelineLine]:
    """Yield the lines of the entries of one time, in the order of their first entries."""
    groups: dict[tuple[object, ...], list[HistoryEntry]] = {}
    for entry in step_entries:
        if verbose or _is_shown(entry):
            groups.setdefault(_group_key(entry, verbose=verbose), []).append(entry)
    for group in groups.values():
        first = group[0]
        text, below = _text_of(group, verbose=verbose)
        yield TimelineLine(first.actor, first.kind, text, below)


def _is_shown(entry: HistoryEntry) -> bool:
    """Return whether an entry is shown without ``--verbose``; of conditions: breaches, domains and topologies."""
    if entry.kind is HistoryEntryKind.CONDITION:
        _, _, before = entry.because
        kind, _, now = entry.detail.partition("=")
        if kind in {DOMAINS_READY, TOPOLOGY_IN_SYNC}:
            return True
        return kind == MIN_AVAILABLE_BREACHED and now != before and "True" in {now, before}
    if entry.kind is HistoryEntryKind.HOLDS and entry.subject is not None and entry.subject.kind in TOPOLOGY_KINDS:
        return True
    return entry.kind not in _ONLY_VERBOSE


def _clique_of(entry: HistoryEntry) -> tuple[str, str]:
    return (entry.subject.namespace if entry.subject is not None else "", entry.clique)


def _group_key(entry: HistoryEntry, *, verbose: bool) -> tuple[object, ...]:
    key: tuple[object, ...] = (entry.actor, entry.kind)
    match entry.kind:
        case HistoryEntryKind.CREATED if not entry.clique:
            return (*key, entry.because if verbose else "objects", entry.subject if verbose else "")
        case (
            HistoryEntryKind.PLACED
            | HistoryEntryKind.READY
            | HistoryEntryKind.STARTED
            | HistoryEntryKind.GONE
            | HistoryEntryKind.CREATED
        ):
            return (*key, *_clique_of(entry))
        case HistoryEntryKind.OPENED:
            return (*key, *_clique_of(entry), entry.because)
        case HistoryEntryKind.STATUS | HistoryEntryKind.RELEASED:
            return key if not verbose else (*key, entry.because)
        case HistoryEntryKind.TERMINATED:
            return (*key, entry.because[1:])
        case HistoryEntryKind.DELETED | HistoryEntryKind.UNREADY:
            return (*key, *_clique_of(entry), entry.because, entry.detail)
        case HistoryEntryKind.DENIED:
            return (*key, entry.detail)
        case HistoryEntryKind.CONDITION:
            return (*key, entry.subject)
        case HistoryEntryKind.CHANGED if not entry.detail:
            return (*key, entry.because)
        case _:
            return (*key, entry.subject, entry.detail)


def _text_of(entries: Sequence[HistoryEntry], *, verbose: bool) -> tuple[str, tuple[str, ...]]:
    first = entries[0]
    group = _EntryGroup(
        entries=entries,
        subject=f"{first.subject.kind} {first.subject.name}" if first.subject is not None else "",
        reason=f": {'; '.join(dict.fromkeys(first.because))}" if first.because else "",
        verbose=verbose,
    )
    text = _TEXTS[first.kind](group) if first.kind in _TEXTS else first.detail or group.subject
    return text, first.because if first.kind in _REASONS_BELOW else ()


@dataclass(frozen=True, slots=True)
class _EntryGroup:
    """The entries of one line, and texts of the first of them.

    Attributes:
        subject: ``Kind name``; empty without an object.
        reason: the reasons, after a colon; empty without reasons.
    """

    entries: Sequence[HistoryEntry]
    subject: str
    reason: str
    verbose: bool

    @property
    def first(self) -> HistoryEntry:
        return self.entries[0]

    @property
    def detail(self) -> str:
        return self.first.detail

    @property
    def pods(self) -> str:
        return _pods(self.entries)

    @property
    def objects(self) -> str:
        return _objects(self.entries, verbose=self.verbose)


def _created(group: _EntryGroup) -> str:
    if group.first.clique:
        return f"creates {group.pods}"
    return f"creates {group.subject}{group.reason}" if group.verbose else f"creates {group.objects}"


def _placed(group: _EntryGroup) -> str:
    nodes = sorted({entry.detail for entry in group.entries})
    return f"{group.pods} placed on {nodes[0] if len(nodes) == 1 else plural(len(nodes), 'node')}"


def _terminated(group: _EntryGroup) -> str:
    names = [entry.subject.name for entry in group.entries if entry.subject is not None]
    return f"TERMINATES {comma_separated_names(names, None if group.verbose else _NAMES)}"


def _deleted(group: _EntryGroup) -> str:
    what = group.pods if group.first.clique else group.objects
    return f"deletes {what}{group.reason}{f': {group.detail}' if group.detail else ''}"


def _gone(group: _EntryGroup) -> str:
    return f"{group.pods} gone{f': {group.detail}' if group.first.actor is HistoryActor.NODES else ''}"


def _condition(group: _EntryGroup) -> str:
    rule, message, _ = group.first.because
    return f"{group.subject}: {group.detail} ({rule}): {message}"


_TEXTS: Final[Mapping[HistoryEntryKind, Callable[[_EntryGroup], str]]] = {
    HistoryEntryKind.CREATED: _created,
    HistoryEntryKind.PLACED: _placed,
    HistoryEntryKind.STARTED: lambda group: f"{group.pods} started",
    HistoryEntryKind.READY: lambda group: f"{group.pods} ready",
    HistoryEntryKind.GONE: _gone,
    HistoryEntryKind.UNREADY: lambda group: f"{group.pods} not ready: {group.detail}",
    HistoryEntryKind.FAILED: lambda group: f"{group.pods} fails",
    HistoryEntryKind.CRASHED: lambda group: f"{group.pods} crashes",
    HistoryEntryKind.UNPLACED: lambda group: f"{group.detail} pods of {group.subject} not placed{group.reason}",
    HistoryEntryKind.OPENED: lambda group: (
        f"opens the {'gate' if len(group.entries) == 1 else 'gates'} of {group.pods}{group.reason}"
    ),
    HistoryEntryKind.TERMINATED: _terminated,
    HistoryEntryKind.DELETED: _deleted,
    HistoryEntryKind.STATUS: lambda group: (
        f"writes {len(group.entries)} status{'es' if len(group.entries) > 1 else ''}{group.reason}"
    ),
    HistoryEntryKind.RELEASED: lambda group: f"removes finalizers of {group.objects}",
    HistoryEntryKind.CONDITION: _condition,
    HistoryEntryKind.WAITS: lambda group: f"{_replica(group.first)} is breached and waits{group.reason}",
    HistoryEntryKind.HOLDS: lambda group: f"withholds {group.subject}{group.reason}",
    HistoryEntryKind.CHANGED: lambda group: (
        f"{group.subject}: {group.detail}" if group.detail else f"changes {group.objects}{group.reason}"
    ),
    HistoryEntryKind.DENIED: lambda group: (
        f"{plural(len(group.entries), 'write')} not done ({group.objects}): {group.detail}"
    ),
    HistoryEntryKind.APPLIED: lambda group: f"applies {group.subject}",
    HistoryEntryKind.REFUSED: lambda group: f"{group.detail} is refused",
    HistoryEntryKind.SCALED: lambda group: f"scales {group.subject}: {group.detail}",
}
_REASONS_BELOW: Final = frozenset({HistoryEntryKind.TERMINATED, HistoryEntryKind.REFUSED})


def _pods(entries: Sequence[HistoryEntry]) -> str:
    first = entries[0]
    if len(entries) == 1 and first.subject is not None:
        return f"pod {first.subject.name}"
    return f"{plural(len(entries), 'pod')} of {first.clique}" if first.clique else plural(len(entries), "pod")


def _objects(entries: Sequence[HistoryEntry], *, verbose: bool) -> str:
    """Return ``PodClique a, b`` for objects of one kind, else the number of each kind."""
    subjects = [entry.subject for entry in entries if entry.subject is not None]
    kinds = Counter(subject.kind for subject in subjects)
    if len(kinds) == 1 and (verbose or len(subjects) <= _NAMES):
        (kind,) = kinds
        return f"{kind} {comma_separated_names([subject.name for subject in subjects], None)}"
    return ", ".join(plural(count, kind) for kind, count in kinds.items())


def _replica(entry: HistoryEntry) -> str:
    ref = entry.subject
    if ref is None:
        return "something"
    return f"{ref.kind} {ref.name}" if ref.replica is None else f"replica {ref.replica} of {ref.kind} {ref.name}"
