"""The history entries of one time as lines: entries that differ only in their object share a line (SM-070)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAINS_READY, MIN_AVAILABLE_BREACHED, TOPOLOGY_IN_SYNC
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.naming_rules import pod_count_text
from grove_shell.simulator.recording.simulation_history import (
    BreachWaitHistoryEntry,
    ConditionHistoryEntry,
    EntryContent,
    EntryKind,
    NoteHistoryEntry,
    NoteKind,
    PodChangeKind,
    PodHistoryEntry,
    RefusedApplyHistoryEntry,
    SimulationActor,
    SimulationHistoryEntry,
    UnplacedGangHistoryEntry,
    WriteEffect,
    WriteHistoryEntry,
)
from grove_shell.views.formatting import count_with_noun, join_names_with_commas

_NAMES: Final = 6
_ONLY_VERBOSE: Final = frozenset({PodChangeKind.STARTED, WriteEffect.STATUS, WriteEffect.RELEASED})


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """One line of the timeline, and the lines below it."""

    actor: SimulationActor
    kind: EntryKind
    text: str
    below: tuple[str, ...] = ()


def timeline_lines_of_entries(
    step_entries: Iterable[SimulationHistoryEntry], *, verbose: bool
) -> Iterator[TimelineLine]:
    """Yield the lines of the entries of one time, in the order of their first entries."""
    groups: dict[tuple[object, ...], list[SimulationHistoryEntry]] = {}
    for entry in step_entries:
        if verbose or _is_shown(entry):
            key = (entry.actor, entry.kind, *_shared_by_line(entry.content, verbose=verbose))
            groups.setdefault(key, []).append(entry)
    for group in groups.values():
        first = group[0]
        text = _text_of([entry.content for entry in group], verbose=verbose)
        yield TimelineLine(first.actor, first.kind, text, _lines_below(first.content))


def reason_sentences(because: Iterable[Reason]) -> tuple[str, ...]:
    """Return reasons as sentences."""
    return tuple(why.sentence for why in because)


def joined_reason_sentences(because: Iterable[Reason]) -> str:
    """Return reasons as one text, each sentence once."""
    return "; ".join(dict.fromkeys(reason_sentences(because)))


def condition_text(content: ConditionHistoryEntry) -> str:
    """Return ``Type=Status``."""
    return f"{content.condition.type}={content.condition.status.value}"


def _is_shown(entry: SimulationHistoryEntry) -> bool:
    """Return whether an entry is shown without ``--verbose``; of conditions: breaches, domains and topologies."""
    content = entry.content
    if isinstance(content, ConditionHistoryEntry):
        now, before = content.condition.status, content.before
        has_moved = now is not before and ConditionStatus.TRUE in {now, before}
        type_ = content.condition.type
        return type_ in {DOMAINS_READY, TOPOLOGY_IN_SYNC} or (type_ == MIN_AVAILABLE_BREACHED and has_moved)
    if isinstance(content, WriteHistoryEntry) and content.what is WriteEffect.WITHHELD:
        return content.subject.kind in TOPOLOGY_KINDS
    return entry.kind not in _ONLY_VERBOSE


def _shared_by_line(content: EntryContent, *, verbose: bool) -> tuple[object, ...]:
    """Return what entries of one time, actor and kind have in common where they share a line."""
    match content:
        case PodHistoryEntry():
            alone = content.what in {PodChangeKind.FAILED, PodChangeKind.CRASHED}
            return (content.subject,) if alone else (content.subject.namespace, content.clique, content.why)
        case WriteHistoryEntry():
            return _shared_by_writes(content, verbose=verbose)
        case BreachWaitHistoryEntry():
            return (content.subject,)
        case ConditionHistoryEntry() | RefusedApplyHistoryEntry() | UnplacedGangHistoryEntry() | NoteHistoryEntry():
            return (content,)
        case _:
            assert_never(content)


def _shared_by_writes(content: WriteHistoryEntry, *, verbose: bool) -> tuple[object, ...]:
    because, clique = reason_sentences(content.because), (content.subject.namespace, content.clique)
    match content.what:
        case WriteEffect.CREATED if content.clique:
            return clique
        case WriteEffect.CREATED:
            return (because, content.subject) if verbose else ()
        case WriteEffect.OPENED | WriteEffect.DELETED:
            return (*clique, because)
        case WriteEffect.STATUS | WriteEffect.RELEASED:
            return (because,) if verbose else ()
        case WriteEffect.TERMINATED:
            return because[1:]
        case WriteEffect.CHANGED:
            return (because,)
        case WriteEffect.FAILED:
            return (content.error,)
        case WriteEffect.APPLIED | WriteEffect.WITHHELD:
            return (content.subject,)
        case _:
            assert_never(content.what)


def _text_of(contents: Sequence[EntryContent], *, verbose: bool) -> str:
    first = contents[0]
    name = "" if first.subject is None else f"{first.subject.kind} {first.subject.name}"
    match first:
        case PodHistoryEntry():
            return _pods_text(first, [content for content in contents if isinstance(content, PodHistoryEntry)])
        case WriteHistoryEntry():
            return _writes_text(first, [content.subject for content in contents if content.subject], verbose=verbose)
        case RefusedApplyHistoryEntry():
            return f"{first.kind} {first.name} is refused"
        case ConditionHistoryEntry():
            return f"{name}: {condition_text(first)} ({first.condition.reason}): {first.condition.message}"
        case BreachWaitHistoryEntry():
            replica = "" if first.subject.replica is None else f"replica {first.subject.replica} of "
            return f"{replica}{name} is breached and waits: {joined_reason_sentences(first.because)}"
        case UnplacedGangHistoryEntry():
            return f"{pod_count_text(first.pods)} of {name} not placed: {first.why}"
        case NoteHistoryEntry():
            verb = "scales " if first.what is NoteKind.SCALED else ""
            return f"{verb}{name}: {first.text}" if name else first.text
        case _:
            assert_never(first)


def _pods_text(first: PodHistoryEntry, entries: Sequence[PodHistoryEntry]) -> str:
    pods, why = _pods([entry.subject for entry in entries], first.clique), f": {first.why}" if first.why else ""
    match first.what:
        case PodChangeKind.PLACED:
            nodes = sorted({entry.node for entry in entries})
            return f"{pods} placed on {nodes[0] if len(nodes) == 1 else count_with_noun(len(nodes), 'node')}"
        case PodChangeKind.EVICTED | PodChangeKind.PREEMPTED:
            return f"{first.what.value} {pods}{why}"
        case PodChangeKind.STARTED:
            return f"{pods} started{why}"
        case PodChangeKind.READY:
            return f"{pods} ready{why}"
        case PodChangeKind.UNREADY:
            return f"{pods} not ready{why}"
        case PodChangeKind.FAILED | PodChangeKind.CRASHED:
            return f"{pods} {first.what.value}{why}"
        case PodChangeKind.GONE:
            return f"{pods} gone{why}"
        case _:
            assert_never(first.what)


def _writes_text(first: WriteHistoryEntry, subjects: Sequence[Ref], *, verbose: bool) -> str:
    objects = _objects(subjects, verbose=verbose)
    what = _pods(subjects, first.clique) if first.clique else objects
    reason = f": {joined_reason_sentences(first.because)}" if first.because else ""
    match first.what:
        case WriteEffect.CREATED:
            return f"creates {what}{reason if verbose and not first.clique else ''}"
        case WriteEffect.OPENED:
            return f"opens the {'gate' if len(subjects) == 1 else 'gates'} of {what}{reason}"
        case WriteEffect.CHANGED | WriteEffect.DELETED | WriteEffect.APPLIED:
            return f"{first.what.value} {what}{reason}"
        case WriteEffect.STATUS:
            return f"writes {len(subjects)} status{'es' if len(subjects) > 1 else ''}{reason}"
        case WriteEffect.RELEASED:
            return f"removes finalizers of {objects}"
        case WriteEffect.TERMINATED:
            return f"TERMINATES {join_names_with_commas([ref.name for ref in subjects], None if verbose else _NAMES)}"
        case WriteEffect.FAILED:
            return f"{count_with_noun(len(subjects), 'write')} not done ({objects}): {first.error}"
        case WriteEffect.WITHHELD:
            return f"withholds {subjects[0].kind} {subjects[0].name}{reason}"
        case _:
            assert_never(first.what)


def _lines_below(first: EntryContent) -> tuple[str, ...]:
    if isinstance(first, RefusedApplyHistoryEntry):
        return tuple(map(str, first.objections))
    if isinstance(first, WriteHistoryEntry) and first.what is WriteEffect.TERMINATED:
        return reason_sentences(first.because)
    return ()


def _pods(pods: Sequence[Ref], clique: str) -> str:
    return f"pod {pods[0].name}" if len(pods) == 1 else f"{count_with_noun(len(pods), 'pod')} of {clique}"


def _objects(subjects: Sequence[Ref], *, verbose: bool) -> str:
    """Return ``PodClique a, b`` for objects of one kind, else the number of each kind."""
    kinds = Counter(subject.kind for subject in subjects)
    if len(kinds) == 1 and (verbose or len(subjects) <= _NAMES):
        (kind,) = kinds
        return f"{kind} {join_names_with_commas([subject.name for subject in subjects], None)}"
    return ", ".join(count_with_noun(count, kind) for kind, count in kinds.items())
