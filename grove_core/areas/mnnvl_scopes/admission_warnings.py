"""Warnings on the MNNVL annotations of a set in mode `annotations` (MS-080 to MS-085)."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from grove_core.areas.mnnvl_scopes.admit import DomainSharingGroup, domain_sharing_groups_of
from grove_core.areas.mnnvl_scopes.rules import SharedDomainWarning
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import MNNVL_ENABLED
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.pod_spec_gpus import GPU, requests_gpus
from grove_core.resources.podcliqueset_manifest import (
    CLIQUES,
    GROUPS,
    AnnotatedManifestPart,
    BadField,
    PodCliqueSetManifest,
    annotated_manifest_parts,
)
from grove_core.resources.podcliqueset_spec import CliqueTemplate

MOST_RESERVED: Final = 256
"""The most pods for which the API server lets one ResourceClaim be reserved."""
NODE_LOCAL: Final = frozenset(
    {
        "gpu.nvidia.com",
        "mig.nvidia.com",
        "vfio.gpu.nvidia.com",
        "compute-domain-daemon.nvidia.com",
        "compute-domain-default-channel.nvidia.com",
    }
)
"""DeviceClasses of NVIDIA's driver whose devices belong to one node each."""


def mnnvl_annotation_warnings(
    subject: Ref, new: PodCliqueSetManifest, configuration: Configuration, classes: Collection[str] | None = None
) -> Iterator[AdmissionWarning]:
    """Yield warnings on what is probably a mistake.

    Args:
        classes: names of the existing DeviceClasses; None if unknown.
    """
    if not configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS):
        return
    groups = tuple(domain_sharing_groups_of(new))
    for warnings in (
        _out_of_reach(new),
        _without_gpus(new),
        _too_many_pods(new, groups),
        _device_classes(groups, classes),
    ):
        yield from (found.as_warning(subject) for found in warnings)


def _out_of_reach(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Cliques with GPUs that the set's opt-in does not reach (MS-080)."""
    if manifest.annotations.get(MNNVL_ENABLED) != "true":
        return
    scaling_groups = manifest.spec.template.groups_by_clique
    for index, clique in enumerate(manifest.spec.template.cliques):
        group = scaling_groups.get(clique.name)
        if group is None or not requests_gpus(clique.spec.pod_spec):
            continue
        if MNNVL_ENABLED not in group.annotations and MNNVL_ENABLED not in clique.annotations:
            facts = {"annotation": MNNVL_ENABLED, "group": group.name}
            yield BadField(f"{CLIQUES}[{index}]", clique.name, SharedDomainWarning.OUT_OF_REACH, facts)


def _without_gpus(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Elements that opt in although none of their cliques asks for GPUs (MS-081)."""
    template = manifest.spec.template
    cliques_by_name = {clique.name: clique for clique in template.cliques}
    members = {group.name: group.clique_names for group in template.pod_clique_scaling_groups}
    for element in annotated_manifest_parts(manifest):
        if element.annotations.get(MNNVL_ENABLED) != "true":
            continue
        cliques = _cliques_of(element, manifest, cliques_by_name, members)
        if not any(requests_gpus(clique.spec.pod_spec) for clique in cliques):
            which = {CLIQUES: "the clique", GROUPS: "no clique of the group"}.get(element.level, "no standalone clique")
            facts = {"whom": f"{which} never" if element.level == CLIQUES else which, "resource": GPU}
            yield BadField(element.annotation_path(MNNVL_ENABLED), "true", SharedDomainWarning.NO_GPUS_IN_SCOPE, facts)


def _cliques_of(
    element: AnnotatedManifestPart,
    manifest: PodCliqueSetManifest,
    cliques_by_name: Mapping[str, CliqueTemplate],
    members: Mapping[str, tuple[str, ...]],
) -> list[CliqueTemplate]:
    if element.level == CLIQUES:
        return [cliques_by_name[element.name]]
    if element.level == GROUPS:
        return [cliques_by_name[name] for name in members[element.name] if name in cliques_by_name]
    return list(manifest.spec.standalone_cliques)


def _too_many_pods(manifest: PodCliqueSetManifest, groups: tuple[DomainSharingGroup, ...]) -> Iterator[BadField]:
    """Claims that more pods share than may reserve one (MS-082)."""
    elements = {element.path: element for element in annotated_manifest_parts(manifest)}
    for sharing_group in groups:
        if sharing_group.pods > MOST_RESERVED:
            facts: dict[str, Fact] = {"pods": sharing_group.pods, "most": MOST_RESERVED}
            yield BadField(_opt_in_path(elements, sharing_group), "true", SharedDomainWarning.TOO_MANY_SHARE, facts)


def _device_classes(groups: tuple[DomainSharingGroup, ...], classes: Collection[str] | None) -> Iterator[BadField]:
    """Device classes that differ, belong to one node, or do not exist (MS-083 to MS-085)."""
    for sharing_group in groups:
        (first, _), *others = sharing_group.classes.items()
        for device_class, path in others:
            yield BadField(path, device_class, SharedDomainWarning.CLASSES_DIFFER, {"other": first})
        for device_class, path in sharing_group.classes.items():
            if device_class in NODE_LOCAL and sharing_group.pods > 1:
                yield BadField(path, device_class, SharedDomainWarning.NODE_LOCAL, {"pods": sharing_group.pods})
            if classes is not None and device_class not in classes:
                yield BadField(path, device_class, SharedDomainWarning.CLASS_UNKNOWN, {})


def _opt_in_path(elements: Mapping[str, AnnotatedManifestPart], sharing_group: DomainSharingGroup) -> str:
    """Return the path of the annotation by which a sharing group opts in, or could."""
    own = elements[sharing_group.path]
    candidates = (own, *(elements[f"{CLIQUES}[{index}]"] for index in sharing_group.cliques))
    return next(
        (element.annotation_path(MNNVL_ENABLED) for element in candidates if MNNVL_ENABLED in element.annotations),
        own.annotation_path(MNNVL_ENABLED),
    )
