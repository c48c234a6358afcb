"""Admission on one page: a manifest (and what it was before) goes in, a verdict with every objection comes out."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from grove_core.areas.gang_termination import admit as gang_termination
from grove_core.areas.gang_termination.rules import Refuse
from grove_core.areas.mnnvl import admit as mnnvl
from grove_core.areas.mnnvl.claim_conflicts import warnings_to as company_warnings_to
from grove_core.areas.mnnvl_scopes import admit as mnnvl_scopes
from grove_core.areas.mnnvl_scopes.admission_warnings import warnings_to as scope_warnings_to
from grove_core.areas.topology import admit as topology
from grove_core.areas.topology.admit import NOTHING_KNOWN, TopologyView
from grove_core.areas.workload import admit as workload
from grove_core.areas.workload.admission.defaults import with_defaults
from grove_core.areas.workload.admission.name_collisions import UsedNames, used_names_of
from grove_core.kernel.admission import AdmissionVerdict, Caution, Objection, verdict_of
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlMode
from grove_core.resources.fields import Fields
from grove_core.resources.labels import SET
from grove_core.resources.manifest import Manifest, manifest_of
from grove_core.resources.meta import read_label, read_labels, ref_in
from grove_core.resources.placeholders import with_placeholders
from grove_core.resources.podcliqueset import podcliqueset_of
from grove_core.resources.topology_usage import SET_KIND

_NAMED: Final = frozenset(
    {
        DOMAIN_KIND,
        "HorizontalPodAutoscaler",
        "PodClique",
        "PodCliqueScalingGroup",
        "PodGang",
        "ResourceClaim",
        "Service",
    }
)
_COMPARED_WHOLE: Final = ("cliqueNames", "startsAfter", "resourceSharing", "resourceClaimTemplates")
"""Lists that an update must leave as they are; with one part of them unread nobody knows whether it does."""


def admit(
    new: Mapping[str, Any],
    old: Mapping[str, Any] | None = None,
    used_names: UsedNames | None = None,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    classes: Collection[str] | None = None,
    around: TopologyView = NOTHING_KNOWN,
) -> Decision[AdmissionVerdict]:
    """Judge a PodCliqueSet manifest, as an update where the old one is given; all objections at once.

    With used_names it is also judged by the names that others use (WL-117); the set itself may be among them. What is
    warned of depends on what the operator is told, and on the names of the DeviceClasses where these are known.
    What it says of its topology is judged by what is around it (TP-060).

    Both are judged with their defaults written out (WL-196). Total: a manifest that does not read is refused (GT-103),
    and what can be read of it is judged all the same. An old manifest that does not read has nothing to compare with.
    """
    subject, raw = ref_in(new, GROVE, SET_KIND), with_defaults(new)
    before = manifest_of(with_defaults(old))[0] if old is not None else None
    objections, warnings = _found_in(subject, raw, _Beside(before, used_names, configuration, classes, around))
    return verdict_of(objections, warnings, Refuse.ADMITTED.because(subject))


def used_names_in(objects: Iterable[Mapping[str, Any]]) -> UsedNames:
    """The names that PodCliqueSets among these objects would use, and that other objects of sets have already.

    What does not read uses none: it is reported where it is judged.
    """
    sets: list[Manifest] = []
    held: list[tuple[str, str, str, str]] = []
    for raw in objects:
        if raw.get("kind") == SET_KIND:
            manifest, _ = manifest_of(with_defaults(raw))
            sets += [] if manifest is None else [manifest]
        elif (kind := str(raw.get("kind"))) in _NAMED:
            ref, owner = ref_in(raw, "", kind), read_label(read_labels(Fields(raw, "", [])), SET)
            held += [(ref.namespace, owner, kind, ref.name)] if owner else []
    return used_names_of(sets, held)


class _Beside(NamedTuple):
    """What a manifest is judged by besides itself."""

    before: Manifest | None
    used_names: UsedNames | None
    configuration: Configuration
    classes: Collection[str] | None
    around: TopologyView


def _found_in(subject: Ref, raw: Mapping[str, Any], beside: _Beside) -> tuple[list[Objection], list[Caution]]:
    """What does not read, and what holds for the other fields whatever the unreadable ones were meant to say.

    An unreadable count of replicas must not make a sound ``minAvailable`` beside it look too high, nor an unreadable
    delay of the set make an override look as if there were nothing to override. The lowest reading is always there, as
    what did not read has been replaced.
    """
    faults = _problems_of(raw)
    unread = {problem.path for problem in faults}
    lowest, more = manifest_of(with_placeholders(raw, unread, highest=False))
    highest = manifest_of(with_placeholders(raw, unread, highest=True))[0] if unread else None
    judged = [_judged(subject, reading, beside) for reading in (lowest, highest) if reading is not None]
    objections = frozenset.intersection(*(found for found, _ in judged))
    warnings = frozenset.intersection(*(found for _, found in judged))
    problems = dict.fromkeys((*faults, *more))
    unread |= {problem.path for problem in more}
    above = {part for path in unread for part in _down_to(path)}
    return (
        [
            *(objection for objection in objections if not _is_open(objection.path, unread, above)),
            *(_objection(subject, problem) for problem in problems),
        ],
        [warning for warning in warnings if not _is_open(warning.path, unread, above)],
    )


def _judged(subject: Ref, new: Manifest, beside: _Beside) -> tuple[frozenset[Objection], frozenset[Caution]]:
    """All objections and warnings."""
    before, used_names = beside.before, beside.used_names
    earlier = before.spec if before is not None else None
    unmade = () if beside.configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS) else (DOMAIN_KIND,)  # MS-077
    collisions = () if used_names is None else workload.collisions_of(subject, new, before, used_names, unmade=unmade)
    objections = (
        *gang_termination.objections_to(subject, new.spec, earlier),
        *workload.objections_to(subject, new, before),
        *mnnvl.objections_to(subject, new, before),
        *mnnvl_scopes.objections_to(subject, new, before, beside.configuration),
        *topology.objections_to(subject, new, before, beside.configuration, beside.around),
        *collisions,
    )
    warnings = (
        *workload.warnings_to(subject, new, before),
        *mnnvl.warnings_to(subject, new, beside.configuration),
        *company_warnings_to(subject, new, beside.configuration),
        *scope_warnings_to(subject, new, beside.configuration, beside.classes),
        *topology.warnings_to(subject, new, before, beside.configuration, beside.around),
    )
    return frozenset(objections), frozenset(warnings)


def _problems_of(raw: Mapping[str, Any]) -> tuple[Problem, ...]:
    try:
        podcliqueset_of(raw)
    except MalformedObject as fault:
        return fault.problems
    return ()


def _objection(subject: Ref, problem: Problem) -> Objection:
    if problem.path.endswith("terminationDelay"):
        return Objection(problem.path, problem.got, Refuse.DELAY_MALFORMED.because(subject))
    return Objection(problem.path, problem.got, Refuse.MALFORMED.because(subject, expected=problem.expected))


def _is_open(path: str, unread: set[str], above: set[str]) -> bool:
    """Whether a field is one that does not read, a part of one, or a list that must be known whole.

    Cost: linear in the path.
    """
    return (path in above and path.endswith(_COMPARED_WHOLE)) or not unread.isdisjoint(_down_to(path))


def _down_to(path: str) -> Iterator[str]:
    """A field and everything it is a part of."""
    yield path
    yield from (path[:place] for place, char in enumerate(path) if char in ".[")
