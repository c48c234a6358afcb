"""Admission of PodCliques and PodGangs in MNNVL mode `annotations` (MS).

A PodClique gets the claim to the domain that it shares, and a PodGang its annotation.
"""

from collections.abc import Mapping
from typing import Final, assert_never

from grove_core.areas.mnnvl_scopes.clique_admission import (
    ClaimNameConflict,
    CliqueAdmissionDeferred,
    CliqueAdmissionView,
    CliqueAdmittedToDomain,
    CliqueAdmittedUnchanged,
    judge_clique_admission,
)
from grove_core.areas.mnnvl_scopes.rules import SharedDomainDenial, SharedDomainReason, SharedDomainWarning
from grove_core.areas.mnnvl_scopes.wants import with_adoption_annotation
from grove_core.areas.workload.admission.manifest_defaults import json_patch_between
from grove_core.kernel.admission import AdmissionWarning, AdmitWithChanges, AmendmentVerdict, DenialReason, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, mapping_or_empty, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE, MNNVL_ADOPTED, MNNVL_ENABLED, SCHEDULER, SHARED_CLAIM
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.json_field_reader import JsonFieldReader, short_json
from grove_core.resources.labels import SET
from grove_core.resources.metadata_readers import read_label, read_labels, ref_in_manifest
from grove_core.resources.podclique import podclique_from_json

_ANNOTATION: Final = "metadata.annotations[{}]"


def admit_podclique(raw: Mapping[str, object], around: CliqueAdmissionView) -> Decision[AmendmentVerdict]:
    """Judge a PodClique that is to be created (MS-001 to MS-039).

    Total. An object that cannot be read as a PodClique is left to the API server's validation. Dry runs get the same
    decision, and the caller creates nothing for them (MS-032, MS-090).
    """
    try:
        clique = podclique_from_json(raw)
    except MalformedObject as fault:
        because = SharedDomainReason.NOT_READ.because(
            ref_in_manifest(raw, GROVE, "PodClique"), problem=str(fault.problems[0])
        )
        return Decision(AdmitWithChanges(), (because,))
    entry = judge_clique_admission(clique, around)
    match entry:
        case CliqueAdmissionDeferred():
            because = SharedDomainDenial.ADMISSION_MUST_WAIT.because(clique.ref, why=entry.because.sentence)
            objection = DenialReason(_ANNOTATION.format(MNNVL_ENABLED), short_json("true"), because)
            return Decision(Deny((objection,)), (entry.because, because))
        case ClaimNameConflict():
            taken = SharedDomainDenial.SHARED_CLAIM_RESERVED.because(clique.ref, name=SHARED_CLAIM)
            path = f"spec.podSpec.resourceClaims[{entry.claim_index}].name"
            return Decision(Deny((DenialReason(path, short_json(SHARED_CLAIM), taken),)), (entry.because, taken))
        case CliqueAdmittedToDomain():
            after = {**raw, "spec": {**mapping_or_empty(raw, "spec"), "podSpec": thaw_json(entry.pod_spec)}}
            patch = tuple(map(FrozenMap.view_of, json_patch_between(raw, after)))
            return Decision(AdmitWithChanges(patch, entry.ensures), (entry.because,))
        case CliqueAdmittedUnchanged():
            warnings = _cautions(clique.ref, clique.annotations, entry)
            return Decision(AdmitWithChanges(warnings=warnings), (entry.because,))
        case _:
            assert_never(entry)


def amend_podgang_at_admission(raw: Mapping[str, object], configuration: Configuration) -> Decision[AmendmentVerdict]:
    """Judge a PodGang that is to be created: it is annotated, so that its members' domains get it as owner (MS-044)."""
    gang = ref_in_manifest(raw, SCHEDULER, "PodGang")
    if not configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return Decision(AdmitWithChanges(), (SharedDomainReason.SCOPES_OFF.because(gang),))
    after = thaw_json(with_adoption_annotation(FrozenMap.view_of(raw)))
    patch = tuple(map(FrozenMap.view_of, json_patch_between(raw, after)))
    return Decision(
        AdmitWithChanges(patch), (SharedDomainReason.GANG_ANNOTATED.because(gang, annotation=MNNVL_ADOPTED),)
    )


def podcliqueset_name_in_labels(raw: Mapping[str, object]) -> str:
    """Return the set in a PodClique's labels; empty where there is none."""
    return read_label(read_labels(JsonFieldReader(raw, "", [])), SET)


def _cautions(
    subject: Ref, annotations: Mapping[str, object], entry: CliqueAdmittedUnchanged
) -> tuple[AdmissionWarning, ...]:
    """Return a warning about the annotation of the PodClique that is invalid, if there is one (MS-079)."""
    annotation, trouble = entry.invalid
    if not annotation:
        return ()
    because = SharedDomainWarning.CLIQUE_ANNOTATION_INVALID.because(subject, trouble=trouble)
    return (AdmissionWarning(_ANNOTATION.format(annotation), short_json(annotations.get(annotation)), because),)
