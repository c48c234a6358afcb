"""Admission on one page: a manifest (and what it was before) goes in, a verdict with every objection comes out."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.gang_termination.admit import objections_to
from grove_core.areas.gang_termination.rules import Refuse
from grove_core.kernel.admission import AdmissionVerdict, Admit, Deny, Objection
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.refs import Ref
from grove_core.resources.keys import GROVE
from grove_core.resources.podcliqueset import podcliqueset_of
from grove_core.resources.template import SetSpec

_LOWEST: Final[Mapping[str, object]] = MappingProxyType({})
_HIGHEST: Final[Mapping[str, object]] = MappingProxyType({"replicas": 2**31 - 1, "terminationDelay": "1h"})


def admit(new: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> Decision[AdmissionVerdict]:
    """Judge a PodCliqueSet manifest, as an update where the old one is given; all objections at once.

    Total: a manifest that does not read is refused (GT-103), and what can be read of it is judged all the same. An old
    manifest that does not read has nothing to compare with.
    """
    subject = _subject(new)
    problems = _problems_of(new)
    before = _spec_of(old) if old is not None else None
    objections = [_objection(subject, problem) for problem in problems]
    unreadable = frozenset(problem.path for problem in problems)
    objections.extend(_certain_objections(subject, new, before, unreadable))
    if not objections:
        return Decision(Admit(), (Refuse.ADMITTED.because(subject),))
    ordered = tuple(sorted(objections, key=lambda objection: (objection.path, objection.reason.rule.requirement)))
    return Decision(Deny(ordered), tuple(objection.reason for objection in ordered))


def _certain_objections(
    subject: Ref, new: Mapping[str, Any], before: SetSpec | None, unreadable: frozenset[str]
) -> Iterator[Objection]:
    """The objections that hold whatever the unreadable fields were meant to say, to other fields than these.

    An unreadable count of replicas must not make a sound ``minAvailable`` beside it look too high, nor an unreadable
    delay of the set make an override look as if there were nothing to override.
    """
    found = []
    for stand_ins in (_LOWEST, _HIGHEST) if unreadable else (_LOWEST,):
        spec = _spec_of(_filled(new, unreadable, stand_ins))
        found.append(tuple(objections_to(subject, spec, before)) if spec is not None else ())
    return (objection for objection in found[0] if objection in found[-1] and objection.path not in unreadable)


def _problems_of(raw: Mapping[str, Any]) -> tuple[Problem, ...]:
    try:
        podcliqueset_of(raw)
    except MalformedObject as fault:
        return fault.problems
    return ()


def _spec_of(raw: Mapping[str, Any]) -> SetSpec | None:
    """The spec alone, which is all that rules look at; None where it does not read."""
    try:
        return podcliqueset_of({"metadata": {"name": "any"}, "spec": raw.get("spec")}).spec
    except MalformedObject:
        return None


def _objection(subject: Ref, problem: Problem) -> Objection:
    if problem.path.endswith("terminationDelay"):
        return Objection(problem.path, problem.got, Refuse.DELAY_MALFORMED.because(subject))
    return Objection(problem.path, problem.got, Refuse.MALFORMED.because(subject, expected=problem.expected))


def _filled(raw: Mapping[str, Any], paths: Iterable[str], stand_ins: Mapping[str, object]) -> dict[str, Any]:
    """A copy in which the fields at these paths (``spec.template.cliques[0].spec.replicas``) are replaced or absent."""
    gone = {tuple(path.replace("]", "").replace("[", ".").split(".")) for path in paths}

    def copied(value: Any, place: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(value, Mapping):
            return {
                key: stand_ins.get(key) if inner in gone else copied(item, inner)
                for key, item in value.items()
                for inner in ((*place, str(key)),)
            }
        if isinstance(value, list):
            return [copied(item, (*place, str(index))) for index, item in enumerate(value)]
        return value

    whole: dict[str, Any] = copied(raw, ())
    return whole


def _subject(raw: Mapping[str, Any]) -> Ref:
    meta = raw.get("metadata")
    fields: Mapping[str, Any] = meta if isinstance(meta, Mapping) else {}
    return Ref(GROVE, "PodCliqueSet", str(fields.get("namespace") or "default"), str(fields.get("name") or ""))
