"""Admission of the MNNVL annotations of a set (MN-070 to MN-077), and whether an operator may start (MN-061)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.mnnvl.design.judge import cliques_with_gpus, opts_out_of_mnnvl, wants_compute_domains
from grove_core.areas.mnnvl.rules import MnnvlDenial, MnnvlWarning, PreflightFailureReason
from grove_core.kernel.admission import AdmissionWarning, DenialReason
from grove_core.kernel.frozen import FrozenMap, list_at, object_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import DOMAIN_KIND, DOMAIN_TEMPLATE, MNNVL_CLAIM, MNNVL_ENABLED, NVIDIA
from grove_core.resources.configuration import Configuration, MnnvlMode, ServedApis
from grove_core.resources.domain_sharing import CHOICES, MNNVL_ANNOTATIONS
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.pod_spec_gpus import CONTAINER_LISTS, GPU, containers_in, gpu_count_of_pod_spec
from grove_core.resources.podcliqueset_manifest import (
    CLIQUES,
    METADATA,
    BadField,
    PodCliqueSetManifest,
    annotated_manifest_parts,
    annotated_template_elements,
    bad_fields_new_in_update,
    podcliqueset_as_annotated_element,
)
from grove_core.resources.podcliqueset_spec import CliqueTemplate

HOSTNAME: Final = "kubernetes.io/hostname"
_WHOLE_NODE: Final = 4  # GPUs of the smallest node that is part of a multi-node NVLink system
_MIG: Final = "nvidia.com/mig-"


def mnnvl_objections(
    subject: Ref, new: PodCliqueSetManifest, old: PodCliqueSetManifest | None
) -> Iterator[DenialReason]:
    """Yield every objection to the MNNVL annotations of a set; those of the old manifest are ignored."""
    for found in bad_fields_new_in_update(_violations(new), _violations(old) if old is not None else ()):
        yield found.as_objection(subject)
    if old is not None and old.annotations.get(MNNVL_ENABLED) != new.annotations.get(MNNVL_ENABLED):
        before, now = (one.annotations.get(MNNVL_ENABLED) for one in (old, new))
        facts = {"before": short_json(before) if before is not None else "absent"}
        yield BadField(
            podcliqueset_as_annotated_element(new).annotation_path(MNNVL_ENABLED),
            now,
            MnnvlDenial.MNNVL_IMMUTABLE,
            facts,
        ).as_objection(subject)


def mnnvl_warnings(subject: Ref, new: PodCliqueSetManifest, configuration: Configuration) -> Iterator[AdmissionWarning]:
    """Yield warnings on what is probably a mistake under the operator's configuration."""
    for find in (_ignored, _without_gpus, _shared_nodes):
        yield from (one.as_warning(subject) for one in find(new, configuration))


