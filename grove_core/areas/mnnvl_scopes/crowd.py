"""Who shares what by a manifest alone: one crowd for all users of a kind, whatever their number."""

from collections.abc import Iterator
from typing import NamedTuple

from grove_core.resources.manifest import Manifest
from grove_core.resources.membership import (
    Membership,
    Scope,
    effective_annotations,
    membership_of,
    seat_for,
)
from grove_core.resources.places import CLIQUES, GROUPS, METADATA
from grove_core.resources.template import CliqueTemplate, GroupTemplate, most_replicas


class Crowd(NamedTuple):
    """Those cliques of a template whose PodCliques share a domain, replica by replica.

    Attributes:
        path: of the set (``metadata``), the clique or the group that they share it as.
        name: of the clique or group; empty for the set.
        cliques: indices in the template.
        pods: in one domain, as many as the manifest says.
        most: replicas that the scaling group may come to have; 1 for none.
        highest: stem of the user with the largest index.
        lowest_after_replica: stem of the first user, without set and replica.
    """

    scope: Scope
    path: str
    name: str
    cliques: tuple[int, ...]
    pods: int
    most: int
    highest: str
    lowest_after_replica: str
    device_class: str


def crowds_of(manifest: Manifest) -> Iterator[Crowd]:
    """Every crowd of a set, in the order of the template. Linear in it."""
    template, last = manifest.spec.template, max(manifest.spec.replicas, 1) - 1
    homes = {
        name: (index, group)
        for index, group in enumerate(template.pod_clique_scaling_groups)
        for name in group.clique_names
    }
    found: dict[tuple[Scope, str], Crowd] = {}
    for index, clique in enumerate(template.cliques):
        place, group = homes.get(clique.name, (-1, None))
        most = most_of(group)
        member = _member(manifest, clique, group, last, most - 1)
        if member is None:
            continue
        path, name = METADATA, ""
        if member.scope is Scope.CLIQUE:
            path, name = f"{CLIQUES}[{index}]", clique.name
        elif member.scope is Scope.GROUP_REPLICA and group is not None:
            path, name = f"{GROUPS}[{place}]", group.name
        times = group.replicas if group is not None and member.scope is Scope.REPLICA else 1
        first = _member(manifest, clique, group, 0, 0)
        key = (member.scope, path)
        before = found.get(key)
        found[key] = Crowd(
            scope=member.scope,
            path=path,
            name=name,
            cliques=(*(before.cliques if before else ()), index),
            pods=(before.pods if before else 0) + clique.spec.replicas * times,
            most=most,
            highest=member.stem,
            lowest_after_replica=(first or member).stem.removeprefix(f"{manifest.name}-0-"),
            device_class=before.device_class if before else member.device_class,
        )
    yield from found.values()


def most_of(group: GroupTemplate | None) -> int:
    """How many replicas of a group there may come to be; 1 where there is no group."""
    if group is None:
        return 1
    return most_replicas(group.replicas, group.scale_config)


def _member(
    manifest: Manifest, clique: CliqueTemplate, group: GroupTemplate | None, replica: int, group_replica: int
) -> Membership | None:
    told = effective_annotations(manifest.annotations, clique, group)
    if group is None:
        return membership_of(seat_for(manifest.name, replica, clique.name), told)
    return membership_of(seat_for(manifest.name, replica, clique.name, group.name, group_replica), told)
