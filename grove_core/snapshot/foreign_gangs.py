"""Finds PodGangs of a set whose names follow no scheme of a known release (WL-207)."""

from grove_core.resources.api_names import POD_GANG
from grove_core.resources.names import index_from
from grove_core.snapshot.snapshot import Snapshot


def foreign_gangs_in(snapshot: Snapshot) -> frozenset[str]:
    """Return the names of such PodGangs that a live pod or PodClique of the set refers to by label. Linear.

    Known names are ``{set}-{replica}`` and ``{set}-{replica}-{group}-{number}``.
    """
    unknown = {gang.ref.name for gang in snapshot.gangs if not gang.deleting and not _is_known(snapshot, gang.ref.name)}
    if not unknown:
        return frozenset()
    named = {clique.labels.get(POD_GANG) for clique in snapshot.cliques if not clique.deleting}
    named |= {pod.gang for _, pod in snapshot.pods() if not pod.deleting}
    return frozenset(unknown & named)


def _is_known(snapshot: Snapshot, name: str) -> bool:
    rest = name.removeprefix(f"{snapshot.root.ref.name}-")
    replica, _, scaled = rest.partition("-")
    if rest == name or index_from(replica) is None:
        return False
    group, _, number = scaled.rpartition("-")
    groups = {one.name for one in snapshot.root.spec.template.pod_clique_scaling_groups}
    return not scaled or (group in groups and index_from(number) is not None)
