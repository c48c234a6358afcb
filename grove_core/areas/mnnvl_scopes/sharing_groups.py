"""Who shares what by a manifest alone: one crowd for all users of a kind, whatever their number."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from grove_core.resources.api_names import MNNVL_DEVICE_CLASS
from grove_core.resources.domain_sharing import SharingScope, member_of
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, GROUPS, METADATA
from grove_core.resources.template import CliqueTemplate, GroupTemplate, most_replicas


class SharingGroup(NamedTuple):
    """Those cliques of a template whose PodCliques share a domain, replica by replica.

    Attributes:
        path: of the set (``metadata``), the clique or the group that they share it as.
        name: of the clique or group; empty for the set.
        group: that they are of; empty for standalone cliques and, of scope ``replica``, for all.
        cliques: indices in the template.
        pods: in one domain, as many as the manifest says.
        most: replicas that the scaling group may come to have; 1 for none.
        highest: stem of the user with the largest index.
        classes: device class -> path of the annotation that names it first, or would; as many as are named.
    """

    scope: SharingScope
    path: str
    name: str
    group: str
    cliques: tuple[int, ...]
    pods: int
    most: int
    highest: str
    classes: Mapping[str, str]


def sharing_groups_of(manifest: Manifest) -> Iterator[SharingGroup]:
    """Every crowd of a set, in the order of the template. Linear in it."""
    template, last = manifest.spec.template, max(manifest.spec.replicas, 1) - 1
    homes = {
        name: (index, group)
        for index, group in enumerate(template.pod_clique_scaling_groups)
        for name in group.clique_names
    }
    found: dict[tuple[SharingScope, str], SharingGroup] = {}
    for index, clique in enumerate(template.cliques):
        place, group = homes.get(clique.name, (-1, None))
        most = most_replicas(group.replicas, group.scale_config) if group is not None else 1
        member = member_of(manifest, clique, group, last, most - 1)
        if member is None:
            continue
        path, name = METADATA, ""
        if member.scope is SharingScope.CLIQUE:
            path, name = f"{CLIQUES}[{index}]", clique.name
        elif member.scope is SharingScope.GROUP_REPLICA and group is not None:
            path, name = f"{GROUPS}[{place}]", group.name
        is_repeated = group is not None and member.scope is SharingScope.REPLICA
        pods = clique.spec.replicas * (group.replicas if group is not None and is_repeated else 1)
        key = (member.scope, path)
        before = found.get(key)
        told = before.classes if before else {}
        said_at = f"{_device_class_path(clique, index, group, place) or path}.annotations[{MNNVL_DEVICE_CLASS}]"
        found[key] = SharingGroup(
            scope=member.scope,
            path=path,
            name=name,
            group=group.name if group is not None and not is_repeated else "",
            cliques=(*(before.cliques if before else ()), index),
            pods=(before.pods if before else 0) + pods,
            most=most,
            highest=member.base_name,
            classes={**told, member.device_class: told.get(member.device_class, said_at)},
        )
    yield from found.values()


def _device_class_path(clique: CliqueTemplate, index: int, group: GroupTemplate | None, place: int) -> str:
    """Path of what names the clique's device class, but for the set; a group is heard before its cliques (MS-011)."""
    if group is not None and MNNVL_DEVICE_CLASS in group.annotations:
        return f"{GROUPS}[{place}]"
    return f"{CLIQUES}[{index}]" if MNNVL_DEVICE_CLASS in clique.annotations else ""
