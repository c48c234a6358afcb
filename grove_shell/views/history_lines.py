"""What happened at one moment, as few lines: equal things are counted, with the reasons that they share."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grove_core.resources.api_names import DOMAINS_READY, MIN_AVAILABLE_BREACHED, TOPOLOGY_IN_SYNC
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_shell.simulator.recording.history import Actor, EntryKind, HistoryEntry
from grove_shell.views.formatting import joined_names, plural

_NAMES: Final = 6
_ONLY_VERBOSE: Final = frozenset({EntryKind.STATUS, EntryKind.STARTED, EntryKind.HOLDS, EntryKind.RELEASED})


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and what stands below it."""

    actor: Actor
    what: EntryKind
    text: str
    below: tuple[str, ...] = ()


def lines_of(moment: Iterable[HistoryEntry], *, verbose: bool) -> Iterator[Line]:
    """The lines of one moment, in the order in which things began to happen."""
    bunches: dict[tuple[object, ...], list[HistoryEntry]] = {}
    for happening in moment:
        if verbose or _is_told(happening):
            bunches.setdefault(_bunch(happening, verbose=verbose), []).append(happening)
    for bunch in bunches.values():
        first = bunch[0]
        text, below = _words(bunch, verbose=verbose)
        yield Line(first.actor, first.kind, text, below)


def _is_told(happening: HistoryEntry) -> bool:
    """Whether a person wants to know who did not ask for everything: breaches, domains and topologies."""
    if happening.kind is EntryKind.CONDITION:
        _, _, before = happening.because
        kind, _, now = happening.detail.partition("=")
        if kind in {DOMAINS_READY, TOPOLOGY_IN_SYNC}:
            return True
        return kind == MIN_AVAILABLE_BREACHED and now != before and "True" in {now, before}
    if happening.kind is EntryKind.HOLDS and happening.subject is not None and happening.subject.kind in TOPOLOGY_KINDS:
        return True
    return happening.kind not in _ONLY_VERBOSE


def _home(happening: HistoryEntry) -> tuple[str, str]:
    """Namespace and name of the clique whose pod it is about."""
    return (happening.subject.namespace if happening.subject is not None else "", happening.clique)


def _bunch(happening: HistoryEntry, *, verbose: bool) -> tuple[object, ...]:
    """What has to be equal for two happenings to be told as one."""
    key: tuple[object, ...] = (happening.actor, happening.kind)
    match happening.kind:
        case EntryKind.CREATED if not happening.clique:
            return (*key, happening.because if verbose else "objects", happening.subject if verbose else "")
        case EntryKind.PLACED | EntryKind.READY | EntryKind.STARTED | EntryKind.GONE | EntryKind.CREATED:
            return (*key, *_home(happening))
        case EntryKind.OPENED:
            return (*key, *_home(happening), happening.because)
        case EntryKind.STATUS | EntryKind.RELEASED:
            return key if not verbose else (*key, happening.because)
        case EntryKind.TERMINATED:
            return (*key, happening.because[1:])
        case EntryKind.DELETED | EntryKind.UNREADY:
            return (*key, *_home(happening), happening.because, happening.detail)
        case EntryKind.DENIED:
            return (*key, happening.detail)
        case EntryKind.CONDITION:
            return (*key, happening.subject)
        case EntryKind.CHANGED if not happening.detail:
            return (*key, happening.because)
        case _:
            return (*key, happening.subject, happening.detail)


def _words(bunch: Sequence[HistoryEntry], *, verbose: bool) -> tuple[str, tuple[str, ...]]:
    """The words for a bunch of equal happenings, and the lines below them."""
    first = bunch[0]
    told = _Told(
        bunch=bunch,
        subject=f"{first.subject.kind} {first.subject.name}" if first.subject is not None else "",
        reason=f": {'; '.join(dict.fromkeys(first.because))}" if first.because else "",
        verbose=verbose,
    )
    words = _WORDS.get(first.kind)
    text = words(told) if words is not None else first.detail or told.subject
    return text, first.because if first.kind in _REASONS_BELOW else ()


@dataclass(frozen=True, slots=True)
class _Told:
    """A bunch of equal happenings, and what is said of the first of them.

    Attributes:
        subject: ``Kind name``; empty where there is none.
        reason: with a colon before it; empty where there is none.
    """

    bunch: Sequence[HistoryEntry]
    subject: str
    reason: str
    verbose: bool

    @property
    def first(self) -> HistoryEntry:
        return self.bunch[0]

    @property
    def detail(self) -> str:
        return self.first.detail

    @property
    def pods(self) -> str:
        return _pods(self.bunch)

    @property
    def objects(self) -> str:
        return _objects(self.bunch, verbose=self.verbose)