def _violations(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Violations that show in the manifest alone (MN-070, MN-072, MN-073)."""
    choice = manifest.annotations.get(MNNVL_ENABLED)
    if choice is not None and choice not in CHOICES:
        yield BadField(
            podcliqueset_as_annotated_element(manifest).annotation_path(MNNVL_ENABLED),
            choice,
            MnnvlDenial.MNNVL_VALUE_INVALID,
            {},
        )
    for element in annotated_template_elements(manifest):
        if DOMAIN_TEMPLATE in element.annotations:
            got, facts = element.annotations[DOMAIN_TEMPLATE], {"key": DOMAIN_TEMPLATE}
            yield BadField(element.annotation_path(DOMAIN_TEMPLATE), got, MnnvlDenial.ANNOTATION_RESERVED, facts)
    for index, clique in enumerate(manifest.spec.template.cliques):
        for claim_index, claim in enumerate(list_at(clique.spec.pod_spec, "resourceClaims")):
            if isinstance(claim, FrozenMap) and claim.get("name") == MNNVL_CLAIM:
                path = f"{CLIQUES}[{index}].spec.podSpec.resourceClaims[{claim_index}].name"
                yield BadField(path, MNNVL_CLAIM, MnnvlDenial.CLAIM_NAME_RESERVED, {"name": MNNVL_CLAIM})


def _ignored(manifest: PodCliqueSetManifest, configuration: Configuration) -> Iterator[BadField]:
    """Annotations that have no effect in this mode (MN-074)."""
    settings = configuration.mnnvl
    if settings.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return
    why = "the operator makes one ComputeDomain for each replica (mnnvl.mode: operator)"
    for element in annotated_manifest_parts(manifest):
        for key, value in ((key, element.annotations.get(key)) for key in MNNVL_ANNOTATIONS):
            is_read = settings.enabled and element.level == METADATA and key == MNNVL_ENABLED
            if value is not None and not is_read and not (value == "false" and not settings.enabled):
                facts = {"why": why if settings.enabled else "MNNVL is off in the operator's configuration"}
                yield BadField(element.annotation_path(key), value, MnnvlWarning.ANNOTATION_IGNORED, facts)


def _without_gpus(manifest: PodCliqueSetManifest, configuration: Configuration) -> Iterator[BadField]:
    """An opt-in without GPUs, and GPUs that do not count (MN-075, MN-077)."""
    if not configuration.mnnvl.is_enabled_in_mode(MnnvlMode.OPERATOR) or opts_out_of_mnnvl(manifest.annotations):
        return
    cliques = manifest.spec.template.cliques
    if cliques_with_gpus(manifest.spec.template):
        return
    if MNNVL_ENABLED in manifest.annotations:
        path = podcliqueset_as_annotated_element(manifest).annotation_path(MNNVL_ENABLED)
        yield BadField(path, manifest.annotations[MNNVL_ENABLED], MnnvlWarning.NO_GPUS, {"resource": GPU})
    for index, clique in enumerate(cliques):
        for key in CONTAINER_LISTS:
            for position, container in enumerate(containers_in(clique.spec.pod_spec, key)):
                how = _other_gpus(container)
                if how:
                    path = f"{CLIQUES}[{index}].spec.podSpec.{key}[{position}].resources"
                    yield BadField(path, how, MnnvlWarning.OTHER_GPUS, {"how": how, "resource": GPU})


def _other_gpus(container: FrozenMap) -> str:
    resources = object_under_key(container, "resources")
    names = {str(name) for key in ("limits", "requests") for name in object_under_key(resources, key)}
    slices = sorted(name for name in names if name.startswith(_MIG))
    return slices[0] if slices else "a claim" if resources.get("claims") else ""


def _shared_nodes(manifest: PodCliqueSetManifest, configuration: Configuration) -> Iterator[BadField]:
    """Pods that need less than a node and may share it with another pod of their domain (MN-076)."""
    wanted = wants_compute_domains(manifest.annotations, manifest.spec.template)
    if not configuration.mnnvl.is_enabled_in_mode(MnnvlMode.OPERATOR) or not wanted:
        return
    if _pods_of_a_replica(manifest) < 2:  # noqa: PLR2004 - two share
        return
    for index, clique in enumerate(manifest.spec.template.cliques):
        gpus = gpu_count_of_pod_spec(clique.spec.pod_spec)
        if gpus < _WHOLE_NODE and not _keeps_apart(clique):
            path = f"{CLIQUES}[{index}].spec.podSpec.affinity"
            yield BadField(path, f"{gpus} GPUs for each pod", MnnvlWarning.SHARED_NODE, {"topology": HOSTNAME})


def _pods_of_a_replica(manifest: PodCliqueSetManifest) -> int:
    template = manifest.spec.template
    times = {name: group.replicas for name, group in template.groups_by_clique.items()}
    return sum(clique.spec.replicas * times.get(clique.name, 1) for clique in template.cliques)


def _keeps_apart(clique: CliqueTemplate) -> bool:
    found = object_under_key(object_under_key(clique.spec.pod_spec, "affinity"), "podAntiAffinity")
    terms = list_at(found, "requiredDuringSchedulingIgnoredDuringExecution")
    return any(isinstance(term, FrozenMap) and term.get("topologyKey") == HOSTNAME for term in terms)


_DEFINITION: Final = f"computedomains.{NVIDIA.partition('/')[0]}"
_SUBJECT: Final = Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", _DEFINITION)


def mnnvl_preflight_objection(configuration: Configuration, served: ServedApis) -> Reason | None:
    """Return why the operator must not start; None if it may, or if the server's kinds are unknown."""
    if configuration.mnnvl.enabled and served.without_domains:
        return PreflightFailureReason.NO_NVIDIA.because(_SUBJECT, kind=DOMAIN_KIND)
    return None
