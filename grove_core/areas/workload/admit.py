"""Admission of a PodCliqueSet, except gang termination (WL-100 to WL-185)."""

from collections.abc import Collection, Iterator

from grove_core.areas.workload.admission.change_validation import change_violations, change_warnings
from grove_core.areas.workload.admission.name_collisions import UsedNames
from grove_core.areas.workload.admission.name_validation import (
    derived_name_violations,
    metadata_violations,
    name_length_violations,
)
from grove_core.areas.workload.admission.resource_sharing_validation import resource_sharing_violations
from grove_core.areas.workload.admission.template_validation import (
    placement_violations,
    pod_spec_violations,
    pod_spec_warnings,
    startup_order_violations,
    startup_order_warnings,
    template_violations,
)
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.refs import Ref
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.podcliqueset_manifest import PodCliqueSetManifest, Violation


def objections_to(subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None) -> Iterator[DenialReason]:
    """Return every objection to a set and, on an update, to the change; all of them, independently of each other."""
    found = (
        metadata_violations(new),
        name_length_violations(new),
        template_violations(new),
        startup_order_violations(new.spec),
        pod_spec_violations(new),
        resource_sharing_violations(new),
        _newly_derived(new, old),
        placement_violations(new) if old is None else change_violations(old, new),
    )
    for faults in found:
        yield from (fault.objection(subject) for fault in faults)


def name_collisions_of(
    subject: Ref,
    new: PodCliqueSetManifest,
    old: PodCliqueSetManifest | None,
    used_names: UsedNames,
    *,
    kinds_not_created: Collection[str] = (),
) -> Iterator[DenialReason]:
    """Return objects that another set would have too (WL-117), except those that it had before the change (WL-116).

    No set has objects of the ``kinds_not_created`` kinds.
    """
    known = {(found.kind, found.other) for found in used_names.collisions(old)} if old is not None else set()
    for found in used_names.collisions(new):
        if found.kind not in kinds_not_created and (found.kind, found.other) not in known:
            facts = {"kind": found.kind, "name": found.name, "other": found.other}
            yield DenialReason(
                "metadata.name", short_json(new.name), WorkloadDenial.SETS_COLLIDE.because(subject, **facts)
            )


def admission_warnings(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None
) -> Iterator[AdmissionWarning]:
    """Return every warning about a set and, on an update, about the change."""
    of_change = change_warnings(old, new) if old is not None else ()
    for found in (pod_spec_warnings(new), startup_order_warnings(new.spec), of_change):
        yield from (fault.caution(subject) for fault in found)


def _newly_derived(new: PodCliqueSetManifest, old: PodCliqueSetManifest | None) -> Iterator[Violation]:
    """Return invalid derived names, except those that were as invalid before: names cannot be changed (WL-116)."""
    before = () if old is None else derived_name_violations(old)
    known = {fault.identity: _excess(fault) for fault in before}
    return (fault for fault in derived_name_violations(new) if _excess(fault) > known.get(fault.identity, -1))


def _excess(fault: Violation) -> int:
    return int(fault.facts.get("excess", 0))