def _created(told: _Told) -> str:
    if told.first.clique:
        return f"creates {told.pods}"
    return f"creates {told.subject}{told.reason}" if told.verbose else f"creates {told.objects}"


def _placed(told: _Told) -> str:
    nodes = sorted({happening.detail for happening in told.bunch})
    return f"{told.pods} placed on {nodes[0] if len(nodes) == 1 else plural(len(nodes), 'node')}"


def _terminated(told: _Told) -> str:
    names = [happening.subject.name for happening in told.bunch if happening.subject is not None]
    return f"TERMINATES {joined_names(names, None if told.verbose else _NAMES)}"


def _deleted(told: _Told) -> str:
    who = told.pods if told.first.clique else told.objects
    return f"deletes {who}{told.reason}{f': {told.detail}' if told.detail else ''}"


def _gone(told: _Told) -> str:
    return f"{told.pods} gone{f': {told.detail}' if told.first.actor is Actor.NODES else ''}"


def _condition(told: _Told) -> str:
    rule, message, _ = told.first.because
    return f"{told.subject}: {told.detail} ({rule}): {message}"


_WORDS: Final[Mapping[EntryKind, Callable[[_Told], str]]] = {
    EntryKind.CREATED: _created,
    EntryKind.PLACED: _placed,
    EntryKind.STARTED: lambda told: f"{told.pods} started",
    EntryKind.READY: lambda told: f"{told.pods} ready",
    EntryKind.GONE: _gone,
    EntryKind.UNREADY: lambda told: f"{told.pods} not ready: {told.detail}",
    EntryKind.FAILED: lambda told: f"{told.pods} fails",
    EntryKind.CRASHED: lambda told: f"{told.pods} crashes",
    EntryKind.UNPLACED: lambda told: f"{told.detail} pods of {told.subject} not placed{told.reason}",
    EntryKind.OPENED: lambda told: (
        f"opens the {'gate' if len(told.bunch) == 1 else 'gates'} of {told.pods}{told.reason}"
    ),
    EntryKind.TERMINATED: _terminated,
    EntryKind.DELETED: _deleted,
    EntryKind.STATUS: lambda told: f"writes {len(told.bunch)} status{'es' if len(told.bunch) > 1 else ''}{told.reason}",
    EntryKind.RELEASED: lambda told: f"removes finalizers of {told.objects}",
    EntryKind.CONDITION: _condition,
    EntryKind.WAITS: lambda told: f"{_replica(told.first)} is breached and waits{told.reason}",
    EntryKind.HOLDS: lambda told: f"withholds {told.subject}{told.reason}",
    EntryKind.CHANGED: lambda told: (
        f"{told.subject}: {told.detail}" if told.detail else f"changes {told.objects}{told.reason}"
    ),
    EntryKind.DENIED: lambda told: f"{plural(len(told.bunch), 'write')} not done ({told.objects}): {told.detail}",
    EntryKind.APPLIED: lambda told: f"applies {told.subject}",
    EntryKind.REFUSED: lambda told: f"{told.detail} is refused",
    EntryKind.SCALED: lambda told: f"scales {told.subject}: {told.detail}",
}
_REASONS_BELOW: Final = frozenset({EntryKind.TERMINATED, EntryKind.REFUSED})


def _pods(bunch: Sequence[HistoryEntry]) -> str:
    first = bunch[0]
    if len(bunch) == 1 and first.subject is not None:
        return f"pod {first.subject.name}"
    return f"{plural(len(bunch), 'pod')} of {first.clique}" if first.clique else plural(len(bunch), "pod")


def _objects(bunch: Sequence[HistoryEntry], *, verbose: bool) -> str:
    """``PodClique a, b`` of one kind; of several kinds their numbers."""
    subjects = [happening.subject for happening in bunch if happening.subject is not None]
    kinds = Counter(subject.kind for subject in subjects)
    if len(kinds) == 1 and (verbose or len(subjects) <= _NAMES):
        (kind,) = kinds
        return f"{kind} {joined_names([subject.name for subject in subjects], None)}"
    return ", ".join(plural(count, kind) for kind, count in kinds.items())


def _replica(happening: HistoryEntry) -> str:
    ref = happening.subject
    if ref is None:
        return "something"
    return f"{ref.kind} {ref.name}" if ref.replica is None else f"replica {ref.replica} of {ref.kind} {ref.name}"
