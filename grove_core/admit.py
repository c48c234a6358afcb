"""Admission of a PodCliqueSet: returns a verdict with every objection to a manifest, or to a change of it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from grove_core.areas.gang_termination import admit as gang_termination
from grove_core.areas.gang_termination.rules import GangTerminationDenial
from grove_core.areas.topology import admit as topology
from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.areas.workload import admit as workload
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.areas.workload.admission.name_collisions import NamesUsedBySets, names_used_by_sets
from grove_core.kernel.admission import AdmissionVerdict, AdmissionWarning, DenialReason, admission_decision
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN_KIND, GROVE, SET_KIND
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlMode
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import SET
from grove_core.resources.metadata_readers import read_label, read_labels, ref_in_manifest
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.resources.podcliqueset_manifest import PodCliqueSetManifest, read_podcliqueset_manifest
from grove_core.resources.unreadable_value_placeholders import with_value_placeholders
from grove_core.rule_sets.admission import ManifestToAdmit
from grove_core.rule_sets.rule_set import DESIGN, RuleSet

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
"""Lists that an update must not change; with an unreadable item they cannot be compared."""


def admit(
    new: Mapping[str, object],
    old: Mapping[str, object] | None = None,
    used_names: NamesUsedBySets | None = None,
    configuration: Configuration = DEFAULT_CONFIGURATION,
    classes: Collection[str] | None = None,
    around: KnownTopologiesForAdmission = NOTHING_KNOWN,
    rules: RuleSet = DESIGN,
    written: Mapping[str, object] | None = None,
) -> Decision[AdmissionVerdict]:
    """Validate a PodCliqueSet manifest, or an update, and return the verdict with all objections and warnings.

    Manifests are validated with their defaults filled in (WL-157). Total: a manifest that cannot be read is refused
    (GT-103), and its readable parts are validated as well. An old manifest that cannot be read is not compared.

    Args:
        new: the manifest.
        old: the manifest before the update; None for a new set.
        used_names: names of other sets (WL-117), which may include this one; None to skip that check.
        configuration: of the operator; some warnings depend on it.
        classes: names of the DeviceClasses; None where they are not known.
        around: topologies, for the set's topology constraints (TP-060).
        rules: the operator that admits; others by name with :func:`grove_core.rule_sets.rule_set_by_name.rule_set`.
        written: the manifest as the user wrote it, where ``new`` is what an edit makes of it.
    """
    subject, raw = ref_in_manifest(new, GROVE, SET_KIND), manifest_with_defaults_of(new, rules)
    before = read_podcliqueset_manifest(podcliqueset_with_defaults(old))[0] if old is not None else None
    beside = _Beside(new if written is None else written, before, used_names, configuration, classes, around, rules)
    objections, warnings = _found_in(subject, raw, beside)
    return admission_decision(objections, warnings, GangTerminationDenial.ADMITTED.because(subject))


def manifest_with_defaults_of(raw: Mapping[str, object], rules: RuleSet) -> dict[str, Any]:
    """Return a new manifest with every default of an operator: those of all (WL-190), and its own. Total."""
    return podcliqueset_with_defaults(rules.admission.defaults(raw))


def index_names_used_by_sets(objects: Iterable[Mapping[str, object]]) -> NamesUsedBySets:
    """Return the names that PodCliqueSets among these objects would use, and that other objects of sets have.

    A set that cannot be read uses none; it is reported elsewhere.
    """
    sets: list[PodCliqueSetManifest] = []
    held: list[tuple[str, str, str, str]] = []
    for raw in objects:
        if raw.get("kind") == SET_KIND:
            manifest, _ = read_podcliqueset_manifest(podcliqueset_with_defaults(raw))
            sets += [] if manifest is None else [manifest]
        elif (kind := str(raw.get("kind"))) in _NAMED:
            ref, owner = ref_in_manifest(raw, "", kind), read_label(read_labels(JsonFieldReader(raw, "", [])), SET)
            held += [(ref.namespace, owner, kind, ref.name)] if owner else []
    return names_used_by_sets(sets, held)


class _Beside(NamedTuple):
    """The other inputs of a validation; ``written`` is the manifest as the user wrote it."""

    written: Mapping[str, object]
    before: PodCliqueSetManifest | None
    used_names: NamesUsedBySets | None
    configuration: Configuration
    classes: Collection[str] | None
    around: KnownTopologiesForAdmission
    rules: RuleSet


def _found_in(
    subject: Ref, raw: Mapping[str, object], beside: _Beside
) -> tuple[list[DenialReason], list[AdmissionWarning]]:
    """Return the unreadable fields, and the objections and warnings that hold whatever these were meant to be.

    An unreadable number of replicas must not make a valid ``minAvailable`` look too high, nor an unreadable delay make
    an override look wrong. The manifest is therefore validated with the lowest and the highest placeholders.
    """
    faults = _problems_of(raw)
    unread = {problem.path for problem in faults}
    lowest, more = read_podcliqueset_manifest(with_value_placeholders(raw, unread, highest=False))
    highest = read_podcliqueset_manifest(with_value_placeholders(raw, unread, highest=True))[0] if unread else None
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


def _judged(
    subject: Ref, new: PodCliqueSetManifest, beside: _Beside
) -> tuple[frozenset[DenialReason], frozenset[AdmissionWarning]]:
    """Return all objections and warnings of one reading of a manifest."""
    before, used_names = beside.before, beside.used_names
    given = ManifestToAdmit(subject, beside.written, new, before, beside.configuration, beside.classes)
    earlier = before.spec if before is not None else None
    kinds_not_created = (
        () if beside.configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS) else (DOMAIN_KIND,)
    )  # MS-077
    collisions = (
        ()
        if used_names is None
        else workload.new_name_collisions(subject, new, before, used_names, kinds_not_created=kinds_not_created)
    )
    objections = (
        *gang_termination.gang_termination_objections(subject, new.spec, earlier),
        *workload.workload_objections(subject, new, before),
        *beside.rules.admission.objections(given),
        *beside.rules.mnnvl.objections(given),
        *topology.topology_objections(subject, new, before, beside.configuration, beside.around),
        *collisions,
    )
    warnings = (
        *workload.workload_warnings(subject, new, before),
        *beside.rules.admission.warnings(given),
        *beside.rules.mnnvl.warnings(given),
        *topology.topology_warnings(subject, new, before, beside.configuration, beside.around),
    )
    return frozenset(objections), frozenset(warnings)


def _problems_of(raw: Mapping[str, object]) -> tuple[ObjectProblem, ...]:
    try:
        podcliqueset_from_json(raw)
    except MalformedObject as fault:
        return fault.problems
    return ()


def _objection(subject: Ref, problem: ObjectProblem) -> DenialReason:
    if problem.path.endswith("terminationDelay"):
        return DenialReason(problem.path, problem.got, GangTerminationDenial.DELAY_MALFORMED.because(subject))
    because = GangTerminationDenial.MALFORMED.because(subject, expected=problem.expected)
    return DenialReason(problem.path, problem.got, because, problem.kind)


def _is_open(path: str, unread: set[str], above: set[str]) -> bool:
    """Return whether a field is unreadable, part of an unreadable one, or a list with one. Linear in the path."""
    return (path in above and path.endswith(_COMPARED_WHOLE)) or not unread.isdisjoint(_down_to(path))


def _down_to(path: str) -> Iterator[str]:
    """Yield the path of a field, and of everything that contains it."""
    yield path
    yield from (path[:place] for place, char in enumerate(path) if char in ".[")
