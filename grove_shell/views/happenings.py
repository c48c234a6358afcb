"""What happened at one moment, as few lines: equal things are counted, with the reasons that they share."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grove_core.resources.keys import MIN_AVAILABLE_BREACHED
from grove_shell.simulator.history import Actor, Happening, What
from grove_shell.views.words import listed, plural

_NAMES: Final = 6
_ONLY_VERBOSE: Final = frozenset({What.STATUS, What.STARTED, What.HOLDS, What.RELEASED})


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and what stands below it."""

    actor: Actor
    what: What
    text: str
    below: tuple[str, ...] = ()


def lines_of(moment: Iterable[Happening], *, verbose: bool) -> Iterator[Line]:
    """The lines of one moment, in the order in which things began to happen."""
    bunches: dict[tuple[object, ...], list[Happening]] = {}
    for happening in moment:
        if verbose or _is_told(happening):
            bunches.setdefault(_bunch(happening, verbose=verbose), []).append(happening)
    for bunch in bunches.values():
        first = bunch[0]
        text, below = _words(bunch, verbose=verbose)
        yield Line(first.actor, first.what, text, below)


def _is_told(happening: Happening) -> bool:
    """Whether a person wants to know who did not ask for everything: of conditions, breaches that begin and end."""
    if happening.what is What.CONDITION:
        _, _, before = happening.because
        kind, _, now = happening.detail.partition("=")
        return kind == MIN_AVAILABLE_BREACHED and now != before and "True" in {now, before}
    return happening.what not in _ONLY_VERBOSE


def _bunch(happening: Happening, *, verbose: bool) -> tuple[object, ...]:
    """What has to be equal for two happenings to be told as one."""
    key: tuple[object, ...] = (happening.actor, happening.what)
    match happening.what:
        case What.CREATED if not happening.clique:
            return (*key, happening.because if verbose else "objects", happening.subject if verbose else "")
        case What.PLACED | What.READY | What.STARTED | What.GONE | What.CREATED:
            return (*key, happening.clique)
        case What.OPENED:
            return (*key, happening.clique, happening.because)
        case What.STATUS | What.RELEASED:
            return key if not verbose else (*key, happening.because)
        case What.TERMINATED:
            return (*key, happening.because[1:])
        case What.DELETED | What.UNREADY:
            return (*key, happening.clique, happening.because, happening.detail)
        case What.DENIED:
            return (*key, happening.detail)
        case What.CONDITION:
            return (*key, happening.subject)
        case _:
            return (*key, happening.subject, happening.detail)


def _words(bunch: Sequence[Happening], *, verbose: bool) -> tuple[str, tuple[str, ...]]:  # noqa: C901 - one line each
    first = bunch[0]
    subject = f"{first.subject.kind} {first.subject.name}" if first.subject is not None else ""
    reason = f": {'; '.join(dict.fromkeys(first.because))}" if first.because else ""
    match first.what:
        case What.CREATED:
            return _created(bunch, verbose=verbose)
        case What.PLACED:
            nodes = sorted({happening.detail for happening in bunch})
            return f"{_pods(bunch)} placed on {nodes[0] if len(nodes) == 1 else plural(len(nodes), 'node')}", ()
        case What.STARTED:
            return f"{_pods(bunch)} started", ()
        case What.READY:
            return f"{_pods(bunch)} ready", ()
        case What.GONE:
            return f"{_pods(bunch)} gone{f': {first.detail}' if first.actor is Actor.NODES else ''}", ()
        case What.UNREADY:
            return f"{_pods(bunch)} not ready: {first.detail}", ()
        case What.FAILED:
            return f"{_pods(bunch)} ends by itself", ()
        case What.CRASHED:
            return f"{_pods(bunch)} crashes", ()
        case What.UNPLACED:
            return f"{first.detail} pods of {subject} not placed{reason}", ()
        case What.OPENED:
            return f"opens the {'gate' if len(bunch) == 1 else 'gates'} of {_pods(bunch)}{reason}", ()
        case What.TERMINATED:
            names = [happening.subject.name for happening in bunch if happening.subject is not None]
            return f"TERMINATES {listed(names, None if verbose else _NAMES)}", first.because
        case What.DELETED:
            who = _pods(bunch) if first.clique else _objects(bunch, verbose=verbose)
            return f"deletes {who}{reason}{f': {first.detail}' if first.detail else ''}", ()
        case What.STATUS:
            return f"writes {_objects(bunch, verbose=verbose, noun='status', plural_noun='statuses')}", ()
        case What.RELEASED:
            return f"lets go of {_objects(bunch, verbose=verbose)}", ()
        case What.CONDITION:
            rule, message, _ = first.because
            return f"{subject}: {first.detail} ({rule}): {message}", ()
        case What.WAITS:
            return f"{_replica(first)} is breached and waits{reason}", ()
        case What.HOLDS:
            return f"holds back {subject}{reason}", ()
        case What.CHANGED:
            return f"{subject}: {first.detail}" if first.detail else f"changes {subject}{reason}", ()
        case What.DENIED:
            return f"{plural(len(bunch), 'write')} of {_objects(bunch, verbose=verbose)} not done: {first.detail}", ()
        case What.APPLIED:
            return f"applies {subject}", ()
        case What.REFUSED:
            return f"{first.detail} is refused" if first.because else first.detail, first.because
        case What.SCALED:
            return f"scales {subject}: {first.detail}", ()
        case _:
            return first.detail or subject, ()


def _created(bunch: Sequence[Happening], *, verbose: bool) -> tuple[str, tuple[str, ...]]:
    first = bunch[0]
    if first.clique:
        return f"creates {_pods(bunch)}", ()
    if verbose and first.subject is not None:
        return f"creates {first.subject.kind} {first.subject.name}: {'; '.join(first.because)}", ()
    return f"creates {_objects(bunch, verbose=False)}", ()


def _pods(bunch: Sequence[Happening]) -> str:
    first = bunch[0]
    if len(bunch) == 1 and first.subject is not None:
        return f"pod {first.subject.name}"
    return f"{plural(len(bunch), 'pod')} of {first.clique}" if first.clique else plural(len(bunch), "pod")


def _objects(
    bunch: Sequence[Happening], *, verbose: bool, noun: str = "", plural_noun: str = ""
) -> str:
    """``PodClique a, b and 3 more`` of one kind; of several kinds their numbers."""
    subjects = [happening.subject for happening in bunch if happening.subject is not None]
    kinds = Counter(subject.kind for subject in subjects)
    if noun:
        return f"1 {noun}" if len(subjects) == 1 else f"{len(subjects)} {plural_noun}"
    if len(kinds) == 1 and (verbose or len(subjects) <= _NAMES):
        (kind,) = kinds
        return f"{kind} {listed([subject.name for subject in subjects], None)}"
    return ", ".join(plural(count, kind) for kind, count in kinds.items())


def _replica(happening: Happening) -> str:
    ref = happening.subject
    if ref is None:
        return "something"
    return f"{ref.kind} {ref.name}" if ref.replica is None else f"replica {ref.replica} of {ref.kind} {ref.name}"
