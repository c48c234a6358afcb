"""Cliques of a manifest that share ComputeDomains: one sharing group for all domains of a kind."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from grove_core.resources.api_names import MNNVL_DEVICE_CLASS
from grove_core.resources.domain_sharing import SharingScope, member_of
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, GROUPS, METADATA
from grove_core.resources.template import CliqueTemplate, GroupTemplate, most_replicas


class SharingGroup(NamedTuple):
    """Cliques of a template whose PodCliques share a domain, in each replica another one.

    Attributes:
        scope: of the sharing.
        path: of the element that shares: the set (``metadata``), a clique or a scaling group.
        name: of the clique or scaling group; empty for the set.
        group: scaling group of the cliques; empty for standalone cliques and for scope ``replica``.
        cliques: indices of the cliques in the template.
        pods: number of pods in one domain.
        max_replicas: the most replicas that the scaling group may have; 1 without a scaling group.
        highest: base name of the domain with the largest index.
        classes: device class -> path of the annotation that names it, or could; more than one if they differ.
    """

    scope: SharingScope
    path: str
    name: str
    group: str
    cliques: tuple[int, ...]
    pods: int
    max_replicas: int
    highest: str
    classes: Mapping[str, str]


def sharing_groups_of(manifest: Manifest) -> Iterator[SharingGroup]:
    """Yield the sharing groups of a set, in the order of the template. Linear in the template."""
    template, last_replica = manifest.spec.template, max(manifest.spec.replicas, 1) - 1
    groups = {
        name: (index, group)
        for index, group in enumerate(template.pod_clique_scaling_groups)
        for name in group.clique_names
    }
    found: dict[tuple[SharingScope, str], SharingGroup] = {}
    for index, clique in enumerate(template.cliques):
        group_index, group = groups.get(clique.name, (-1, None))
        max_replicas = most_replicas(group.replicas, group.scale_config) if group is not None else 1
        member = member_of(manifest, clique, group, last_replica, max_replicas - 1)
        if member is None:
            continue
        path, name = METADATA, ""
        if member.scope is SharingScope.CLIQUE:
            path, name = f"{CLIQUES}[{index}]", clique.name
        elif member.scope is SharingScope.GROUP_REPLICA and group is not None:
            path, name = f"{GROUPS}[{group_index}]", group.name
        is_whole_replica = group is not None and member.scope is SharingScope.REPLICA
        pods = clique.spec.replicas * (group.replicas if group is not None and is_whole_replica else 1)
        key = (member.scope, path)
        earlier = found.get(key)
        classes_before = earlier.classes if earlier else {}
        annotation_path = (
            f"{_device_class_path(clique, index, group, group_index) or path}.annotations[{MNNVL_DEVICE_CLASS}]"
        )
        found[key] = SharingGroup(
            scope=member.scope,
            path=path,
            name=name,
            group=group.name if group is not None and not is_whole_replica else "",
            cliques=(*(earlier.cliques if earlier else ()), index),
            pods=(earlier.pods if earlier else 0) + pods,
            max_replicas=max_replicas,
            highest=member.base_name,
            classes={**classes_before, member.device_class: classes_before.get(member.device_class, annotation_path)},
        )
    yield from found.values()


def _device_class_path(clique: CliqueTemplate, index: int, group: GroupTemplate | None, group_index: int) -> str:
    """Return the path of the element that sets the device class; a group overrides its cliques (MS-010)."""
    if group is not None and MNNVL_DEVICE_CLASS in group.annotations:
        return f"{GROUPS}[{group_index}]"
    return f"{CLIQUES}[{index}]" if MNNVL_DEVICE_CLASS in clique.annotations else ""
