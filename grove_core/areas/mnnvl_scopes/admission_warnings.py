"""Admission of what a set says of MNNVL in this mode: what is probably not meant (MS-080 to MS-085)."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from grove_core.areas.mnnvl_scopes.rules import Warn
from grove_core.areas.mnnvl_scopes.sharing_groups import SharingGroup, sharing_groups_of
from grove_core.kernel.admission import Caution
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import MNNVL_ENABLED
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.gpus import GPU, asks_for_gpus
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, GROUPS, AnnotatedElement, annotated_elements
from grove_core.resources.template import CliqueTemplate
from grove_core.resources.violation import Violation

MOST_RESERVED: Final = 256
"""How many pods an API server lets reserve one ResourceClaim."""
NODE_LOCAL: Final = frozenset(
    {
        "gpu.nvidia.com",
        "mig.nvidia.com",
        "vfio.gpu.nvidia.com",
        "compute-domain-daemon.nvidia.com",
        "compute-domain-default-channel.nvidia.com",
    }
)
"""Classes of NVIDIA's driver whose devices each node offers for itself."""


def warnings_to(
    subject: Ref, new: Manifest, configuration: Configuration, classes: Collection[str] | None = None
) -> Iterator[Caution]:
    """Every warning of this mode.

    Args:
        subject: the set.
        new: the set.
        configuration: of the operator.
        classes: names of the DeviceClasses that there are; None where nobody knows them.
    """
    if not configuration.mnnvl.in_mode(MnnvlMode.ANNOTATIONS):
        return
    crowds = tuple(sharing_groups_of(new))
    for warnings in (
        _out_of_reach(new),
        _without_gpus(new),
        _too_many_pods(new, crowds),
        _device_classes(crowds, classes),
    ):
        yield from (found.caution(subject) for found in warnings)


def _out_of_reach(manifest: Manifest) -> Iterator[Violation]:
    """MS-080."""
    if manifest.annotations.get(MNNVL_ENABLED) != "true":
        return
    homes = manifest.spec.template.groups_by_clique
    for index, clique in enumerate(manifest.spec.template.cliques):
        group = homes.get(clique.name)
        if group is None or not asks_for_gpus(clique.spec.pod_spec):
            continue
        if MNNVL_ENABLED not in group.annotations and MNNVL_ENABLED not in clique.annotations:
            facts = {"annotation": MNNVL_ENABLED, "group": group.name}
            yield Violation(f"{CLIQUES}[{index}]", clique.name, Warn.OUT_OF_REACH, facts)


def _without_gpus(manifest: Manifest) -> Iterator[Violation]:
    """MS-081: who says "true" for itself, and of whose cliques none asks for GPUs."""
    template = manifest.spec.template
    by_name = {clique.name: clique for clique in template.cliques}
    members = {group.name: group.clique_names for group in template.pod_clique_scaling_groups}
    for place in annotated_elements(manifest):
        if place.annotations.get(MNNVL_ENABLED) != "true":
            continue
        of_whom = _cliques_of_place(place, manifest, by_name, members)
        if not any(asks_for_gpus(clique.spec.pod_spec) for clique in of_whom):
            whom = {CLIQUES: "the clique", GROUPS: "no clique of the group"}.get(place.level, "no standalone clique")
            facts = {"whom": f"{whom} never" if place.level == CLIQUES else whom, "resource": GPU}
            yield Violation(place.at(MNNVL_ENABLED), "true", Warn.NO_GPUS_IN_SCOPE, facts)


def _cliques_of_place(
    place: AnnotatedElement,
    manifest: Manifest,
    by_name: Mapping[str, CliqueTemplate],
    members: Mapping[str, tuple[str, ...]],
) -> list[CliqueTemplate]:
    """The cliques that an annotation is for."""
    if place.level == CLIQUES:
        return [by_name[place.name]]
    if place.level == GROUPS:
        return [by_name[name] for name in members[place.name] if name in by_name]
    return list(manifest.spec.standalone_cliques)


def _too_many_pods(manifest: Manifest, crowds: tuple[SharingGroup, ...]) -> Iterator[Violation]:
    """MS-082."""
    places = {place.path: place for place in annotated_elements(manifest)}
    for crowd in crowds:
        if crowd.pods > MOST_RESERVED:
            facts: dict[str, Fact] = {"pods": crowd.pods, "most": MOST_RESERVED}
            yield Violation(_opt_in_path(places, crowd), "true", Warn.TOO_MANY_SHARE, facts)


def _device_classes(crowds: tuple[SharingGroup, ...], classes: Collection[str] | None) -> Iterator[Violation]:
    """MS-083 to MS-085."""
    for crowd in crowds:
        (first, _), *others = crowd.classes.items()
        for got, path in others:
            yield Violation(path, got, Warn.CLASSES_DIFFER, {"other": first})
        for got, path in crowd.classes.items():
            if got in NODE_LOCAL and crowd.pods > 1:
                yield Violation(path, got, Warn.NODE_LOCAL, {"pods": crowd.pods})
            if classes is not None and got not in classes:
                yield Violation(path, got, Warn.CLASS_UNKNOWN, {})


def _opt_in_path(places: Mapping[str, AnnotatedElement], crowd: SharingGroup) -> str:
    """Where those who share opt in, or would."""
    own = places[crowd.path]
    speaking = (own, *(places[f"{CLIQUES}[{index}]"] for index in crowd.cliques))
    return next(
        (place.at(MNNVL_ENABLED) for place in speaking if MNNVL_ENABLED in place.annotations), own.at(MNNVL_ENABLED)
    )
